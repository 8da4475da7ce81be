import type { Timeline } from "../data";
import { el } from "../dom";
import { permille, plain, rate } from "../format";
import { legend_of } from "../parts/bar";
import { register } from "../redraw";
import { state_means, state_words, step_states } from "../states";
import { gutter, type Mark } from "../timeline/marks";
import type { TimeCursor, TimeRange } from "../timeline/range";
import type { Steps } from "../timeline/steps";
import { layout_of, paint_heat, type Layout, type Row } from "./paint";
import { mark_frames } from "./frames";
import { heat_keys, heat_pointer } from "./input";

/** A cell in words; a state that was not read is said to be so. */
export function cell_words(row: Row, steps: Steps, step: number): string {
  const known = step_states.filter((state) => (row.vcpu[state]?.[step] ?? null) !== null);
  const words = known.map((state) => `${state_words(state)} ${permille(row.vcpu[state]?.[step])}`);
  const sum = known.reduce((total, state) => total + (row.vcpu[state]?.[step] ?? 0), 0);
  if (sum < 980) words.push(known.length === 0 ? "not read" : `not read ${permille(1000 - sum)}`);
  const exits = row.vcpu.exits_per_second?.[step];
  if (exits !== null && exits !== undefined) words.push(`exits ${rate(exits)}`);
  return `${plain(row.node.name)} vCPU ${row.vcpu.index}, ${steps.words(step)}: ${words.join(", ")}`;
}

/** The map's parts that input and painting share. */
export interface HeatMap {
  canvas: HTMLCanvasElement;
  frame: HTMLElement; // a frame around the cell that is told of
  readout: HTMLElement;
  live: HTMLElement; // the same for a screen reader, by keys alone
  selection: HTMLElement;
  layout: Layout;
  steps: Steps;
  range: TimeRange;
  cursor: TimeCursor;
  width: () => number; // of the plot, in CSS pixels
}

export function x_of(map: HeatMap, moment: number): number {
  const { from, to } = map.range.shown;
  return gutter.left + ((moment - from) / (to - from)) * map.width();
}

export function moment_at(map: HeatMap, x: number): number {
  const { from, to } = map.range.shown;
  return from + ((x - gutter.left) / map.width()) * (to - from);
}

/** Frames a cell and says what it holds. */
export function tell(map: HeatMap, row: Row | null, step: number | null, aloud: boolean): void {
  map.frame.hidden = row === null || step === null;
  if (row === null || step === null) {
    map.readout.textContent = idle_words;
    return;
  }
  const words = cell_words(row, map.steps, step);
  map.readout.textContent = words;
  if (aloud) map.live.textContent = words;
  const left = Math.max(gutter.left, x_of(map, map.steps.from(step)));
  const right = Math.min(gutter.left + map.width(), x_of(map, map.steps.to(step)));
  map.frame.style.left = `${left}px`;
  map.frame.style.top = `${row.top}px`;
  map.frame.style.width = `${Math.max(right - left, 3)}px`;
  map.frame.style.height = `${map.layout.row}px`;
}

const idle_words = "Point at a cell, or focus the map and use the arrow keys.";

function legend(timeline: Timeline): HTMLElement {
  const used = step_states.filter((state) => timeline.nodes.some((node) => node.vcpus.some((vcpu) => vcpu[state])));
  const entries = used.map((state): [string, string, string] => [state, state_words(state), state_means[state] ?? ""]);
  entries.push(["not_read", "not read", ""]);
  if (timeline.gaps.length > 0)
    entries.push(["gap", "ticks missing", "means of a longer time; its shape is not known"]);
  return legend_of(entries);
}

function canvas_of(layout: Layout): HTMLCanvasElement {
  return el("canvas", {
    class: "heat-canvas",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "heat map",
    "aria-label": `Heat map, ${layout.rows.length} vCPUs by time. Arrow keys go from cell to cell.`,
  });
}

/** Paints the map anew when its range or width changes, and draws the line of the shared cursor. */
function follow(map: HeatMap, stage: HTMLElement, place_marks: () => void): void {
  const { steps, range, cursor } = map;
  const line = el("div", { class: "heat-line", hidden: true });
  stage.append(line, map.selection, map.frame);
  const paint = (forced: number | undefined): void => {
    paint_heat(map.canvas, map.layout, steps, range.shown, forced ?? Math.max(280, stage.clientWidth));
    place_marks();
  };
  const move_line = (): void => {
    const { at } = cursor;
    line.hidden = at === null || at < range.shown.from || at > range.shown.to;
    if (at !== null) line.style.left = `${x_of(map, at)}px`;
  };
  range.listen(() => {
    paint(undefined);
    tell(map, null, null, false);
    move_line();
  });
  cursor.listen(move_line);
  register({ paint });
}

/** Every vCPU by time: each column of a row is filled from below by the shares of its states. */
export function heat_map(
  timeline: Timeline,
  steps: Steps,
  marks: Mark[],
  range: TimeRange,
  cursor: TimeCursor,
): HTMLElement | null {
  const layout = layout_of(timeline.nodes.filter((node) => node.vcpus.length > 0));
  if (layout.rows.length === 0) return null;
  const canvas = canvas_of(layout);
  const stage = el("div", { class: "heat-stage" }, canvas);
  const map: HeatMap = {
    canvas,
    layout,
    steps,
    range,
    cursor,
    frame: el("div", { class: "heat-frame", hidden: true }),
    readout: el("p", { class: "readout" }, idle_words),
    live: el("p", { class: "hidden", role: "status", "aria-live": "polite" }),
    selection: el("div", { class: "heat-selection", hidden: true }),
    width: () => Math.max(1, (canvas.clientWidth || canvas.width) - gutter.left - gutter.right),
  };
  follow(map, stage, mark_frames(map, stage, marks));
  heat_pointer(map);
  heat_keys(map);
  return el(
    "figure",
    { class: "heat" },
    el("figcaption", {}, el("h4", {}, "vCPUs by time"), legend(timeline)),
    map.readout,
    stage,
    map.live,
  );
}

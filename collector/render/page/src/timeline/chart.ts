import uPlot from "uplot";
import { colour } from "../colours";
import { el } from "../dom";
import { mebibytes } from "../format";
import { register } from "../redraw";
import { draw_gaps, draw_marks } from "./backdrop";
import type { ChartSpec, Layer } from "./layers";
import { gutter, type Mark } from "./marks";
import { stacked, step_paths } from "./paths";
import type { TimeCursor, TimeRange } from "./range";
import type { Steps } from "./steps";

const plot_height = 132;

/** In the order of drawing: the highest of a stack first, so that those below it are painted over it; lines last. */
function drawn(spec: ChartSpec, steps: Steps): { layer: Layer; values: (number | null)[] }[] {
  const stack = spec.layers.filter((layer) => layer.draw === "stack");
  const sums = stacked(stack.map((layer) => layer.values), steps.count, (step) => steps.is_gap(step));
  const areas = stack.map((layer, at) => ({ layer, values: sums[at] ?? [] })).reverse();
  const lines = spec.layers.filter((layer) => layer.draw === "line")
    .map((layer) => ({ layer, values: layer.values.map((value, step) => (steps.is_gap(step) ? null : value)) }));
  return [...areas, ...lines];
}

function series_of(layer: Layer, steps: Steps): uPlot.Series {
  const area = layer.draw === "stack";
  const series: uPlot.Series = {
    label: layer.words,
    stroke: () => colour(layer.kind),
    width: area ? 0.5 : 1.75,
    points: { show: false },
    paths: step_paths(steps, area),
  };
  if (area) series.fill = () => colour(layer.kind);
  if (layer.dash) series.dash = layer.dash;
  return series;
}

function axes(spec: ChartSpec): uPlot.Axis[] {
  const look = { stroke: () => colour("muted"), font: "11px system-ui, sans-serif",
    grid: { stroke: () => colour("grid"), width: 1 }, ticks: { show: false } };
  const share = (_: uPlot, splits: number[]): string[] => splits.map((value) => `${value / 10} %`);
  const memory = (_: uPlot, splits: number[]): string[] => splits.map(mebibytes);
  return [
    { ...look, size: 24, gap: 4, space: 70, values: (_u, splits) => splits.map((value) => `${Number(value.toFixed(2))} s`) },
    { ...look, size: gutter.left, gap: 6, space: 30, values: spec.unit === "share" ? share : memory },
  ];
}

function options(spec: ChartSpec, steps: Steps, marks: Mark[], range: TimeRange, width: number): uPlot.Options {
  return {
    width,
    height: plot_height + 34,
    padding: [8, gutter.right, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false, dist: 4 },
      bind: { dblclick: () => null } },
    scales: { x: { time: false, auto: false, range: () => [range.shown.from, range.shown.to] },
      y: { auto: false, range: () => [0, spec.top] } },
    axes: axes(spec),
    series: [{}, ...drawn(spec, steps).map(({ layer }) => series_of(layer, steps))],
    hooks: {
      drawClear: [(u) => draw_gaps(u, steps)],
      draw: [(u) => draw_marks(u, marks)],
      setSelect: [(u) => {
        const { left, width: selected } = u.select;
        if (selected <= 0) return;
        range.set(u.posToVal(left, "x"), u.posToVal(left + selected, "x"));
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      }],
    },
  };
}

function data_of(spec: ChartSpec, steps: Steps): uPlot.AlignedData {
  const x = [...Array.from({ length: steps.count }, (_, step) => steps.from(step)), steps.end];
  return [x, ...drawn(spec, steps).map(({ values }) => [...values, null])];
}

function point_at(u: uPlot, cursor: TimeCursor): void {
  const { at } = cursor;
  u.setCursor(at === null ? { left: -10, top: -10 } : { left: u.valToPos(at, "x"), top: 1 }, false);
}

/** A chart of the timeline in a box of its own; it follows the shared range and cursor, and moves them. */
export function chart(spec: ChartSpec, steps: Steps, marks: Mark[], range: TimeRange, cursor: TimeCursor): HTMLElement {
  const box = el("div", { class: "chart" });
  const width = (): number => Math.max(280, box.clientWidth);
  let u: uPlot | null = null;
  const make = (): void => {
    u = new uPlot(options(spec, steps, marks, range, width()), data_of(spec, steps), box);
    u.over.addEventListener("pointermove", (event) => {
      if (u) cursor.set(u.posToVal(event.clientX - u.over.getBoundingClientRect().left, "x"));
    });
    u.over.addEventListener("pointerleave", () => cursor.set(null));
    u.over.addEventListener("dblclick", () => range.reset());
  };
  const paint = (forced: number | undefined): void => {
    if (!u) make();
    const wanted = forced ?? width();
    if (u && u.width !== wanted) u.setSize({ width: wanted, height: plot_height + 34 });
    u?.redraw(true, true);
  };
  range.listen(() => u?.setScale("x", { min: range.shown.from, max: range.shown.to }));
  cursor.listen(() => { if (u) point_at(u, cursor); });
  register({ paint });
  return box;
}

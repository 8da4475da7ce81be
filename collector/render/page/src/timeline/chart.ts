import uPlot from "uplot";
import { colour } from "../colours";
import { el } from "../dom";
import { mebibytes } from "../format";
import { columns } from "../paint/columns";
import { ink_for, paint_row } from "../paint/rows";
import { register } from "../redraw";
import { draw_gaps, draw_marks } from "./backdrop";
import type { ChartSpec, Layer } from "./layers";
import { gutter, type Mark } from "./marks";
import { step_paths } from "./paths";
import type { TimeCursor, TimeRange } from "./range";
import type { Steps } from "./steps";

const plot_height = 132;

const stack_of = (spec: ChartSpec): Layer[] => spec.layers.filter((layer) => layer.draw === "stack");
const lines_of = (spec: ChartSpec): Layer[] => spec.layers.filter((layer) => layer.draw === "line");

function series_of(layer: Layer, steps: Steps): uPlot.Series {
  return {
    label: layer.words,
    stroke: () => colour(layer.kind),
    fill: () => `${colour(layer.kind)}38`,
    width: 1.75,
    points: { show: false },
    paths: step_paths(steps),
    ...(layer.dash ? { dash: layer.dash } : {}),
  };
}

/** The stacked layers as an image under grid and lines, in the way of the heat map; a step with missing ticks is left empty. */
function paint_stack(u: uPlot, spec: ChartSpec, steps: Steps, range: TimeRange): void {
  const stack = stack_of(spec);
  const [left, top, width, height] = [u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height].map(Math.round);
  if (stack.length === 0 || !width || !height) return;
  const shares = columns(
    stack.map((layer) => layer.values),
    steps,
    range.shown,
    width,
  );
  paint_row(
    u.ctx,
    shares,
    width,
    left ?? 0,
    top ?? 0,
    height,
    ink_for(
      stack.map((layer) => layer.kind),
      "empty",
    ),
  );
}

const memory_steps = Array.from({ length: 24 }, (_, power) => 2 ** power); // MiB

function axes(spec: ChartSpec): uPlot.Axis[] {
  const look = {
    stroke: () => colour("muted"),
    font: "11px system-ui, sans-serif",
    grid: { stroke: () => colour("grid"), width: 1 },
    ticks: { show: false },
  };
  const share = (_: uPlot, splits: number[]): string[] => splits.map((value) => `${value / 10} %`);
  const memory = (_: uPlot, splits: number[]): string[] => splits.map(mebibytes);
  return [
    {
      ...look,
      size: 24,
      gap: 4,
      space: 70,
      values: (_u, splits) => splits.map((value) => `${Number(value.toFixed(2))} s`),
    },
    {
      ...look,
      size: gutter.left,
      gap: 6,
      space: 30,
      values: spec.unit === "share" ? share : memory,
      incrs: spec.unit === "share" ? [10, 20, 50, 100, 250, 500] : memory_steps,
    },
  ];
}

/** What the chart's own scale has, for whoever looks from outside. */
function say_scale(u: uPlot): void {
  u.root.dataset["from"] = String(u.scales["x"]?.min);
  u.root.dataset["to"] = String(u.scales["x"]?.max);
}

function options(spec: ChartSpec, steps: Steps, marks: Mark[], range: TimeRange, width: number): uPlot.Options {
  return {
    width,
    height: plot_height + 34,
    padding: [8, gutter.right, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: true, y: false, setScale: false, dist: 4 },
      bind: { dblclick: () => null },
    },
    scales: {
      x: { time: false, auto: false, range: () => [range.shown.from, range.shown.to] },
      y: { auto: false, range: () => [0, spec.top] },
    },
    axes: axes(spec),
    series: [{}, ...lines_of(spec).map((layer) => series_of(layer, steps))],
    hooks: {
      setScale: [
        (u, key) => {
          if (key === "x") say_scale(u);
        },
      ],
      drawClear: [(u) => draw_gaps(u, steps), (u) => paint_stack(u, spec, steps, range)],
      draw: [(u) => draw_marks(u, marks)],
      setSelect: [
        (u) => {
          const { left, width: selected } = u.select;
          if (selected <= 0) return;
          range.set(u.posToVal(left, "x"), u.posToVal(left + selected, "x"));
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    },
  };
}

function data_of(spec: ChartSpec, steps: Steps): uPlot.AlignedData {
  const x = [...Array.from({ length: steps.count }, (_, step) => steps.from(step)), steps.end];
  const lines = lines_of(spec).map(({ values }) =>
    x.map((_, step) => (steps.is_gap(step) ? null : (values[step] ?? null))),
  );
  return [x, ...lines];
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
  cursor.listen(() => {
    if (u) point_at(u, cursor);
  });
  register({ paint });
  return box;
}

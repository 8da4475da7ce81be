import type uPlot from "uplot";
import type { Steps } from "./steps";

type Values = readonly (number | null | undefined)[];

/** How a chart turns seconds and values into pixels of its canvas. */
interface Plot {
  x: (moment: number) => number;
  y: (value: number) => number;
}

/** Each value from its step's begin to its end. Neighbours are joined; a step without a value ends the line. */
function each_step(values: Values, steps: Steps, first: number, last: number, plot: Plot): uPlot.Series.Paths {
  const stroke = new Path2D();
  let joined = Number.NaN;
  for (let step = first; step <= last; step += 1) {
    const value = values[step];
    if (value === null || value === undefined) continue;
    const left = plot.x(steps.from(step));
    const y = plot.y(value);
    if (Math.abs(joined - left) < 0.5) stroke.lineTo(left, y);
    else stroke.moveTo(left, y);
    joined = plot.x(steps.to(step));
    stroke.lineTo(joined, y);
  }
  return { stroke, flags: 1 };
}

/** What the steps of one column hold. */
interface Column {
  left: number;
  right: number;
  least: number;
  most: number;
  sum: number; // of value by time
  time: number;
}

/** Steps gathered into columns of at least `wide` pixels; a step without a value ends a column. */
function gathered(values: Values, steps: Steps, first: number, last: number, plot: Plot, wide: number): Column[] {
  const columns: Column[] = [];
  let open: Column | null = null;
  for (let step = first; step <= last; step += 1) {
    const value = values[step];
    if (value === null || value === undefined) {
      open = null;
      continue;
    }
    const right = plot.x(steps.to(step));
    if (!open || open.right - open.left >= wide) {
      open = { left: plot.x(steps.from(step)), right, least: value, most: value, sum: 0, time: 0 };
      columns.push(open);
    }
    open.right = right;
    open.least = Math.min(open.least, value);
    open.most = Math.max(open.most, value);
    open.sum += value * steps.length(step);
    open.time += steps.length(step);
  }
  return columns;
}

/** Columns of more than one step: the line is their mean, the field around it goes from the least to the most. */
function each_column(columns: Column[], plot: Plot): uPlot.Series.Paths {
  const stroke = new Path2D();
  const fill = new Path2D();
  let joined = Number.NaN;
  for (const column of columns) {
    const y = plot.y(column.time > 0 ? column.sum / column.time : column.least);
    if (Math.abs(joined - column.left) < 0.5) stroke.lineTo(column.left, y);
    else stroke.moveTo(column.left, y);
    stroke.lineTo(column.right, y);
    joined = column.right;
    const top = plot.y(column.most);
    fill.rect(column.left, top, column.right - column.left, plot.y(column.least) - top);
  }
  return { stroke, fill, flags: 1 };
}

/** A line that nothing of is drawn across a gap, whether its steps are wide or too narrow to be seen one by one. */
export function step_paths(steps: Steps): uPlot.Series.PathBuilder {
  return (u, series, from, to) => {
    const values = (u.data[series] ?? []) as Values;
    const scale = u.series[series]?.scale ?? "y";
    const plot: Plot = {
      x: (moment) => u.valToPos(moment, "x", true),
      y: (value) => u.valToPos(value, scale, true),
    };
    const first = Math.max(0, from - 1);
    const last = Math.min(to, steps.count - 1);
    const wide = 2 * devicePixelRatio;
    const columns = (last - first + 1) * wide > u.bbox.width;
    return columns
      ? each_column(gathered(values, steps, first, last, plot, wide), plot)
      : each_step(values, steps, first, last, plot);
  };
}

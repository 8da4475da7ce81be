import type uPlot from "uplot";
import type { Steps } from "./steps";

/**
 * A line that holds each step's value from its begin to its end. Neighbours are joined; where a step has no value the
 * line ends and begins anew: nothing is drawn across a gap.
 */
export function step_paths(steps: Steps, filled: boolean): uPlot.Series.PathBuilder {
  return (u, series, first, last) => {
    const stroke = new Path2D();
    const fill = filled ? new Path2D() : null;
    const values = u.data[series] as (number | null)[];
    const scale = u.series[series]?.scale ?? "y";
    const x = (moment: number): number => u.valToPos(moment, "x", true);
    const base = u.valToPos(0, scale, true);
    let joined = Number.NaN;
    for (let step = Math.max(0, first - 1); step <= last && step < steps.count; step += 1) {
      const value = values[step];
      if (value === null || value === undefined) continue;
      const left = x(steps.from(step));
      const right = x(steps.to(step));
      const top = u.valToPos(value, scale, true);
      if (Math.abs(joined - left) < 0.5) stroke.lineTo(left, top);
      else stroke.moveTo(left, top);
      stroke.lineTo(right, top);
      joined = right;
      fill?.rect(left, top, right - left, base - top);
    }
    return { stroke, fill, flags: 1 };
  };
}

/** Cumulates layers from the lowest up. From the first layer that was not read in a step, all above it are null there. */
export function stacked(layers: (number | null)[][], count: number, is_gap: (step: number) => boolean): (number | null)[][] {
  const sums: (number | null)[] = new Array<number | null>(count).fill(0);
  return layers.map((layer) => {
    for (let step = 0; step < count; step += 1) {
      const below = sums[step];
      const value = layer[step];
      const absent = below === null || below === undefined || value === null || value === undefined || is_gap(step);
      sums[step] = absent ? null : below + value;
    }
    return [...sums];
  });
}

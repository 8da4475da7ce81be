import type uPlot from "uplot";
import type { Steps } from "./steps";

/**
 * A line that holds each step's value from its begin to its end. Neighbours are joined; where a step has no value the
 * line ends and begins anew: nothing is drawn across a gap.
 */
export function step_paths(steps: Steps): uPlot.Series.PathBuilder {
  return (u, series, first, last) => {
    const stroke = new Path2D();
    const values = u.data[series] as (number | null)[];
    const scale = u.series[series]?.scale ?? "y";
    const x = (moment: number): number => u.valToPos(moment, "x", true);
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
    }
    return { stroke, flags: 1 };
  };
}

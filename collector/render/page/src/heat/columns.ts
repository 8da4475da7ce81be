import type { VcpuSeries } from "../data";
import { step_states } from "../states";
import type { Span } from "../timeline/range";
import type { Steps } from "../timeline/steps";

/**
 * Of one vCPU and for each of `count` columns of equal time: the shares of the column's time in each state, in the
 * order of step_states, and behind them the share of it that lies in steps with missing ticks. What the shares do not
 * add up to was not read.
 */
export function columns(vcpu: VcpuSeries, steps: Steps, shown: Span, count: number): Float32Array {
  const width = step_states.length + 1;
  const result = new Float32Array(count * width);
  const each = (shown.to - shown.from) / count;
  const lists = step_states.map((state) => vcpu[state]);
  for (let step = steps.last_before(shown.from); step < steps.count && steps.from(step) < shown.to; step += 1) {
    const from = Math.max(steps.from(step), shown.from);
    const to = Math.min(steps.to(step), shown.to);
    const first = Math.floor((from - shown.from) / each);
    const last = Math.min(count - 1, Math.floor((to - shown.from) / each));
    for (let column = first; column <= last; column += 1) {
      const begin = shown.from + column * each;
      const overlap = (Math.min(to, begin + each) - Math.max(from, begin)) / each;
      if (overlap <= 0) continue;
      lists.forEach((list, state) => {
        const at = column * width + state;
        result[at] = (result[at] ?? 0) + overlap * (list?.[step] ?? 0) / 1000;
      });
      const gap = column * width + width - 1;
      if (steps.is_gap(step)) result[gap] = (result[gap] ?? 0) + overlap;
    }
  }
  return result;
}

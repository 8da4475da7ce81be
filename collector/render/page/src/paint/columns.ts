import type { Series } from "../data";
import type { Span } from "../timeline/range";
import type { Steps } from "../timeline/steps";

/** What stands behind the shares of a column. */
export const behind = { covered: 0, gap: 1, count: 2 };

/**
 * For each of `count` columns of equal time: the shares of the column's time that each list of permille gives, in the
 * order of the lists; behind them the share of it that lies in any step, and that in steps with missing ticks. What the
 * shares do not add up to of the time that lies in a step was not read.
 */
export function columns(
  lists: readonly (Series | undefined)[],
  steps: Steps,
  shown: Span,
  count: number,
): Float32Array {
  const width = lists.length + behind.count;
  const result = new Float32Array(count * width);
  const each = (shown.to - shown.from) / count;
  for (let step = steps.last_before(shown.from); step < steps.count && steps.from(step) < shown.to; step += 1) {
    const from = Math.max(steps.from(step), shown.from) - shown.from;
    const to = Math.min(steps.to(step), shown.to) - shown.from;
    const gap = steps.is_gap(step);
    const last = Math.min(count - 1, Math.floor(to / each));
    for (let column = Math.floor(from / each); column <= last; column += 1) {
      const overlap = Math.min(to / each, column + 1) - Math.max(from / each, column);
      if (overlap <= 0) continue;
      const at = column * width;
      for (let list = 0; list < lists.length; list += 1) {
        result[at + list] = (result[at + list] ?? 0) + (overlap * (lists[list]?.[step] ?? 0)) / 1000;
      }
      const covered = at + lists.length + behind.covered;
      result[covered] = (result[covered] ?? 0) + overlap;
      if (gap) result[covered + behind.gap] = (result[covered + behind.gap] ?? 0) + overlap;
    }
  }
  return result;
}

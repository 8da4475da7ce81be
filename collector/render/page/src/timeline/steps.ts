import type { Series, Timeline } from "../data";
import { clock } from "../format";

/** The steps of a timeline: their times, and in which of them ticks are missing. */
export class Steps {
  readonly count: number;
  readonly end: number;
  private readonly gaps: Set<number>;

  constructor(private readonly timeline: Timeline) {
    this.count = Math.min(timeline.starts.length, timeline.lengths.length);
    this.gaps = new Set(timeline.gaps);
    this.end = this.count > 0 ? this.to(this.count - 1) : 0;
  }

  from(step: number): number {
    return this.timeline.starts[step] ?? 0;
  }

  length(step: number): number {
    return this.timeline.lengths[step] ?? 0;
  }

  to(step: number): number {
    return this.from(step) + this.length(step);
  }

  /** Its numbers are means of the whole of it; what happened inside is not known. */
  is_gap(step: number): boolean {
    return this.gaps.has(step);
  }

  /** The last step that begins at a moment or before it. */
  last_before(moment: number): number {
    let low = 0;
    let high = this.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.from(middle) <= moment) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The step that holds a moment; null outside of all. */
  at(moment: number | null): number | null {
    if (moment === null || this.count === 0) return null;
    const step = this.last_before(moment);
    return moment >= this.from(step) && moment <= this.to(step) ? step : null;
  }

  clock(moment: number, digits = 0): string {
    return `${clock(this.timeline.epoch_seconds + moment, digits)} UTC`;
  }

  words(step: number): string {
    const times = `${this.from(step).toFixed(1)}–${this.to(step).toFixed(1)} s, ${this.clock(this.from(step), 1)}`;
    return this.is_gap(step) ? `${times}, ticks missing: means of the whole` : times;
  }

  /** The mean over the steps that begin in a span, by their lengths; null where none was read. */
  mean(values: Series, from: number, to: number): number | null {
    let sum = 0;
    let time = 0;
    for (let step = this.last_before(from); step < this.count && this.from(step) < to; step += 1) {
      const value = values[step];
      if (value === null || value === undefined) continue;
      const overlap = Math.min(to, this.to(step)) - Math.max(from, this.from(step));
      if (overlap <= 0) continue;
      sum += value * overlap;
      time += overlap;
    }
    return time > 0 ? sum / time : null;
  }
}

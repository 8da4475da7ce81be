/** Seconds from a timeline's begin that all its charts show, and the moment they all point at. */
export interface Span {
  from: number;
  to: number;
}

type Listener = () => void;

class Shared {
  private readonly listeners: Listener[] = [];

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }

  protected tell(): void {
    for (const listener of this.listeners) listener();
  }
}

/** What is shown never leaves the whole, and is never narrower than `narrowest`. */
export class TimeRange extends Shared {
  shown: Span;

  constructor(
    readonly whole: Span,
    readonly narrowest = 2,
  ) {
    super();
    this.shown = { ...whole };
  }

  get zoomed(): boolean {
    return this.shown.from > this.whole.from || this.shown.to < this.whole.to;
  }

  set(from: number, to: number): void {
    const whole = this.whole.to - this.whole.from;
    const width = Math.min(whole, Math.max(to - from, Math.min(this.narrowest, whole)));
    const middle = (from + to) / 2;
    const begin = Math.min(Math.max(middle - width / 2, this.whole.from), this.whole.to - width);
    this.shown = { from: begin, to: begin + width };
    this.tell();
  }

  reset(): void {
    this.set(this.whole.from, this.whole.to);
  }

  pan(share: number): void {
    const by = share * (this.shown.to - this.shown.from);
    this.set(this.shown.from + by, this.shown.to + by);
  }

  /** A factor below 1 shows less, around a moment where it is in sight. */
  zoom(factor: number, around: number | null = null): void {
    const { from, to } = this.shown;
    const middle = around !== null && around >= from && around <= to ? around : (from + to) / 2;
    this.set(middle - (middle - from) * factor, middle + (to - middle) * factor);
  }
}

export class TimeCursor extends Shared {
  at: number | null = null;

  set(at: number | null): void {
    if (at === this.at) return;
    this.at = at;
    this.tell();
  }
}

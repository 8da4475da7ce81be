import type { Open, Report, Snapshot, Timeline } from "../data";
import { el, outside, type Child } from "../dom";
import { day_and_clock } from "../format";
import { tops_of, type Tops } from "../timeline/layers";
import { TimeCursor, TimeRange } from "../timeline/range";
import { timeline_section } from "../timeline/timeline";
import { budget } from "./budget";
import { Captures } from "./captures";
import { findings } from "./findings";
import { runner_bar } from "./runner";

/** What the timelines shown together share. */
export interface Shown {
  range: TimeRange;
  cursor: TimeCursor;
  tops: Tops;
}

export function timeline_of(report: Report, snapshot: Snapshot | undefined): Timeline | undefined {
  return report.timelines.find((timeline) => timeline.snapshot === snapshot?.name);
}

export function shown_of(timelines: Timeline[]): Shown | null {
  if (timelines.length === 0) return null;
  const end = Math.max(
    ...timelines.map((timeline) => {
      const last = Math.min(timeline.starts.length, timeline.lengths.length) - 1;
      return (timeline.starts[last] ?? 0) + (timeline.lengths[last] ?? 0);
    }),
  );
  const interval = Math.min(...timelines.map((timeline) => timeline.interval_seconds));
  return {
    range: new TimeRange({ from: 0, to: Math.max(end, 0.001) }, 3 * interval),
    cursor: new TimeCursor(),
    tops: tops_of(timelines),
  };
}

export function window_words(snapshot: Snapshot): string {
  const { window: span } = snapshot;
  const begin = snapshot.captures
    .filter((capture) => capture.sample === 1 && capture.epoch_begin_ns)
    .map((capture) => (capture.epoch_begin_ns ?? 0) / 1e9);
  const from = begin.length > 0 ? ` from ${day_and_clock(Math.min(...begin))}` : "";
  if (!span) {
    return `No window: what two samples would enclose was not read${from ? `; sample 1 is${from}` : ""}.`;
  }
  const doubt = span.wall_clock ? "; both by the clock of the day, which can be stepped" : "";
  return `Window ${span.seconds.toFixed(3)} s ± ${span.error_seconds.toFixed(3)} s${from}${doubt}.`;
}

function open_line(open: Open): HTMLElement {
  return el(
    "li",
    {},
    el("strong", {}, outside(open.capture, "name")),
    ` sample ${open.sample} `,
    el("span", { class: `tag outcome-${open.outcome}` }, open.outcome),
    " ",
    open.reason ? outside(open.reason) : null,
    open.consequence ? el("span", { class: "muted" }, ": ", outside(open.consequence)) : null,
  );
}

/** What the report cannot say. */
export function open_questions(snapshot: Snapshot): Child {
  const count = snapshot.open.length;
  if (count === 0) return null;
  return el(
    "details",
    { class: "open", open: count <= 8 },
    el("summary", {}, `What this report cannot say: ${count} shortfall${count === 1 ? "" : "s"}`),
    el("ul", {}, ...snapshot.open.map(open_line)),
  );
}

/** The verdict as the heading, the window, and what is open. */
export function snapshot_head(snapshot: Snapshot, id: string, label = ""): HTMLElement {
  return el(
    "header",
    { class: `verdict ${label}`.trim() },
    el(
      "p",
      { class: "kicker" },
      label ? el("span", { class: `side side-${label}` }, label) : null,
      label ? " " : null,
      "snapshot ",
      outside(snapshot.name, "name"),
    ),
    el("h2", { id, tabindex: -1 }, snapshot.verdict ? outside(snapshot.verdict) : "No verdict"),
    el("p", { class: "muted" }, window_words(snapshot)),
    snapshot.markers && snapshot.markers.length > 0
      ? el("p", { class: "muted" }, "Beside the captures lies: ", outside(snapshot.markers.join(", ")))
      : null,
    open_questions(snapshot),
  );
}

export function no_timeline(snapshot: Snapshot, head: Child[] = ["Timeline"]): HTMLElement {
  return el(
    "section",
    { class: "timeline" },
    el("h3", {}, ...head),
    el(
      "p",
      { class: "absent" },
      "This page has no timeline of ",
      outside(snapshot.name, "name"),
      ": what happened between the samples is not known.",
    ),
  );
}

/** A snapshot with all its parts, in the order in which they are read. */
export function snapshot_part(report: Report, snapshot: Snapshot, heading: string): HTMLElement {
  const timeline = timeline_of(report, snapshot);
  const shown = timeline ? shown_of([timeline]) : null;
  const captures = new Captures(report, snapshot.name);
  const article = el(
    "article",
    { class: "snapshot", "aria-labelledby": heading },
    snapshot_head(snapshot, heading, report.label),
  );
  article.append(budget(snapshot), runner_bar(snapshot));
  let place: HTMLElement = article;
  const { section, marks } = findings(snapshot, captures, shown ? { range: shown.range, place: () => place } : null);
  article.append(section);
  if (timeline && shown) {
    place = timeline_section(timeline, marks, shown.tops, shown.range, shown.cursor, ["Timeline"]);
    article.append(place);
  } else {
    article.append(no_timeline(snapshot));
  }
  article.append(captures.section());
  return article;
}

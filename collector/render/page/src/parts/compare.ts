import type { ComparedSnapshot, FindingKey, PageData, Report, Snapshot, Timeline } from "../data";
import { el, new_id, outside, type Child } from "../dom";
import type { Mark } from "../timeline/marks";
import { timeline_section } from "../timeline/timeline";
import { budget } from "./budget";
import { Captures } from "./captures";
import { numbers_table, type Side } from "./compare_table";
import { findings } from "./findings";
import { runner_bar } from "./runner";
import { no_timeline, shown_of, snapshot_head, timeline_of, type Shown } from "./snapshot";

const sides: Side[] = ["green", "red"];

function keys(title: string, list: FindingKey[] | undefined): HTMLElement {
  const items = (list ?? []).map((key) =>
    el("li", {}, el("code", {}, outside(key.id)), " ", key.subject ? outside(key.subject) : null),
  );
  return el(
    "div",
    {},
    el("h4", {}, title),
    items.length > 0 ? el("ul", {}, ...items) : el("p", { class: "muted" }, "None."),
  );
}

/** One snapshot of each side, or of one side alone. */
interface Pair {
  side: Side;
  report: Report;
  snapshot: Snapshot;
  timeline: Timeline | undefined;
}

function pairs_of(data: PageData, compared: ComparedSnapshot): Pair[] {
  return sides.flatMap((side) => {
    const report = data.reports.find((each) => each.label === side);
    const snapshot = report?.analysis.snapshots.find((each) => each.name === compared[side]?.snapshot);
    return report && snapshot ? [{ side, report, snapshot, timeline: timeline_of(report, snapshot) }] : [];
  });
}

function columns(kind: string, pairs: Pair[], make: (pair: Pair) => Child[]): HTMLElement {
  return el(
    "div",
    { class: `columns ${kind}` },
    ...pairs.map((pair) =>
      el("div", { class: `column column-${pair.side}`, role: "group", "aria-label": pair.side }, ...make(pair)),
    ),
  );
}

function side_mark(side: Side): HTMLElement {
  return el("p", { class: "kicker" }, el("span", { class: `side side-${side}` }, side));
}

/** A side's findings and captures, and where its timeline is once it is made. */
interface Made {
  pair: Pair;
  captures: Captures;
  found: HTMLElement;
  marks: Mark[];
  place: HTMLElement;
}

function made_of(pair: Pair, shown: Shown | null): Made {
  const captures = new Captures(pair.report, pair.snapshot.name);
  const made: Made = { pair, captures, found: document.body, marks: [], place: document.body };
  const stage = shown && pair.timeline ? { range: shown.range, place: () => made.place } : null;
  const { section, marks } = findings(pair.snapshot, captures, stage);
  return Object.assign(made, { found: section, marks });
}

function timeline_part(made: Made, shown: Shown | null): HTMLElement {
  const { pair, marks } = made;
  const side = el("span", { class: `side side-${pair.side}` }, pair.side);
  const head = [side, " Timeline of ", outside(pair.snapshot.name, "name")];
  made.place =
    pair.timeline && shown
      ? timeline_section(pair.timeline, marks, shown.tops, shown.range, shown.cursor, head)
      : no_timeline(pair.snapshot, head);
  return made.place;
}

function only_in(compared: ComparedSnapshot): HTMLElement {
  return el(
    "section",
    { class: "columns keys" },
    keys("Findings only in green", compared.green_only),
    keys("Findings only in red", compared.red_only),
    keys("Findings in both", compared.both),
  );
}

/** Two snapshots: what is short side by side, the timelines below each other in one scale. */
export function compared_part(data: PageData, compared: ComparedSnapshot, heading: string): HTMLElement {
  const pairs = pairs_of(data, compared);
  const shown = shown_of(pairs.map((pair) => pair.timeline).filter((each): each is Timeline => each !== undefined));
  const made = pairs.map((pair) => made_of(pair, shown));
  const names = [...new Set(pairs.flatMap((pair) => (pair.snapshot.nodes ?? []).map((node) => node.name)))];
  const lacking = sides.filter((side) => !pairs.some((pair) => pair.side === side));
  const said = [...lacking.map((side) => `There is no such snapshot in ${side}.`), ...(compared.warnings ?? [])];
  const of = (pair: Pair): Made | undefined => made.find((each) => each.pair === pair);
  return el(
    "article",
    { class: "snapshot compared-snapshot", "aria-labelledby": heading },
    columns("verdicts", pairs, (pair) => [
      snapshot_head(pair.snapshot, pair === pairs[0] ? heading : new_id("verdict"), pair.side),
    ]),
    ...said.map((words) => el("p", { class: "warning" }, outside(words))),
    columns("bars", pairs, (pair) => [side_mark(pair.side), budget(pair.snapshot, names), runner_bar(pair.snapshot)]),
    numbers_table(compared),
    only_in(compared),
    columns("found", pairs, (pair) => [side_mark(pair.side), of(pair)?.found]),
    ...made.map((each) => timeline_part(each, shown)),
    columns("said", pairs, (pair) => [side_mark(pair.side), of(pair)?.captures.section()]),
  );
}

import type { ComparedSnapshot, FindingKey, PageData, Report, Snapshot, Timeline } from "../data";
import { el, new_id, outside, type Child } from "../dom";
import { timeline_section } from "../timeline/timeline";
import { budget } from "./budget";
import { Captures } from "./captures";
import { numbers_table, type Side } from "./compare_table";
import { findings } from "./findings";
import { runner_bar } from "./runner";
import { no_timeline, shown_of, snapshot_head, timeline_of } from "./snapshot";

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

/** Two snapshots: what is short side by side, the timelines below each other in one scale. */
export function compared_part(data: PageData, compared: ComparedSnapshot, heading: string): HTMLElement {
  const pairs = pairs_of(data, compared);
  const timelines = pairs.map((pair) => pair.timeline).filter((each): each is Timeline => each !== undefined);
  const shown = shown_of(timelines);
  const places = new Map<Pair, HTMLElement>();
  const parts = pairs.map((pair) => {
    const captures = new Captures(pair.report, pair.snapshot.name);
    const stage =
      shown && pair.timeline ? { range: shown.range, place: () => places.get(pair) ?? document.body } : null;
    return { pair, captures, ...findings(pair.snapshot, captures, stage) };
  });
  const of = (pair: Pair): (typeof parts)[number] | undefined => parts.find((part) => part.pair === pair);
  const article = el("article", { class: "snapshot compared-snapshot", "aria-labelledby": heading });
  for (const side of sides) {
    if (!pairs.some((pair) => pair.side === side))
      article.append(el("p", { class: "warning" }, `There is no such snapshot in ${side}.`));
  }
  article.append(
    columns("verdicts", pairs, (pair) => [
      snapshot_head(pair.snapshot, pair === pairs[0] ? heading : new_id("verdict"), pair.side),
    ]),
  );
  for (const warning of compared.warnings ?? []) article.append(el("p", { class: "warning" }, outside(warning)));
  const names = [...new Set(pairs.flatMap((pair) => (pair.snapshot.nodes ?? []).map((node) => node.name)))];
  article.append(
    columns("bars", pairs, (pair) => [side_mark(pair.side), budget(pair.snapshot, names), runner_bar(pair.snapshot)]),
  );
  article.append(numbers_table(compared));
  article.append(
    el(
      "section",
      { class: "columns keys" },
      keys("Findings only in green", compared.green_only),
      keys("Findings only in red", compared.red_only),
      keys("Findings in both", compared.both),
    ),
  );
  article.append(columns("found", pairs, (pair) => [side_mark(pair.side), of(pair)?.section]));
  for (const part of parts) {
    const { pair } = part;
    const made =
      pair.timeline && shown
        ? timeline_section(pair.timeline, part.marks, shown.tops, shown.range, shown.cursor, [
            el("span", { class: `side side-${pair.side}` }, pair.side),
            " Timeline of ",
            outside(pair.snapshot.name, "name"),
          ])
        : no_timeline(pair.snapshot);
    places.set(pair, made);
    article.append(made);
  }
  article.append(columns("said", pairs, (pair) => [side_mark(pair.side), of(pair)?.captures.section()]));
  return article;
}

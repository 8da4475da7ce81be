import type { Evidence, Finding, Snapshot } from "../data";
import { el, folded, new_id, outside, reveal, type Child } from "../dom";
import { grouped, not_read } from "../format";
import type { Mark } from "../timeline/marks";
import type { TimeRange } from "../timeline/range";
import type { Captures } from "./captures";
import { table } from "./table";

/** Where a finding's seconds are to be shown; null where there is no timeline. */
export interface Stage {
  range: TimeRange;
  place: () => HTMLElement;
}

function value_words(value: number | string | undefined): Child {
  if (value === undefined) return not_read;
  return typeof value === "number" ? grouped(value) : outside(value);
}

function change_words(evidence: Evidence): string {
  const { before, after } = evidence;
  if (typeof before !== "number" || typeof after !== "number") return "";
  const change = after - before;
  return Number.isSafeInteger(change) ? `${change >= 0 ? "+" : ""}${grouped(change)}` : "";
}

function capture_link(id: string, element: HTMLElement, words: string): HTMLElement {
  const link = el("a", { href: `#${id}` }, words);
  link.addEventListener("click", (event) => {
    event.preventDefault();
    reveal(element);
  });
  return link;
}

function links(finding: Finding, captures: Captures): Child {
  const names = [...new Set(finding.evidence.map((evidence) => evidence.capture))];
  const found = names.flatMap((name) => captures.named(name));
  if (found.length === 0) return null;
  const list = el("ul", { class: "links" });
  for (const { capture, element, id } of found) {
    list.append(el("li", {}, capture_link(id, element, `${capture.capture}, sample ${capture.sample}`)));
  }
  return el("div", {}, el("p", { class: "muted small" }, "Rests on"), list);
}

function zoom_button(finding: Finding, stage: Stage | null): Child {
  const { timeline } = finding;
  if (!timeline || !stage) return null;
  const { from_seconds: from, to_seconds: to } = timeline;
  const button = el(
    "button",
    { type: "button", class: "tool zoom controls" },
    `Show ${from.toFixed(1)}–${to.toFixed(1)} s on the timeline`,
  );
  button.addEventListener("click", () => {
    const room = Math.max(5, to - from);
    stage.range.set(from - room, to + room);
    reveal(stage.place());
  });
  return button;
}

function contents(finding: Finding, captures: Captures, stage: Stage | null): Child[] {
  const rows = finding.evidence.map((evidence): Child[] => [
    outside(evidence.capture),
    evidence.scope ? outside(evidence.scope) : "",
    evidence.field ? outside(evidence.field) : "",
    value_words(evidence.before),
    value_words(evidence.after),
    change_words(evidence),
  ]);
  return [
    rows.length > 0
      ? table("Evidence", ["Capture", "Scope", "Field", "Before", "After", "Change"], rows, [3, 4, 5])
      : el(
          "p",
          { class: "muted" },
          finding.timeline || of_timeline.includes(finding.id) ? "Its evidence is the timeline." : "No single value is the evidence of this.",
        ),
    finding.does_not_prove ? el("p", { class: "not-proof" }, outside(finding.does_not_prove)) : null,
    el("div", { class: "finding-ways" }, zoom_button(finding, stage), links(finding, captures)),
  ];
}

/** Findings that are of the timeline as a whole. */
const of_timeline = ["recorder-starved", "timeline-short"];

/** The findings, and those of them that have their seconds as marks for the timeline. */
export function findings(
  snapshot: Snapshot,
  captures: Captures,
  stage: Stage | null,
): { section: HTMLElement; marks: Mark[] } {
  const section = el("section", { class: "findings" }, el("h3", {}, "Findings"));
  const marks: Mark[] = [];
  snapshot.findings.forEach((finding, at) => {
    const number = at + 1;
    const details = folded(
      [
        el("span", { class: "finding-number" }, String(number)),
        el("span", { class: `tag level-${finding.level}` }, finding.level),
        el("code", {}, outside(finding.id)),
        el("span", { class: "says" }, outside(finding.says)),
      ],
      () => contents(finding, captures, stage),
      { id: new_id("finding"), class: `finding level-${finding.level}` },
    );
    section.append(details);
    if (!finding.timeline) return;
    marks.push({
      finding,
      number,
      from: finding.timeline.from_seconds,
      to: finding.timeline.to_seconds,
      open: () => reveal(details),
    });
  });
  if (snapshot.findings.length === 0) section.append(el("p", { class: "absent" }, "None."));
  return { section, marks };
}

import type { Capture, Report } from "../data";
import { el, folded, new_id, outside, type Child } from "../dom";
import { bytes } from "../format";
import { facts } from "./table";

/** The captures of a snapshot as folded parts, to be found again by their names. */
export class Captures {
  readonly parts: { capture: Capture; element: HTMLDetailsElement; id: string }[] = [];

  constructor(report: Report, snapshot: string) {
    for (const capture of report.captures.filter((each) => each.snapshot === snapshot)) {
      const id = new_id("capture");
      this.parts.push({ capture, id, element: capture_part(capture, id) });
    }
  }

  named(name: string): { capture: Capture; element: HTMLDetailsElement; id: string }[] {
    return this.parts.filter(({ capture }) => capture.capture === name);
  }

  section(): HTMLElement {
    const section = el(
      "section",
      { class: "captures" },
      el("h3", {}, "What the kernel said"),
      el("p", { class: "muted small" }, "Each capture verbatim, with how to read it."),
    );
    if (this.parts.length === 0)
      section.append(el("p", { class: "absent" }, "This page carries no capture of this snapshot."));
    section.append(...this.parts.map(({ element }) => element));
    return section;
  }
}

function contents(capture: Capture): Child[] {
  const parts: Child[] = [
    facts([
      ["Layer", capture.layer],
      ["Source", capture.source],
      ["File", capture.file],
    ]),
  ];
  if (capture.legend && capture.legend.length > 0) {
    parts.push(
      el("ul", { class: "capture-legend" }, ...capture.legend.map((sentence) => el("li", {}, outside(sentence)))),
    );
  }
  if (capture.text !== undefined && capture.text !== "") {
    parts.push(
      el(
        "pre",
        {
          tabindex: 0,
          class: "verbatim",
          role: "region",
          "aria-label": `${capture.capture}, sample ${capture.sample}, verbatim`,
        },
        capture.text,
      ),
    );
  } else {
    parts.push(el("p", { class: "absent" }, "The report holds no text of it."));
  }
  if (capture.cut_bytes) {
    parts.push(
      el("p", { class: "cut" }, `Cut here: ${bytes(capture.cut_bytes)} more are in the report, and not in this page.`),
    );
  }
  return parts;
}

function capture_part(capture: Capture, id: string): HTMLDetailsElement {
  const summary: Child[] = [
    el("span", { class: "capture-name" }, outside(capture.capture, "name")),
    el("span", { class: "muted" }, ` sample ${capture.sample} `),
    el("span", { class: `tag outcome-${capture.outcome}` }, capture.outcome),
    capture.cut_bytes ? el("span", { class: "tag" }, "cut") : null,
    capture.title ? el("span", { class: "capture-title muted" }, outside(capture.title)) : null,
    capture.reason ? el("span", { class: "reason" }, outside(capture.reason)) : null,
  ];
  return folded(summary, () => contents(capture), { id, class: "capture" });
}

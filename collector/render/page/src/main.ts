import { read_data, type PageData, type Report } from "./data";
import { el, Lazy, new_id, outside, type Child } from "./dom";
import { compared_part } from "./parts/compare";
import { snapshot_part } from "./parts/snapshot";
import { watch_printing } from "./print";
import { paint_all } from "./redraw";
import { apply_scheme, scheme_button } from "./theme";

/** A part of the page with a heading of its own that the navigation leads to. */
interface Part {
  id: string;
  words: string;
  element: HTMLElement;
}

function report_words(report: Report): Child[] {
  const about = report.analysis.report;
  const words: Child[] = [];
  if (report.label) words.push(el("span", { class: `side side-${report.label}` }, report.label), " ");
  words.push(about?.path ? outside(about.path, "path") : "a report");
  if (about?.origin === "shell") words.push(el("span", { class: "muted" }, ", written by the shell collectors"));
  return words;
}

/** Where the report itself is less than it should be. */
function report_warnings(report: Report): HTMLElement[] {
  const about = report.analysis.report;
  const said: string[] = [];
  if (about?.truncated) {
    said.push(
      `The report is truncated: ${about.truncated_why ?? "its end was not reached, or nothing proves that it was"}.`,
    );
  }
  said.push(...(about?.notes ?? []), ...(about?.refused ?? []).map((entry) => `Not accepted: ${entry}`));
  const label = report.label ? `${report.label}: ` : "";
  return said.map((words) => el("p", { class: "warning", role: "note" }, label, outside(words)));
}

function header(data: PageData): HTMLElement {
  const compared = data.comparison !== undefined;
  const head = el(
    "header",
    { class: "page-head" },
    el(
      "div",
      { class: "page-title" },
      el("h1", {}, compared ? "cozybracket comparison" : "cozybracket report"),
      scheme_button(),
    ),
    ...data.reports.map((report) => el("p", { class: "report-path" }, ...report_words(report))),
  );
  head.append(...data.reports.flatMap(report_warnings));
  for (const note of data.comparison?.notes ?? []) head.append(el("p", { class: "muted" }, outside(note)));
  return head;
}

function single_parts(data: PageData): Part[] {
  return data.reports.flatMap((report) =>
    report.analysis.snapshots.map((snapshot) => {
      const id = new_id("snapshot");
      return {
        id,
        words: `${snapshot.name}: ${snapshot.verdict ?? "no verdict"}`,
        element: snapshot_part(report, snapshot, id),
      };
    }),
  );
}

/** The snapshots that no snapshot of the other report stands beside. */
function lone_parts(data: PageData): Part[] {
  const beside = data.comparison?.snapshots ?? [];
  return data.reports.flatMap((report) =>
    report.analysis.snapshots
      .filter(({ name }) => !beside.some((pair) => pair[report.label === "green" ? "green" : "red"]?.snapshot === name))
      .map((snapshot) => {
        const id = new_id("snapshot");
        return {
          id,
          words: `${report.label} alone, ${snapshot.name}: ${snapshot.verdict ?? "no verdict"}`,
          element: snapshot_part(report, snapshot, id),
        };
      }),
  );
}

function compared_parts(data: PageData): Part[] {
  return (data.comparison?.snapshots ?? []).map((compared) => {
    const id = new_id("snapshot");
    const name = compared.red?.snapshot ?? compared.green?.snapshot ?? "";
    return {
      id,
      words: `${name}: ${compared.red?.verdict ?? compared.green?.verdict ?? "no verdict"}`,
      element: compared_part(data, compared, id),
    };
  });
}

function navigation(parts: Part[]): HTMLElement | null {
  if (parts.length < 2) return null;
  return el(
    "nav",
    { "aria-label": "Snapshots", class: "snapshots" },
    el("ol", {}, ...parts.map((part) => el("li", {}, el("a", { href: `#${part.id}` }, outside(part.words))))),
  );
}

function build(data: PageData): void {
  const parts = data.comparison ? [...compared_parts(data), ...lone_parts(data)] : single_parts(data);
  const main = el("main", {}, ...parts.map((part) => part.element));
  if (parts.length === 0) main.append(el("p", { class: "absent" }, "The report holds no snapshot."));
  const body: (HTMLElement | null)[] = [
    header(data),
    navigation(parts),
    main,
    el("footer", { class: "muted small" }, data.program ? outside(data.program) : ""),
  ];
  for (const element of body) if (element) document.body.append(element);
}

function start(): void {
  apply_scheme();
  try {
    build(read_data());
  } catch (error) {
    document.body.append(
      el("p", { class: "warning", role: "alert" }, `This page cannot show its report: ${String(error)}`),
    );
    return;
  }
  paint_all();
  watch_printing();
  let width = innerWidth;
  addEventListener("resize", () => {
    if (width === innerWidth) return;
    width = innerWidth;
    requestAnimationFrame(() => paint_all());
  });
  setTimeout(() => Lazy.fill_when_idle(), 200);
}

start();

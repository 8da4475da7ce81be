import { el, outside, type Child } from "../dom";
import { not_read } from "../format";

/** A table of words and numbers; columns of numbers are aligned to the right. */
export function table(caption: string, heads: string[], rows: Child[][], numbers: number[] = []): HTMLElement {
  const kind = (column: number): string | null => (numbers.includes(column) ? "number" : null);
  const cells = (row: Child[]): Child[] =>
    row.map((content, column) => {
      const absent = content === not_read ? "absent" : "";
      return el(
        "td",
        { class: `${kind(column) ?? ""} ${absent}`.trim() || null, "data-label": heads[column] },
        content,
      );
    });
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    el(
      "table",
      {},
      el("caption", {}, caption),
      el(
        "thead",
        {},
        el("tr", {}, ...heads.map((head, column) => el("th", { scope: "col", class: kind(column) }, head))),
      ),
      el("tbody", {}, ...rows.map((row) => el("tr", {}, ...cells(row)))),
    ),
  );
}

/** Names and values below each other; those without a value are left out. */
export function facts(entries: [string, Child][]): HTMLElement {
  const list = el("dl", { class: "facts" });
  for (const [name, value] of entries) {
    if (value) list.append(el("dt", {}, name), el("dd", {}, typeof value === "string" ? outside(value) : value));
  }
  return list;
}

import type { ComparedNumber, ComparedSnapshot } from "../data";
import { el, outside } from "../dom";
import { cpus, not_read, percent, rate, seconds } from "../format";

export type Side = "green" | "red";

function in_unit(value: number, unit: string): string {
  const size = Math.abs(value);
  const words =
    unit === "per second"
      ? rate(size)
      : unit === "cpus"
        ? cpus(size)
        : unit === "seconds"
          ? seconds(size, 3)
          : percent(size);
  return value < 0 ? `−${words}` : words;
}

function number_row(number: ComparedNumber): HTMLElement {
  const side = (name: Side): HTMLElement => {
    const measured = number[name];
    return el(
      "td",
      {
        class: measured ? "number" : "number absent",
        "data-label": name,
        title: measured ? `± ${in_unit(measured.error, number.unit)}` : null,
      },
      measured ? in_unit(measured.value, number.unit) : not_read,
    );
  };
  const { change } = number;
  const change_text = change === undefined ? "" : `${change > 0 ? "+" : ""}${in_unit(change, number.unit)}`;
  const told = change === undefined ? "" : number.differs ? "differs" : "within the error";
  return el(
    "tr",
    { class: number.differs ? "differs" : null },
    el("th", { scope: "row" }, outside(number.subject, "name")),
    el("td", { "data-label": "number" }, outside(number.what)),
    side("green"),
    side("red"),
    el("td", { class: "number", "data-label": "change" }, change_text),
    el("td", { class: number.differs ? "" : "muted", "data-label": "told apart" }, told),
  );
}

/** The numbers of two reports side by side, and whether they can be told apart. */
export function numbers_table(compared: ComparedSnapshot): HTMLElement {
  const section = el("section", {}, el("h3", {}, "Numbers side by side"));
  if (compared.numbers.length === 0) {
    section.append(el("p", { class: "absent" }, "No number of either can be compared."));
    return section;
  }
  const heads: [string, string | null][] = [
    ["Subject", null],
    ["Number", null],
    ["green", "number"],
    ["red", "number"],
    ["Change", "number"],
    ["", null],
  ];
  section.append(
    el(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Numbers side by side" },
      el(
        "table",
        { class: "compared" },
        el("caption", {}, "Change: red less green. A number that differs does so by more than both errors together."),
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            ...heads.map(([head, kind]) =>
              el("th", { scope: "col", class: kind }, head || el("span", { class: "hidden" }, "Told apart")),
            ),
          ),
        ),
        el("tbody", {}, ...compared.numbers.map(number_row)),
      ),
    ),
  );
  return section;
}

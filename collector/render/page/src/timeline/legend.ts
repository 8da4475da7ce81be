import { el, outside } from "../dom";
import { swatch } from "../parts/bar";
import type { ChartSpec } from "./layers";
import type { TimeCursor, TimeRange } from "./range";
import type { Steps } from "./steps";

/** A chart's title, and for each layer its number: at the moment that is pointed at, else the mean of what is shown. */
export function live_legend(spec: ChartSpec, steps: Steps, range: TimeRange, cursor: TimeCursor): HTMLElement {
  const list = el("ul", { class: "numbers legend" });
  const numbers = spec.layers.map((layer) => {
    const number = el("span", { class: "number" });
    const mark = layer.kind === "none" ? null : swatch(layer.draw === "line" ? `line-${layer.kind}` : layer.kind);
    list.append(el("li", {}, mark, el("span", {}, layer.words), number));
    return number;
  });
  const show = (): void => {
    const step = steps.at(cursor.at);
    spec.layers.forEach((layer, at) => {
      const number = numbers[at];
      if (!number) return;
      const value = step === null ? steps.mean(layer.values, range.shown.from, range.shown.to) : layer.values[step];
      number.textContent = layer.format(value);
      number.classList.toggle("absent", value === null || value === undefined);
    });
  };
  range.listen(show);
  cursor.listen(show);
  show();
  const title =
    spec.node === undefined
      ? el("h4", {}, spec.title)
      : el("h4", {}, outside(spec.node, "name"), el("span", { class: "muted" }, `, ${spec.title}`));
  return el(
    "div",
    { class: "chart-head" },
    title,
    list,
    spec.absent.length > 0 ? el("p", { class: "absent small" }, `Not read: ${spec.absent.join(", ")}.`) : null,
  );
}

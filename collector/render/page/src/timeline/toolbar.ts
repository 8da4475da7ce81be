import { el } from "../dom";
import type { TimeCursor, TimeRange } from "./range";
import type { Steps } from "./steps";

function button(words: string, label: string, keys: string, act: () => void): HTMLElement {
  const made = el(
    "button",
    { type: "button", class: "tool", "aria-label": label, title: keys ? `${label} (${keys})` : label },
    words,
  );
  made.addEventListener("click", act);
  return made;
}

/** What is shown, the moment that is pointed at, and the ways to change both. */
export function toolbar(steps: Steps, range: TimeRange, cursor: TimeCursor): HTMLElement {
  const shown = el("span", { class: "shown" });
  const moment = el("span", { class: "moment" });
  const reset = button("Show all", "Show the whole timeline", "0 or Escape", () => range.reset());
  const show_range = (): void => {
    const { from, to } = range.shown;
    const digits = to - from < 60 ? 1 : 0;
    shown.textContent = `${from.toFixed(digits)}–${to.toFixed(digits)} s, ${steps.clock(from).replace(" UTC", "")}–${steps.clock(to)}`;
    reset.toggleAttribute("disabled", !range.zoomed);
  };
  const show_moment = (): void => {
    const step = steps.at(cursor.at);
    moment.textContent =
      cursor.at === null
        ? "numbers: means of what is shown"
        : step === null
          ? `${cursor.at.toFixed(1)} s: no step`
          : `at ${steps.words(step)}`;
  };
  range.listen(show_range);
  cursor.listen(show_moment);
  show_range();
  show_moment();
  return el(
    "div",
    { class: "toolbar" },
    el(
      "div",
      { class: "tools controls", role: "group", "aria-label": "What the timeline shows" },
      button("◀", "Earlier", "left arrow", () => range.pan(-0.25)),
      button("▶", "Later", "right arrow", () => range.pan(0.25)),
      button("+", "Zoom in", "+", () => range.zoom(0.5, cursor.at)),
      button("−", "Zoom out", "-", () => range.zoom(2, cursor.at)),
      reset,
    ),
    shown,
    moment,
  );
}

/** The keys of a timeline, where it or something in it has the focus. */
export function timeline_keys(section: HTMLElement, range: TimeRange, cursor: TimeCursor): void {
  const acts: Record<string, () => void> = {
    ArrowLeft: () => range.pan(-0.1),
    ArrowRight: () => range.pan(0.1),
    "+": () => range.zoom(0.5, cursor.at),
    "=": () => range.zoom(0.5, cursor.at),
    "-": () => range.zoom(2, cursor.at),
    _: () => range.zoom(2, cursor.at),
    "0": () => range.reset(),
    Escape: () => range.reset(),
  };
  section.addEventListener("keydown", (event) => {
    const act = acts[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
}

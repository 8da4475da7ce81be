import { Lazy } from "./dom";
import { paint_all } from "./redraw";
import { apply_scheme } from "./theme";

const paper_width = 680; // CSS pixels: what an A4 or letter page has between its margins

let opened: HTMLDetailsElement[] | null = null;

/** Everything unfolded, black on white, charts as wide as the paper. */
function before(): void {
  if (opened) return;
  Lazy.fill_all();
  opened = [...document.querySelectorAll<HTMLDetailsElement>("details:not([open])")];
  for (const details of opened) details.open = true;
  apply_scheme("light");
  paint_all(paper_width);
}

function after(): void {
  if (!opened) return;
  for (const details of opened) details.open = false;
  opened = null;
  apply_scheme();
  paint_all();
}

export function watch_printing(): void {
  addEventListener("beforeprint", before);
  addEventListener("afterprint", after);
  matchMedia("print").addEventListener("change", (event) => (event.matches ? before() : after()));
}

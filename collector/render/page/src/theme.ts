import { forget_colours } from "./colours";
import { el } from "./dom";
import { paint_all } from "./redraw";

export type Scheme = "light" | "dark";

const dark_wanted = matchMedia("(prefers-color-scheme: dark)");
let chosen: Scheme | null = null; // by the button; it lasts as long as the page is open

export function scheme(): Scheme {
  return chosen ?? (dark_wanted.matches ? "dark" : "light");
}

/** Sets the scheme of the style, and forgets the colours that canvases were painted with. */
export function apply_scheme(forced?: Scheme): void {
  document.documentElement.dataset["scheme"] = forced ?? scheme();
  forget_colours();
}

export function scheme_button(): HTMLElement {
  const button = el("button", { type: "button", class: "tool controls scheme" });
  const name = (): void => {
    const other = scheme() === "dark" ? "light" : "dark";
    button.textContent = other === "dark" ? "◐ Dark" : "◑ Light";
    button.setAttribute("aria-label", `Show the page in ${other} colours`);
  };
  const change = (): void => {
    apply_scheme();
    name();
    paint_all();
  };
  button.addEventListener("click", () => {
    chosen = scheme() === "dark" ? "light" : "dark";
    change();
  });
  dark_wanted.addEventListener("change", change);
  name();
  return button;
}

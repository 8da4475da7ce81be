import { visible } from "./format";

/** Elements are made here alone, and text gets into them as text nodes alone: nothing is ever parsed as markup. */

export type Child = Element | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined>;

function put(element: Element, attributes: Attributes, children: readonly Child[]): void {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, String(value));
  }
  for (const child of children) if (child) element.append(child);
}

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  put(element, attributes, children);
  return element;
}

const long = 600; // characters; longer ones get a box that scrolls

/** Words from outside, whole: kept apart from the direction of what stands around them, and cut by style alone. */
export function outside(text: string, kind = ""): HTMLElement {
  const name = kind === "name";
  const scrolls = text.length > long && !name;
  return el(
    "bdi",
    {
      class: `outside ${kind} ${scrolls ? "long" : ""}`.trim(),
      tabindex: scrolls ? 0 : null,
      title: name && text.length > 24 ? visible(text.slice(0, long)) : null,
    },
    visible(text),
  );
}

/** A folded part whose body is made when it is first needed: unfolded, printed, or time is left. */
export class Lazy {
  private static readonly pending = new Set<Lazy>();

  constructor(
    private readonly details: HTMLDetailsElement,
    private readonly make: () => Child[],
  ) {
    Lazy.pending.add(this);
    details.addEventListener("toggle", () => {
      if (details.open) this.fill();
    });
  }

  fill(): void {
    if (!Lazy.pending.delete(this)) return;
    for (const child of this.make()) if (child) this.details.append(child);
  }

  static fill_all(): void {
    for (const lazy of [...Lazy.pending]) lazy.fill();
  }

  /** Fills the rest piece by piece, so that a search in the page finds what is folded. */
  static fill_when_idle(): void {
    const [next] = Lazy.pending;
    if (!next) return;
    next.fill();
    setTimeout(() => Lazy.fill_when_idle(), 0);
  }
}

export function folded(summary: Child[], make: () => Child[], attributes: Attributes = {}): HTMLDetailsElement {
  const details = el("details", attributes, el("summary", {}, ...summary));
  new Lazy(details, make);
  return details;
}

/** Opens whatever an element is folded into, and goes there. */
export function reveal(element: HTMLElement): void {
  for (let at: HTMLElement | null = element; at; at = at.parentElement) {
    if (at instanceof HTMLDetailsElement) at.open = true;
  }
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  element.scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
  const focused = element instanceof HTMLDetailsElement ? element.querySelector("summary") : element;
  focused?.focus({ preventScroll: true });
}

let last_id = 0;
/** An id that no text from outside has a part in. */
export function new_id(kind: string): string {
  last_id += 1;
  return `${kind}-${last_id}`;
}

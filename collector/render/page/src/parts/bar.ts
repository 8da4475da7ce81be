import { el } from "../dom";
import { percent } from "../format";

/** A part of a bar; `inside` is a share of the same whole that is contained in it and shown as a part of it. */
export interface Segment {
  kind: string;
  words: string;
  share: number;
  inside?: { kind: string; words: string; share: number } | undefined;
}

const too_small = 0.0005; // of the whole: narrower than any pixel

function inside_mark(segment: Segment): HTMLElement | null {
  const { inside } = segment;
  if (!inside || inside.share < too_small || segment.share <= 0) return null;
  const mark = el("span", { class: `bar-inside kind-${inside.kind}` });
  mark.style.width = `${100 * Math.min(1, inside.share / segment.share)}%`;
  return mark;
}

/** One stacked bar. Its numbers stand beside it, so that it is a picture of what is said in words anyway. */
export function stacked_bar(what: string, segments: Segment[]): HTMLElement {
  const bar = el("div", { class: "bar", role: "img", "aria-label": describe(what, segments) });
  let total = 0;
  for (const segment of segments) {
    total += segment.share;
    if (segment.share < too_small) continue;
    const piece = el("span", {
      class: `bar-piece kind-${segment.kind}`,
      title: `${segment.words} ${percent(segment.share)}`,
    });
    piece.style.flexGrow = String(segment.share);
    const mark = inside_mark(segment);
    if (mark) piece.append(mark);
    bar.append(piece);
  }
  if (total < 0.995) {
    const rest = el("span", { class: "bar-piece kind-not_read", title: `not read ${percent(1 - total)}` });
    rest.style.flexGrow = String(1 - total);
    bar.append(rest);
  }
  return bar;
}

function describe(what: string, segments: Segment[]): string {
  const words = segments.map(
    ({ words: name, share, inside }) =>
      `${name} ${percent(share)}${inside ? ` (of which ${inside.words} ${percent(inside.share)})` : ""}`,
  );
  return words.length === 0 ? `${what}: not read` : `${what}: ${words.join(", ")}`;
}

export function swatch(kind: string): HTMLElement {
  return el("span", { class: `swatch kind-${kind}`, "aria-hidden": "true" });
}

export function legend_of(entries: [kind: string, words: string, means: string][]): HTMLElement {
  return el(
    "ul",
    { class: "legend", "aria-label": "Legend" },
    ...entries.map(([kind, words, means]) =>
      el("li", {}, swatch(kind), el("span", {}, words), means ? el("span", { class: "muted" }, means) : null),
    ),
  );
}

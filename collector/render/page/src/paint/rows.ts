import { pixel } from "../colours";
import { behind } from "./columns";

/** The colours of a row's parts, from the bottom up; null is striped: halted or other. */
export interface Ink {
  parts: (number | null)[];
  background: number;
  line: number;
  halted: number;
  other: number;
  gap: "means" | "empty"; // what stands in a step with missing ticks
}

export function ink_for(kinds: string[], gap: Ink["gap"]): Ink {
  return {
    parts: kinds.map((kind) => (kind === "halted_or_other" ? null : pixel(kind))),
    gap,
    background: pixel("surface"),
    line: pixel("muted"),
    halted: pixel("halted"),
    other: pixel("other"),
  };
}

/** From the bottom up a share of the height for each part; above them, hatched, what was not read. */
function paint_parts(
  pixels: Uint32Array,
  count: number,
  x: number,
  height: number,
  shares: Float32Array,
  at: number,
  ink: Ink,
): void {
  const covered = Math.min(1, shares[at + ink.parts.length + behind.covered] ?? 0);
  const top = covered > 0.99 ? height : Math.round(covered * height);
  let sum = 0;
  let from = 0;
  for (let part = 0; part < ink.parts.length; part += 1) {
    sum += shares[at + part] ?? 0;
    const to = sum > 0.98 * covered ? top : Math.round(Math.min(1, sum) * height);
    const flat = ink.parts[part];
    for (let y = from; y < to; y += 1) {
      pixels[(height - 1 - y) * count + x] = flat ?? ((x + y) % 6 < 2 ? ink.other : ink.halted);
    }
    from = Math.max(from, to);
  }
  for (let y = from; y < height; y += 1) {
    pixels[(height - 1 - y) * count + x] = y < top && (x + y) % 7 < 2 ? ink.line : ink.background;
  }
}

function paint_gap(pixels: Uint32Array, count: number, x: number, height: number, ink: Ink): void {
  for (let y = 0; y < height; y += 1) {
    const at = (height - 1 - y) * count + x;
    const struck = (x - y + 8 * height) % 8 < 2;
    if (ink.gap === "means" && struck) pixels[at] = ink.background;
    if (ink.gap === "empty") pixels[at] = struck ? ink.line : ink.background;
  }
}

/** A row of `count` columns as an image: much cheaper than as many paths. */
export function paint_row(
  context: CanvasRenderingContext2D,
  shares: Float32Array,
  count: number,
  left: number,
  top: number,
  height: number,
  ink: Ink,
): void {
  const image = context.createImageData(count, height);
  const pixels = new Uint32Array(image.data.buffer);
  const width = ink.parts.length + behind.count;
  for (let x = 0; x < count; x += 1) {
    paint_parts(pixels, count, x, height, shares, x * width, ink);
    if ((shares[x * width + ink.parts.length + behind.gap] ?? 0) > 0) paint_gap(pixels, count, x, height, ink);
  }
  context.putImageData(image, left, top);
}

/** Colours are custom properties of the style; a canvas asks for them here, again after each change of the scheme. */

const known = new Map<string, string>();

export function colour(name: string): string {
  let value = known.get(name);
  if (value === undefined) {
    value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() || "#888888";
    known.set(name, value);
  }
  return value;
}

/** As one pixel of ImageData on a little-endian machine, from #rrggbb. */
export function pixel(name: string): number {
  const hex = colour(name);
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  return ((255 << 24) | ((b ?? 0) << 16) | ((g ?? 0) << 8) | (r ?? 0)) >>> 0;
}

export function forget_colours(): void {
  known.clear();
}

/** What is painted on canvases and is to be painted again when scheme or width change. */

interface Painted {
  /** At a given width in CSS pixels; the element's own where undefined. */
  paint: (width: number | undefined) => void;
}

const all: Painted[] = [];

export function register(painted: Painted): void {
  all.push(painted);
}

export function paint_all(width?: number): void {
  for (const painted of all) painted.paint(width);
}

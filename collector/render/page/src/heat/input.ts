import { gutter } from "../timeline/marks";
import { moment_at, tell, type HeatMap } from "./map";
import type { Row } from "./paint";

function row_at(map: HeatMap, y: number): Row | null {
  return map.layout.rows.find((row) => y >= row.top && y < row.top + map.layout.row + 2) ?? null;
}

/** Pointing tells of a cell; dragging shows the seconds between alone; a double click shows all. */
export function heat_pointer(map: HeatMap): void {
  const { canvas, range, cursor, selection } = map;
  let begun: number | null = null;
  const inside = (event: PointerEvent): [number, number] => {
    const box = canvas.getBoundingClientRect();
    const x = Math.min(Math.max(event.clientX - box.left, gutter.left), gutter.left + map.width());
    return [x, event.clientY - box.top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    begun = inside(event)[0];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = inside(event);
    const moment = moment_at(map, x);
    cursor.set(moment);
    tell(map, row_at(map, y), map.steps.at(moment), false);
    selection.hidden = begun === null;
    if (begun === null) return;
    selection.style.left = `${Math.min(begun, x)}px`;
    selection.style.width = `${Math.abs(x - begun)}px`;
  });
  const end = (event: PointerEvent, done: boolean): void => {
    const from = begun;
    begun = null;
    selection.hidden = true;
    const x = inside(event)[0];
    if (!done || from === null || Math.abs(x - from) < 5) return;
    range.set(moment_at(map, Math.min(from, x)), moment_at(map, Math.max(from, x)));
  };
  canvas.addEventListener("pointerup", (event) => end(event, true));
  canvas.addEventListener("pointercancel", (event) => end(event, false));
  canvas.addEventListener("pointerleave", () => {
    if (begun !== null) return;
    cursor.set(null);
    tell(map, null, null, false);
  });
  canvas.addEventListener("dblclick", () => range.reset());
}

const moves: Record<string, [rows: number, steps: number]> = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  PageUp: [0, -10],
  PageDown: [0, 10],
  Home: [0, -Infinity],
  End: [0, Infinity],
};

/** The arrow keys go from cell to cell, and take the range along. */
export function heat_keys(map: HeatMap): void {
  const { canvas, range, cursor, steps, layout } = map;
  let row = 0;
  let step: number | null = null;
  const show = (): void => {
    if (step === null) step = steps.last_before(range.shown.from + 1e-6);
    const { from, to } = range.shown;
    if (steps.from(step) < from - 1e-6 || steps.to(step) > to + 1e-6) {
      const middle = (steps.from(step) + steps.to(step)) / 2;
      range.set(middle - (to - from) / 2, middle + (to - from) / 2);
    }
    cursor.set((steps.from(step) + steps.to(step)) / 2);
    tell(map, layout.rows[row] ?? null, step, true);
  };
  canvas.addEventListener("keydown", (event) => {
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    const outside = step === null || steps.to(step) <= range.shown.from || steps.from(step) >= range.shown.to;
    if (outside && Number.isFinite(move[1])) step = steps.last_before(range.shown.from + 1e-6);
    else step = Math.min(steps.count - 1, Math.max(0, (step ?? 0) + move[1]));
    row = Math.min(layout.rows.length - 1, Math.max(0, row + move[0]));
    show();
  });
  canvas.addEventListener("blur", () => {
    cursor.set(null);
    tell(map, null, null, false);
  });
}

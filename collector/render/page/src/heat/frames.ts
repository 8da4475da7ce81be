import { el } from "../dom";
import { gutter, type Mark } from "../timeline/marks";
import { x_of, type HeatMap } from "./map";

/** Frames each finding's seconds over all rows of the map; gives back what puts them in their places. */
export function mark_frames(map: HeatMap, stage: HTMLElement, marks: Mark[]): () => void {
  const frames = marks.map((mark) => ({ mark, frame: el("div", { class: "heat-mark", "aria-hidden": "true" }) }));
  stage.append(...frames.map(({ frame }) => frame));
  return () => {
    const { from, to } = map.range.shown;
    for (const { mark, frame } of frames) {
      frame.hidden = mark.to < from || mark.from > to;
      const left = Math.max(gutter.left, x_of(map, mark.from));
      const right = Math.min(gutter.left + map.width(), x_of(map, mark.to));
      frame.style.left = `${left}px`;
      frame.style.width = `${Math.max(right - left, 2)}px`;
    }
  };
}

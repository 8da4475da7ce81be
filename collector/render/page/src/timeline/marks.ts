import type { Finding } from "../data";
import { el } from "../dom";
import { register } from "../redraw";
import type { TimeRange } from "./range";

/** A finding with its seconds, numbered as on the page. */
export interface Mark {
  finding: Finding;
  number: number;
  from: number;
  to: number;
  open: () => void;
}

const words_room = 124; // CSS pixels that the words of a mark need

export const gutter = { left: 56, right: 12 };

/** Lanes in which no two marks are in each other's way, as far as their words need room. */
function lanes_of(marks: Mark[], words_need: number): number[] {
  const ends: number[] = [];
  return marks.map((mark) => {
    const free = ends.findIndex((end) => end <= mark.from);
    const lane = free < 0 ? ends.length : free;
    ends[lane] = Math.max(mark.to, mark.from + words_need);
    return lane;
  });
}

/** A strip of buttons above the charts, one for each finding that has its seconds. */
export function mark_strip(marks: Mark[], range: TimeRange): HTMLElement | null {
  if (marks.length === 0) return null;
  const strip = el("div", { class: "marks", role: "group", "aria-label": "Findings on the timeline" });
  const track = el("div", { class: "marks-track" });
  strip.append(track);
  const sorted = [...marks].sort((a, b) => a.from - b.from);
  const buttons = sorted.map((mark) => {
    const button = el("button", {
      type: "button",
      class: `mark level-${mark.finding.level}`,
      title: `${mark.from.toFixed(1)}–${mark.to.toFixed(1)} s: ${mark.finding.says}`,
    });
    button.append(el("span", { class: "mark-number" }, String(mark.number)), ` ${mark.finding.id}`);
    button.addEventListener("click", mark.open);
    track.append(button);
    return button;
  });
  const place = (): void => {
    const { from, to } = range.shown;
    const width = to - from;
    const room = words_room / Math.max(track.clientWidth, words_room); // a share of what is shown
    const lanes = lanes_of(sorted, width * room);
    sorted.forEach((mark, at) => {
      const button = buttons[at];
      if (!button) return;
      button.hidden = mark.to < from || mark.from > to;
      const left = Math.max(0, (mark.from - from) / width);
      button.style.left = `${100 * Math.min(left, 1 - room)}%`;
      button.style.width = `${100 * (Math.min(1, (mark.to - from) / width) - left)}%`;
      button.style.top = `${24 * (lanes[at] ?? 0)}px`;
    });
    track.style.height = `${24 * (Math.max(0, ...lanes) + 1)}px`;
  };
  range.listen(place);
  register({ paint: place });
  return strip;
}

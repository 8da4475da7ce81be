import type uPlot from "uplot";
import { colour } from "../colours";
import { plain } from "../format";
import type { Mark } from "./marks";
import type { Steps } from "./steps";

function clipped(u: uPlot, draw: (context: CanvasRenderingContext2D) => void): void {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  draw(ctx);
  ctx.restore();
}

/** Lines at an angle over a rectangle of a canvas, clipped to it. */
function hatch(
  context: CanvasRenderingContext2D,
  left: number,
  top: number,
  width: number,
  height: number,
  apart: number,
): void {
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  context.beginPath();
  for (let x = left - height; x < left + width; x += apart) {
    context.moveTo(x, top + height);
    context.lineTo(x + height, top);
  }
  context.stroke();
  context.restore();
}

/** Under the lines: the steps in which ticks are missing. */
export function draw_gaps(u: uPlot, steps: Steps): void {
  clipped(u, (context) => {
    context.strokeStyle = colour("muted");
    context.lineWidth = devicePixelRatio;
    for (let step = 0; step < steps.count; step += 1) {
      if (!steps.is_gap(step)) continue;
      const left = u.valToPos(steps.from(step), "x", true);
      const right = u.valToPos(steps.to(step), "x", true);
      if (right < u.bbox.left || left > u.bbox.left + u.bbox.width) continue;
      hatch(context, left, u.bbox.top, Math.max(right - left, 1), u.bbox.height, 7 * devicePixelRatio);
    }
  });
}

/** Over the lines: each finding's seconds as a frame with its id, where there is room for the words. */
export function draw_marks(u: uPlot, marks: Mark[]): void {
  clipped(u, (context) => {
    const ratio = devicePixelRatio;
    context.font = `${11 * ratio}px system-ui, sans-serif`;
    context.textBaseline = "top";
    context.textAlign = "left";
    let free = -Infinity;
    for (const mark of [...marks].sort((a, b) => a.from - b.from)) {
      const left = u.valToPos(mark.from, "x", true);
      const width = Math.max(u.valToPos(mark.to, "x", true) - left, 2 * ratio);
      context.fillStyle = colour("mark-fill");
      context.fillRect(left, u.bbox.top, width, u.bbox.height);
      context.strokeStyle = colour("text");
      context.lineWidth = ratio;
      context.setLineDash([3 * ratio, 3 * ratio]);
      context.strokeRect(left, u.bbox.top + ratio / 2, width, u.bbox.height - ratio);
      context.setLineDash([]);
      const words = `${mark.number} ${plain(mark.finding.id, 32)}`;
      const room = context.measureText(words).width + 6 * ratio;
      const begin = Math.min(Math.max(left, u.bbox.left), u.bbox.left + u.bbox.width - room);
      if (begin < free || left + width < u.bbox.left || left > u.bbox.left + u.bbox.width) continue;
      context.fillStyle = colour("surface");
      context.fillRect(begin + ratio, u.bbox.top + 2 * ratio, room, 15 * ratio);
      context.fillStyle = colour("text");
      context.fillText(words, begin + 4 * ratio, u.bbox.top + 4 * ratio);
      free = begin + room;
    }
  });
}

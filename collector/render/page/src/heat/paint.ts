import { colour, pixel } from "../colours";
import type { NodeSeries, VcpuSeries } from "../data";
import { plain } from "../format";
import { step_states } from "../states";
import { gutter } from "../timeline/marks";
import type { Span } from "../timeline/range";
import type { Steps } from "../timeline/steps";
import { columns } from "./columns";

/** A vCPU's row, in CSS pixels from the top of the canvas. */
export interface Row {
  node: NodeSeries;
  vcpu: VcpuSeries;
  top: number;
}

export interface Layout {
  rows: Row[];
  heads: { node: NodeSeries; top: number }[];
  row: number; // height
  height: number;
}

export function layout_of(nodes: NodeSeries[]): Layout {
  const count = nodes.reduce((sum, node) => sum + node.vcpus.length, 0);
  const row = count <= 12 ? 18 : count <= 48 ? 13 : 8;
  const layout: Layout = { rows: [], heads: [], row, height: 0 };
  let top = 0;
  for (const node of nodes) {
    layout.heads.push({ node, top });
    top += 18;
    for (const vcpu of node.vcpus) {
      layout.rows.push({ node, vcpu, top });
      top += row + 2;
    }
    top += 6;
  }
  layout.height = Math.max(top, 1);
  return layout;
}

interface Ink {
  states: number[];
  background: number;
  line: number;
  halted: number;
  other: number;
}

function ink(): Ink {
  return { states: step_states.map((state) => (state === "halted_or_other" ? 0 : pixel(state))), background: pixel("surface"),
    line: pixel("muted"), halted: pixel("halted"), other: pixel("other") };
}

const unsure = step_states.indexOf("halted_or_other");

/** From the bottom up: a share of the row's height for each state; above it, hatched, what was not read. */
function paint_column(pixels: Uint32Array, stride: number, x: number, height: number, shares: Float32Array, at: number, inks: Ink): void {
  let sum = 0;
  let from = 0;
  for (let state = 0; state < step_states.length; state += 1) {
    sum += shares[at + state] ?? 0;
    const to = sum > 0.98 ? height : Math.round(Math.min(1, sum) * height);
    for (let y = from; y < to; y += 1) {
      const flat = inks.states[state] ?? 0;
      const stripe = (x + y) % 6 < 2 ? inks.other : inks.halted;
      pixels[(height - 1 - y) * stride + x] = state === unsure ? stripe : flat;
    }
    from = Math.max(from, to);
  }
  for (let y = from; y < height; y += 1) {
    pixels[(height - 1 - y) * stride + x] = (x + y) % 7 < 2 ? inks.line : inks.background;
  }
  if ((shares[at + step_states.length] ?? 0) <= 0) return;
  for (let y = 0; y < height; y += 1) if ((x - y + 8 * height) % 8 < 2) pixels[y * stride + x] = inks.background;
}

function paint_words(context: CanvasRenderingContext2D, layout: Layout, ratio: number): void {
  context.textBaseline = "middle";
  context.fillStyle = colour("text");
  context.font = `600 ${12 * ratio}px system-ui, sans-serif`;
  context.textAlign = "left";
  for (const { node, top } of layout.heads) context.fillText(plain(node.name), gutter.left * ratio, (top + 9) * ratio);
  context.font = `${Math.min(11, layout.row) * ratio}px system-ui, sans-serif`;
  context.fillStyle = colour("muted");
  context.textAlign = "right";
  for (const { vcpu, top } of layout.rows) {
    context.fillText(String(vcpu.index), (gutter.left - 8) * ratio, (top + layout.row / 2) * ratio);
  }
}

/** Paints all rows for the span that is shown; gives back nothing where there is no canvas to be had. */
export function paint_heat(canvas: HTMLCanvasElement, layout: Layout, steps: Steps, shown: Span, width: number): void {
  const ratio = Math.max(1, window.devicePixelRatio || 1);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(layout.height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${layout.height}px`;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.fillStyle = colour("surface");
  context.fillRect(0, 0, canvas.width, canvas.height);
  paint_words(context, layout, ratio);
  const left = Math.round(gutter.left * ratio);
  const count = canvas.width - left - Math.round(gutter.right * ratio);
  const height = Math.round(layout.row * ratio);
  const inks = ink();
  if (count <= 0) return;
  const image = context.createImageData(count, height);
  const pixels = new Uint32Array(image.data.buffer);
  for (const { vcpu, top } of layout.rows) {
    const shares = columns(vcpu, steps, shown, count);
    for (let x = 0; x < count; x += 1) paint_column(pixels, count, x, height, shares, x * (step_states.length + 1), inks);
    context.putImageData(image, left, Math.round(top * ratio));
  }
}

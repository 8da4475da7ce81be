import { colour } from "../colours";
import type { NodeSeries, VcpuSeries } from "../data";
import { plain } from "../format";
import { columns } from "../paint/columns";
import { ink_for, paint_row } from "../paint/rows";
import { step_states } from "../states";
import { gutter } from "../timeline/marks";
import type { Span } from "../timeline/range";
import type { Steps } from "../timeline/steps";

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

/** Paints all rows for the span that is shown. */
export function paint_heat(canvas: HTMLCanvasElement, layout: Layout, steps: Steps, shown: Span, width: number): void {
  const ratio = Math.max(1, window.devicePixelRatio || 1);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(layout.height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${layout.height}px`;
  canvas.dataset["from"] = String(shown.from);
  canvas.dataset["to"] = String(shown.to);
  const context = canvas.getContext("2d");
  if (!context) return;
  context.fillStyle = colour("surface");
  context.fillRect(0, 0, canvas.width, canvas.height);
  paint_words(context, layout, ratio);
  const left = Math.round(gutter.left * ratio);
  const count = canvas.width - left - Math.round(gutter.right * ratio);
  const height = Math.round(layout.row * ratio);
  if (count <= 0) return;
  const ink = ink_for([...step_states], "means");
  for (const { vcpu, top } of layout.rows) {
    const shares = columns(
      step_states.map((state) => vcpu[state]),
      steps,
      shown,
      count,
    );
    paint_row(context, shares, count, left, Math.round(top * ratio), height, ink);
  }
}

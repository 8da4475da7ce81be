import type { Timeline } from "../data";
import { el, type Child } from "../dom";
import { day_and_clock } from "../format";
import { heat_map } from "../heat/map";
import { chart } from "./chart";
import { chart_specs, type Tops } from "./layers";
import { live_legend } from "./legend";
import { mark_strip, type Mark } from "./marks";
import type { TimeCursor, TimeRange } from "./range";
import { Steps } from "./steps";
import { timeline_keys, toolbar } from "./toolbar";

const help =
  "Drag over a chart or the map to zoom, double-click to show all. With the timeline focused: ← → move, + − zoom, " +
  "0 or Escape shows all. With the map focused the arrow keys, Home and End go from cell to cell.";

function notes(timeline: Timeline, steps: Steps): string[] {
  const said = [
    `Begins at ${day_and_clock(timeline.epoch_seconds)}; read every ${timeline.interval_seconds} s${timeline.slowed ? " at first, less often towards the end for the sake of the file's size" : ""}, ${steps.count} steps` +
      `${timeline.merged > 1 ? `, each made of ${timeline.merged} readings` : ""}.`,
  ];
  if (timeline.gaps.length > 0) {
    said.push(
      `Ticks are missing in ${timeline.gaps.length} step${timeline.gaps.length === 1 ? "" : "s"}: hatched, and no line is drawn there.`,
    );
  }
  if (steps.count > 500) {
    said.push("Where one pixel holds several steps, a line is their mean and the field around it their range.");
  }
  if (timeline.nodes_left_out > 0) said.push(`${timeline.nodes_left_out} nodes are left out.`);
  return said;
}

/** The seconds between the samples. `marks` are the findings that have their seconds. */
export function timeline_section(
  timeline: Timeline,
  marks: Mark[],
  tops: Tops,
  range: TimeRange,
  cursor: TimeCursor,
  head: Child[],
): HTMLElement {
  const steps = new Steps(timeline);
  const section = el("section", { class: "timeline" }, el("h3", {}, ...head));
  if (steps.count === 0) {
    section.append(el("p", { class: "absent" }, "The timeline holds no step."));
    return section;
  }
  const body = el("div", { class: "timeline-body", tabindex: 0, role: "group", "aria-label": `Timeline. ${help}` });
  body.append(toolbar(steps, range, cursor));
  const strip = mark_strip(marks, range);
  if (strip) body.append(strip);
  for (const spec of chart_specs(timeline, tops)) {
    const name = spec.node === undefined ? spec.title : `${spec.node}, ${spec.title}`;
    body.append(
      el(
        "div",
        { class: "chart-block", role: "group", "aria-label": `Chart: ${name}` },
        live_legend(spec, steps, range, cursor),
        chart(spec, steps, marks, range, cursor),
      ),
    );
  }
  const heat = heat_map(timeline, steps, marks, range, cursor);
  if (heat) body.append(heat);
  timeline_keys(body, range, cursor);
  section.append(
    el("p", { class: "muted small" }, notes(timeline, steps).join(" ")),
    el("p", { class: "muted small controls" }, help),
    body,
  );
  return section;
}

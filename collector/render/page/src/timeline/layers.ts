import type { NodeSeries, Series, SeriesSet, Timeline, VcpuSeries } from "../data";
import { cpus, mebibytes, permille, rate } from "../format";
import { state_words, step_states, type StepState } from "../states";

/** One quantity of a chart. `draw` "none" is named in the legend with its number and not drawn. */
export interface Layer {
  kind: string;
  words: string;
  values: Series;
  draw: "stack" | "line" | "none";
  dash?: number[];
  format: (value: number | null | undefined) => string;
}

export interface ChartSpec {
  title: string;
  node?: string; // a name from outside, shown behind the title
  unit: "share" | "memory";
  layers: Layer[];
  top: number; // of the y axis, in the unit of the values
  absent: string[];
}

const permille_format = (value: number | null | undefined): string => permille(value);

function layers_of(
  set: SeriesSet | undefined,
  keys: [key: string, words: string, dash?: number[]][],
  draw: Layer["draw"],
): [Layer[], string[]] {
  const layers: Layer[] = [];
  const absent: string[] = [];
  for (const [key, words, dash] of keys) {
    const values = set?.[key];
    if (values) layers.push({ kind: key, words, values, draw, format: permille_format, ...(dash ? { dash } : {}) });
    else absent.push(words);
  }
  return [layers, absent];
}

function runner_chart(timeline: Timeline): ChartSpec | null {
  const [layers, absent] = layers_of(
    timeline.runner,
    [
      ["user", "user"],
      ["system", "system"],
      ["interrupts", "interrupts"],
      ["iowait", "iowait"],
      ["steal", "steal"],
      ["idle", "idle"],
    ],
    "stack",
  );
  return layers.length === 0 ? null : { title: "Runner, CPU time", unit: "share", layers, top: 1000, absent };
}

function pressure_chart(timeline: Timeline, top: number): ChartSpec | null {
  const [layers, absent] = layers_of(
    timeline.pressure,
    [
      ["cpu_some", "cpu some"],
      ["io_some", "io some"],
      ["io_full", "io full", [6, 4]],
      ["memory_some", "memory some"],
      ["memory_full", "memory full", [6, 4]],
    ],
    "line",
  );
  return layers.length === 0 ? null : { title: "Runner, tasks stalled (PSI)", unit: "share", layers, top, absent };
}

function memory_chart(timeline: Timeline, top: number): ChartSpec | null {
  const values = timeline.memory_available_mib;
  if (!values) return null;
  const layer: Layer = { kind: "memory", words: "memory available", values, draw: "line", format: mebibytes };
  return { title: "Runner, memory available", unit: "memory", layers: [layer], top, absent: [] };
}

/** What is known of a vCPU's step, of 1000; null where nothing is. */
function known_of(vcpu: VcpuSeries, step: number): number | null {
  let sum: number | null = null;
  for (const state of step_states) {
    const value = vcpu[state]?.[step];
    if (value !== null && value !== undefined) sum = (sum ?? 0) + value;
  }
  return sum;
}

/**
 * The mean of a state over a node's vCPUs. A state that was not read of a vCPU counts as nothing only where the rest of
 * that vCPU's step is known whole; else the mean is not known either.
 */
function mean_state(node: NodeSeries, state: StepState, known: (number | null)[][], count: number): Series | null {
  if (!node.vcpus.some((vcpu) => vcpu[state])) return null;
  const means: Series = new Array<number | null>(count).fill(null);
  for (let step = 0; step < count; step += 1) {
    let sum: number | null = 0;
    for (let at = 0; at < node.vcpus.length && sum !== null; at += 1) {
      const value = node.vcpus[at]?.[state]?.[step];
      if (value !== null && value !== undefined) sum += value;
      else if ((known[at]?.[step] ?? 0) < 980) sum = null;
    }
    means[step] = sum === null ? null : sum / node.vcpus.length;
  }
  return means;
}

function sum_of(vcpus: VcpuSeries[], count: number): Series | null {
  const lists = vcpus.map((vcpu) => vcpu.exits_per_second);
  if (lists.length === 0 || lists.some((list) => !list)) return null;
  return Array.from({ length: count }, (_, step) => {
    const values = lists.map((list) => list?.[step] ?? null);
    return values.includes(null) ? null : values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  });
}

function node_chart(node: NodeSeries, count: number): ChartSpec {
  const known = node.vcpus.map((vcpu) => Array.from({ length: count }, (_, step) => known_of(vcpu, step)));
  const layers: Layer[] = [];
  const absent: string[] = [];
  for (const state of step_states) {
    const values = mean_state(node, state, known, count);
    if (values) layers.push({ kind: state, words: state_words(state), values, draw: "stack", format: permille_format });
    else if (state === "ran" || state === "waited") absent.push(state);
  }
  const beside: [string, Series | null | undefined, Layer["format"]][] = [
    ["exits", sum_of(node.vcpus, count), rate],
    ["QEMU's other threads", node.others_cpus, cpus],
    ["control group", node.cgroup_cpus, cpus],
  ];
  if (node.throttled) {
    layers.push({
      kind: "throttled-line",
      words: "throttled (inside waited)",
      values: node.throttled,
      draw: "line",
      format: permille_format,
    });
  }
  for (const [words, values, format] of beside) {
    if (values) layers.push({ kind: "none", words, values, draw: "none", format });
  }
  return {
    title: `mean of ${node.vcpus.length} vCPU${node.vcpus.length === 1 ? "" : "s"}`,
    node: node.name,
    unit: "share",
    layers,
    top: 1000,
    absent,
  };
}

function most(list: Series | undefined): number {
  return (list ?? []).reduce<number>((top, value) => Math.max(top, value ?? 0), 0);
}

/** Tops of the y axes, so that two timelines can be drawn to one scale. */
export interface Tops {
  pressure: number;
  memory: number;
}

export function tops_of(timelines: Timeline[]): Tops {
  const pressure = Math.max(0, ...timelines.flatMap((timeline) => Object.values(timeline.pressure ?? {}).map(most)));
  const memory = Math.max(0, ...timelines.map((timeline) => most(timeline.memory_available_mib)));
  return { pressure: Math.min(1000, Math.max(100, Math.ceil(pressure / 100) * 100)), memory: memory * 1.05 || 1 };
}

export function chart_specs(timeline: Timeline, tops: Tops): ChartSpec[] {
  const count = timeline.starts.length;
  return [
    runner_chart(timeline),
    ...timeline.nodes.filter((node) => node.vcpus.length > 0).map((node) => node_chart(node, count)),
    pressure_chart(timeline, tops.pressure),
    memory_chart(timeline, tops.memory),
  ].filter((spec): spec is ChartSpec => spec !== null);
}

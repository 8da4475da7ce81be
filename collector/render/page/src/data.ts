/** What the binary puts into the page: "cozybracket.page/1". What is absent is left out, or null in a list. */

export type Level = "info" | "notice" | "warning";
export type Outcome = "complete" | "partial" | "empty" | "unavailable";

export interface Evidence {
  capture: string;
  scope?: string;
  field?: string;
  before?: number | string;
  after?: number | string;
}

export interface Finding {
  id: string;
  level: Level;
  subject?: string;
  says: string;
  evidence: Evidence[];
  does_not_prove?: string;
  timeline?: { from_seconds: number; to_seconds: number };
}

export interface Open {
  capture: string;
  sample: number;
  outcome: Outcome;
  reason?: string;
  consequence?: string;
}

/** Seconds of a thread's window; a part that is not told apart from others has a key such as halted_or_other_seconds. */
export interface Vcpu {
  index: number;
  tid: number;
  window_seconds?: number;
  guest_seconds?: number;
  halt_in_progress?: boolean;
  exits_per_second?: number;
  [part: string]: number | boolean | undefined;
}

export interface CgroupLevel {
  path?: string;
  throttled_seconds?: number;
  throttled_periods?: number;
  periods?: number;
  nodes?: number;
  quota?: string;
}

export interface Cgroup extends CgroupLevel {
  state: string;
  why?: string;
  usage_seconds?: number;
  quota_usec?: number;
  period_usec?: number;
  weight?: number;
  shares?: number;
  above?: CgroupLevel[];
  shared_with?: string[];
}

export interface OtherThread {
  kind: string;
  name?: string;
  tid: number;
  ran_seconds?: number;
  waited_seconds?: number;
}

export interface Node {
  name: string;
  state: string;
  pid?: number;
  evidence?: string[];
  notes?: string[];
  vcpus?: Vcpu[];
  exits_per_second?: number;
  other_threads?: OtherThread[];
  cgroup?: Cgroup;
  kvm?: { source?: string; rates?: Record<string, number> };
  [share: string]: unknown;
}

export interface Runner {
  cpus?: number;
  cpu_seconds?: Record<string, number>;
  steal?: { verdict: string; share?: number; clock?: string; clock_why?: string };
  pressure?: Record<string, number | string>;
  container_view?: string[];
  partial?: boolean;
  shape?: Record<string, number | string>;
}

export interface Snapshot {
  name: string;
  verdict?: string;
  markers?: string[];
  window?: { seconds: number; error_seconds: number; wall_clock?: boolean };
  captures: { name: string; sample: number; outcome: Outcome; epoch_begin_ns?: number }[];
  runner?: Runner;
  nodes?: Node[];
  findings: Finding[];
  open: Open[];
}

export interface Analysis {
  report?: { path: string; origin?: string; truncated: boolean; truncated_why?: string; notes?: string[]; refused?: string[] };
  snapshots: Snapshot[];
}

/** One item per step: permille, CPUs, MiB or exits per second. Null: not read. */
export type Series = (number | null)[];
export type SeriesSet = Record<string, Series | undefined>;

export interface VcpuSeries {
  index: number;
  ran?: Series;
  waited?: Series;
  halted?: Series;
  other?: Series;
  halted_or_other?: Series;
  exits_per_second?: Series;
}

export interface NodeSeries {
  name: string;
  vcpus: VcpuSeries[];
  others_cpus?: Series;
  cgroup_cpus?: Series;
  throttled?: Series;
}

export interface Timeline {
  snapshot: string;
  epoch_seconds: number;
  boottime_seconds: number;
  interval_seconds: number;
  merged: number;
  nodes_left_out: number;
  starts: number[];
  lengths: number[];
  gaps: number[];
  runner?: SeriesSet;
  pressure?: SeriesSet;
  memory_available_mib?: Series;
  nodes: NodeSeries[];
}

export interface Capture {
  snapshot: string;
  capture: string;
  sample: number;
  file?: string;
  outcome: Outcome;
  reason?: string;
  title?: string;
  layer?: string;
  source?: string;
  legend?: string[];
  text?: string;
  cut_bytes?: number;
}

export interface Report {
  label: string;
  analysis: Analysis;
  timelines: Timeline[];
  captures: Capture[];
}

export interface Measured {
  value: number;
  error: number;
}

export interface ComparedNumber {
  subject: string;
  what: string;
  unit: string;
  green?: Measured;
  red?: Measured;
  change?: number;
  differs?: boolean;
}

export interface FindingKey {
  id: string;
  subject?: string;
}

export interface ComparedSnapshot {
  green?: { snapshot: string; verdict?: string };
  red?: { snapshot: string; verdict?: string };
  warnings?: string[];
  numbers: ComparedNumber[];
  green_only?: FindingKey[];
  red_only?: FindingKey[];
  both?: FindingKey[];
}

export interface Comparison {
  green: string;
  red: string;
  notes?: string[];
  snapshots: ComparedSnapshot[];
}

export interface PageData {
  schema: string;
  program?: string;
  reports: Report[];
  comparison?: Comparison;
}

/** The page's data; throws where it is none that this page knows. */
export function read_data(): PageData {
  const data = JSON.parse(document.getElementById("cozybracket-data")?.textContent ?? "") as PageData;
  if (data.schema !== "cozybracket.page/1") throw new Error(`the page's data is of the schema "${data.schema}"`);
  return data;
}

/** What the binary puts into the page: "cozybracket.page/1". What is absent is left out, or null in a list. */

import type { Analysis, Outcome } from "./analysis";

export type * from "./analysis";

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
  /** The interval was doubled, once or more, for the sake of the file's size. */
  slowed?: boolean;
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

/** What `analyze --format json` writes: "cozybracket.analysis/1", as far as the page shows it. What is absent is left out. */

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
  report?: {
    path: string;
    origin?: string;
    truncated: boolean;
    truncated_why?: string;
    notes?: string[];
    refused?: string[];
  };
  snapshots: Snapshot[];
}

// Reports for the tests, in the shape that the binary gives the page ("cozybracket.page/1").
import { timeline } from "./series.mjs";

const captured = [
  ["runner-kernel-cpu-time", "proc-stat.txt", [1, 2]],
  ["sandbox-qemu-thread-cpu", "qemu-threads.txt", [1, 2]],
  ["sandbox-kvm-exits", "kvm-stats.txt", [1, 2]],
  ["sandbox-vm-cgroup-cpu", "cpu-stat.txt", [1, 2]],
  ["runner-pressure", "pressure.txt", [1, 2]],
  ["runner-steal-clock", "steal-clock.txt", [1]],
  ["runner-shape", "shape.txt", [1]],
];

export function captures(snapshot, lines = 40) {
  return captured.flatMap(([capture, file, samples]) =>
    samples.map((sample) => ({
      snapshot,
      capture,
      sample,
      file: `snapshots/${snapshot}/${capture}/sample-${sample}/${file}`,
      outcome: "complete",
      reason: "",
      title: `What ${capture} holds`,
      layer: "the runner VM's kernel",
      source: `/proc/${file}`,
      legend: [
        "These rows are of the runner VM's kernel, one layer above the node VMs.",
        "Subtract sample 1 from sample 2 row by row.",
      ],
      text:
        Array.from(
          { length: lines },
          (_, line) => `cpu${line} ${1132319 + 7 * line * sample} 211145 164596 447921 1438 0 512 1002`,
        ).join("\n") + "\n",
      cut_bytes: 0,
    })),
  );
}

function vcpus(count, parts, extra = {}) {
  return Array.from({ length: count }, (_, index) => ({
    index,
    tid: 904 + index,
    window_seconds: 60,
    window_error_seconds: 0.001,
    ...parts,
    exits_per_second: 14100 + index,
    ...extra,
  }));
}

export function node(name, shares, { count = 2, ...extra } = {}) {
  const { ran, waited, halted, other } = shares;
  return {
    name,
    state: "present",
    pid: 902,
    evidence: ["pid file", "guest name"],
    vcpus: vcpus(count, {
      ran_seconds: 60 * ran,
      guest_seconds: 57 * ran,
      waited_seconds: 60 * waited,
      halted_seconds: 60 * halted,
      other_seconds: 60 * other,
      halt_in_progress: false,
    }),
    ran_share: ran,
    guest_share: 0.95 * ran,
    waited_share: waited,
    halted_share: halted,
    other_share: other,
    exits_per_second: 28100,
    other_threads: [
      { kind: "main", name: "qemu-system-x86", tid: 902, ran_seconds: 0.2, waited_seconds: 0.02 },
      { kind: "worker", name: "worker", tid: 911, ran_seconds: 1.4 },
    ],
    cgroup: {
      path: `/lane.slice/${name}.scope`,
      state: "read",
      version: 2,
      usage_seconds: 66.2,
      quota: "set",
      quota_usec: 200000,
      period_usec: 100000,
      throttled_seconds: 3.6,
      throttled_periods: 31,
      periods: 600,
      weight: 79,
    },
    kvm: { source: "vcpu stats", rates: { exits: 28333.3, halt_exits: 7083.3, mmio_exits: 12.5 } },
    ...extra,
  };
}

export const runner = {
  cpus: 24,
  cpu_seconds: {
    user: 878.4,
    nice: 0,
    system: 126.7,
    idle: 372.9,
    iowait: 5.8,
    irq: 0,
    softirq: 11.5,
    steal: 44.6,
    guest: 794,
    guest_nice: 0,
  },
  steal: { verdict: "proved", clock: "kvm", share: 0.031 },
  pressure: {
    cpu_some: 0.38,
    cpu_full: 0,
    cpu_avg10: "41.07",
    io_some: 0.01,
    io_full: 0.004,
    memory_some: 0,
    memory_full: 0,
  },
  shape: {
    "kernel-release": "6.8.0-generic",
    "cpus-online": "0-23",
    "cpu-model": "Some Processor",
    "memory-total": "65536000 kB",
  },
};

const evidence = (capture, scope, field, before, after) => ({ capture, scope, field, before, after });

export function findings(seconds) {
  return [
    {
      id: "vcpu-stalled",
      level: "warning",
      subject: "srv2",
      says: `vCPU 0 of srv2 neither ran nor halted for ${(0.05 * seconds).toFixed(1)} s`,
      evidence: [evidence("sandbox-qemu-thread-cpu", "thread 922/924", "run_delay_ns", 600000000, 18600000000)],
      does_not_prove:
        "It does not prove who held the vCPU: what the runner, the cgroup and the pressure did meanwhile is beside it.",
      timeline: { from_seconds: 0.31 * seconds, to_seconds: 0.36 * seconds },
    },
    {
      id: "burst-steal",
      level: "warning",
      subject: "runner",
      says: "81 % of the steal lies in 17 % of the window",
      evidence: [evidence("runner-kernel-cpu-time", "cpu", "steal", 1600, 6060)],
      does_not_prove: "It does not prove that the nodes were the ones to lose it.",
      timeline: { from_seconds: 0.55 * seconds, to_seconds: 0.72 * seconds },
    },
    {
      id: "nodes-waited",
      level: "notice",
      subject: "srv1..srv3",
      says: "srv1..srv3 were runnable and not running for 12 % of 60.0 s",
      evidence: [1, 2, 3].map((n) =>
        evidence("sandbox-qemu-thread-cpu", `thread 9${n}2/9${n}4`, "run_delay_ns", 500000000 + n, 20300000000),
      ),
      does_not_prove:
        "It does not prove who had the CPUs: other nodes, the test suite, or the machine under the runner by taking them away.",
    },
    {
      id: "incomplete",
      level: "info",
      subject: "report",
      says: "a question is open",
      evidence: [],
      does_not_prove: "It proves nothing about the run.",
    },
  ];
}

export function snapshot(name, extra = {}) {
  return {
    name,
    verdict: "a sandbox node stood still: vCPU 0 of srv2 neither ran nor halted for 6.0 s",
    window: { seconds: 120.121, error_seconds: 0.007 },
    captures: [
      { name: "runner-kernel-cpu-time", sample: 1, outcome: "complete", epoch_begin_ns: 1796096769671424172 },
      { name: "runner-kernel-cpu-time", sample: 2, outcome: "complete", epoch_begin_ns: 1796096889671424172 },
    ],
    runner,
    nodes: [
      node("srv1", { ran: 0.521, waited: 0.31, halted: 0.124, other: 0.045 }),
      node("srv2", { ran: 0.402, waited: 0.112, halted: 0.231, other: 0.255 }),
      node(
        "srv3",
        { ran: 0.004, waited: 0, halted: 0.994, other: 0.002 },
        {
          vcpus: vcpus(2, {
            ran_seconds: 0.24,
            waited_seconds: 0,
            halted_seconds: 59.6,
            other_seconds: 0.16,
            halt_in_progress: true,
          }),
        },
      ),
    ],
    findings: findings(120),
    open: [],
    ...extra,
  };
}

export function page(reports, more = {}) {
  return { schema: "cozybracket.page/1", program: "cozybracket 0.1-test", reports, ...more };
}

export function report(
  snapshots,
  { label = "", timelines = [], path = "cozyreport.tgz", truncated = false, ...extra } = {},
) {
  return {
    label,
    analysis: {
      schema: "cozybracket.analysis/1",
      report: { path, origin: "cozybracket", truncated, ...extra },
      snapshots,
    },
    timelines,
    captures: snapshots.flatMap((each) => captures(each.name)),
  };
}

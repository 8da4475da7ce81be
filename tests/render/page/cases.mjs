// The pages that the tests open, by name.
import { captures, findings, node, page, report, runner, snapshot } from "./reports.mjs";
import { timeline } from "./series.mjs";

const hostile_name = `<img src=x onerror="document.title='owned'"></script><script>document.title='owned'</script>`;
const hostile_names = [hostile_name, "\u202egnp.exe\u202c ::error::x", "##[group]b", "x".repeat(10240)];

export function usual() {
  return page([report([snapshot("kubernetes")], { timelines: [timeline({ missing: { 104: 9.02 } })] })]);
}

/** 29 minutes of 24 vCPUs: the size that the page is made for. */
export function big() {
  const seconds = 1740;
  const nodes = [1, 2, 3].map((n) => node(`srv${n}`, { ran: 0.5, waited: 0.2, halted: 0.2, other: 0.1 }, { count: 8 }));
  const one = report(
    [
      snapshot("kubernetes-latest", {
        nodes,
        findings: findings(seconds),
        window: { seconds, error_seconds: 0.01 },
      }),
    ],
    { timelines: [timeline({ snapshot: "kubernetes-latest", steps: seconds, vcpus: 8, missing: { 1500: 12.4 } })] },
  );
  one.captures = captures("kubernetes-latest", 700);
  return page([one]);
}

export function hostile() {
  const nodes = hostile_names.map((name) => node(name, { ran: 0.5, waited: 0.2, halted: 0.2, other: 0.1 }));
  const lines = timeline({ snapshot: hostile_name, nodes: 4 });
  lines.nodes.forEach((each, at) => {
    each.name = hostile_names[at];
  });
  const found = hostile_names.map((name, at) => ({
    ...findings(120)[at],
    id: name,
    says: name,
    subject: name,
    does_not_prove: name,
    evidence: [{ capture: name, scope: name, field: name, before: name, after: "1" }],
  }));
  const one = report(
    [
      snapshot(hostile_name, {
        verdict: hostile_name,
        nodes,
        findings: found,
        markers: hostile_names,
        open: [
          {
            capture: hostile_name,
            sample: 1,
            outcome: "partial",
            reason: hostile_name,
            consequence: hostile_name,
          },
        ],
      }),
    ],
    { timelines: [lines], path: hostile_name, truncated: true, truncated_why: hostile_name, notes: hostile_names },
  );
  for (const capture of one.captures)
    Object.assign(capture, {
      text: hostile_names.join("\n"),
      legend: hostile_names,
      title: hostile_name,
      reason: hostile_name,
    });
  return page([one], { program: hostile_name });
}

export function no_timeline() {
  return page([report([snapshot("kubernetes", { findings: findings(120).map(({ timeline: _, ...rest }) => rest) })])]);
}

/** Sample 1 alone: no window, no node, no rate. */
export function only_sample_1() {
  const open = ["runner-kernel-cpu-time", "sandbox-qemu-thread-cpu", "sandbox-kvm-exits", "runner-pressure"].map(
    (capture) => ({
      capture,
      sample: 2,
      outcome: "unavailable",
      reason: "the report has no such file",
      consequence: "no rate for this wait",
    }),
  );
  const {
    window: _,
    nodes: __,
    ...rest
  } = snapshot("kubernetes", {
    verdict: "what took the time is open: sample 2 is missing",
    findings: [],
    open,
    runner: {},
  });
  const one = report([rest], { truncated: true, truncated_why: "the archive ends within a member" });
  one.captures = one.captures.filter(({ sample }) => sample === 1);
  one.captures[0].cut_bytes = 73400;
  Object.assign(one.captures[1], { outcome: "partial", reason: "one file did not answer within 20 s" });
  Object.assign(one.captures[2], {
    outcome: "unavailable",
    reason: "counters refused by kernel lockdown, only gauges were read",
    text: "",
  });
  return page([one]);
}

/** Numbers that were not read: no waiting time, no halts, no steal, a vCPU whose seconds are in part unknown. */
export function absent_numbers() {
  const together = node(
    "srv1",
    { ran: 0.485, waited: 0, halted: 0, other: 0 },
    {
      vcpus: [{ index: 0, tid: 904, window_seconds: 60, ran_seconds: 29.1, waited_or_halted_or_other_seconds: 30.9 }],
      waited_or_halted_or_other_share: 0.515,
    },
  );
  for (const key of ["waited_share", "halted_share", "other_share", "exits_per_second", "cgroup"]) delete together[key];
  const partly = node("srv2", { ran: 0.55, waited: 0.33, halted: 0, other: 0 }, { halted_or_other_share: 0.12 });
  for (const key of ["halted_share", "other_share"]) delete partly[key];
  const { steal: _, iowait: __, ...cpu_seconds } = runner.cpu_seconds;
  const lines = timeline({ nodes: 2, steps: 60 });
  delete lines.runner.steal;
  delete lines.pressure;
  delete lines.memory_available_mib;
  for (const vcpu of lines.nodes[0].vcpus) for (const key of ["waited", "halted", "other"]) delete vcpu[key];
  lines.nodes[1].vcpus.forEach((vcpu) =>
    ["ran", "waited", "halted", "other", "halted_or_other"].forEach((key) => vcpu[key].fill(null, 20, 30)),
  );
  const shown = snapshot("kubernetes", {
    nodes: [together, partly, { name: "srv3", state: "left" }],
    findings: [],
    runner: { cpus: 8, cpu_seconds, steal: { verdict: "unusable" } },
  });
  return page([report([shown], { timelines: [lines] })]);
}

export function two_snapshots() {
  return page([
    report(
      [snapshot("kubernetes-b"), snapshot("kubernetes-a", { verdict: "nothing unusual was seen", findings: [] })],
      { timelines: [timeline({ snapshot: "kubernetes-b", steps: 60 })] },
    ),
  ]);
}

const compared_number = (subject, what, unit, green, red) => ({
  subject,
  what,
  unit,
  ...(green === null ? {} : { green: { value: green, error: 0.001 } }),
  ...(red === null ? {} : { red: { value: red, error: 0.001 } }),
  ...(green === null || red === null ? {} : { change: red - green, differs: Math.abs(red - green) > 0.002 }),
});

/** A node is missing in the green one, and the red one's window is longer. */
export function compared() {
  const green = report(
    [
      snapshot("kubernetes", {
        verdict: "nothing unusual was seen",
        findings: findings(80).slice(2),
        nodes: snapshot("x").nodes.slice(0, 2),
        window: { seconds: 80.2, error_seconds: 0.004 },
      }),
    ],
    { label: "green", path: "green.tgz", timelines: [timeline({ steps: 80, nodes: 2, seed: 3 })] },
  );
  const red = report([snapshot("kubernetes")], {
    label: "red",
    path: "red.tgz",
    timelines: [timeline({ missing: { 104: 9.02 } })],
  });
  const numbers = [
    compared_number("srv1", "ran", "share", 0.501, 0.521),
    compared_number("srv1", "waited", "share", 0.0033, 0.31),
    compared_number("srv1", "cpus used", "cpus", 1.0035, 1.1035),
    compared_number("srv1", "exits", "per second", 21000, 28100),
    compared_number("srv3", "ran", "share", null, 0.004),
    compared_number("runner", "steal", "share", 0.0004, 0.031),
    compared_number("runner", "user", "share", 0.61, 0.611),
  ];
  return page([green, red], {
    comparison: {
      schema: "cozybracket.comparison/1",
      green: "green.tgz",
      red: "red.tgz",
      notes: ["the runners have the same shape"],
      snapshots: [
        {
          green: { snapshot: "kubernetes", verdict: "nothing unusual was seen" },
          red: { snapshot: "kubernetes", verdict: "a sandbox node stood still" },
          warnings: ["the windows differ by 40 s"],
          numbers,
          green_only: [],
          red_only: [
            { id: "vcpu-stalled", subject: "srv2" },
            { id: "burst-steal", subject: "runner" },
          ],
          both: [{ id: "nodes-waited", subject: "srv1..srv3" }],
        },
      ],
    },
  });
}

export const cases = { usual, big, hostile, no_timeline, only_sample_1, absent_numbers, two_snapshots, compared };

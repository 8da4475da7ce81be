// Timelines for the tests, the same in every run: a node join with a freeze, throttling in bursts and missing ticks.

/** Numbers from 0 to 1 in a fixed order (a linear congruence); no test depends on chance. */
export function numbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const clamp = (value) => Math.max(0, Math.min(1000, Math.round(value)));

function vcpu_step(random, phase) {
  if (phase === "frozen") return { ran: 0, waited: clamp(20 * random()), halted: 0 };
  if (phase === "starved") {
    const waited = clamp(450 + 300 * random());
    return { ran: clamp(900 - waited), waited, halted: clamp(60 * random()) };
  }
  if (phase === "busy") {
    const ran = clamp(900 + 80 * random());
    return { ran, waited: clamp((1000 - ran) * 0.6), halted: 0 };
  }
  const ran = clamp(40 + 160 * random());
  return { ran, waited: clamp(20 * random()), halted: clamp(940 - ran) };
}

function phase_of(node, at) {
  if (node === 1 && at > 0.31 && at < 0.36) return "frozen";
  if (at > 0.55 && at < 0.72) return "starved";
  return at > 0.2 + 0.08 * node && at < 0.8 ? "busy" : "quiet";
}

function vcpu(random, node, index, steps) {
  const lists = { index, ran: [], waited: [], halted: [], other: [], halted_or_other: [], exits_per_second: [] };
  for (let step = 0; step < steps; step += 1) {
    const part = vcpu_step(random, phase_of(node, step / steps));
    const rest = Math.max(0, 1000 - part.ran - part.waited - part.halted);
    const open = step % 7 === index % 7; // a halt that had not ended at the tick
    lists.ran.push(part.ran);
    lists.waited.push(part.waited);
    lists.halted.push(part.halted);
    lists.other.push(open ? null : rest);
    lists.halted_or_other.push(open ? rest : null);
    lists.exits_per_second.push(Math.round(part.ran * 28 * (0.5 + random())));
  }
  return lists;
}

function runner(random, steps) {
  const lists = { user: [], system: [], interrupts: [], iowait: [], steal: [], idle: [] };
  for (let step = 0; step < steps; step += 1) {
    const at = step / steps;
    const steal = at > 0.55 && at < 0.72 ? clamp(120 + 120 * random()) : clamp(4 * random());
    const user = clamp(at > 0.2 && at < 0.8 ? 560 + 120 * random() : 120 + 80 * random());
    const part = {
      user,
      system: clamp(50 + 40 * random()),
      interrupts: clamp(6 * random()),
      iowait: clamp(15 * random()),
      steal,
    };
    for (const [key, value] of Object.entries(part)) lists[key].push(value);
    lists.idle.push(clamp(1000 - Object.values(part).reduce((a, b) => a + b, 0)));
  }
  return lists;
}

function pressure(random, steps) {
  const lists = { cpu_some: [], io_some: [], io_full: [], memory_some: [], memory_full: [] };
  for (let step = 0; step < steps; step += 1) {
    const at = step / steps;
    lists.cpu_some.push(clamp(at > 0.55 && at < 0.72 ? 600 + 300 * random() : 80 * random()));
    lists.io_some.push(clamp(at > 0.3 && at < 0.37 ? 700 + 200 * random() : 15 * random()));
    lists.io_full.push(Math.round(lists.io_some[step] * 0.7));
    lists.memory_some.push(clamp(3 * random()));
    lists.memory_full.push(clamp(1 * random()));
  }
  return lists;
}

/** `missing`: steps that lasted as many seconds as ticks are missing in them, by their index. */
export function timeline({ snapshot = "kubernetes", steps = 120, nodes = 3, vcpus = 2, seed = 7, missing = {} } = {}) {
  const random = numbers(seed);
  const starts = [];
  const lengths = [];
  let at = 0;
  for (let step = 0; step < steps; step += 1) {
    const length = Math.round(1000 * (missing[step] ?? 1 + 0.002 * random())) / 1000;
    starts.push(Math.round(1000 * at) / 1000);
    lengths.push(length);
    at += length;
  }
  return {
    snapshot,
    epoch_seconds: 1796096769.671,
    boottime_seconds: 9804.199,
    interval_seconds: 1,
    merged: 1,
    nodes_left_out: 0,
    starts,
    lengths,
    gaps: Object.keys(missing).map(Number),
    runner: runner(random, steps),
    pressure: pressure(random, steps),
    memory_available_mib: Array.from({ length: steps }, (_, step) =>
      Math.round(48000 - (21000 * step) / steps + 300 * random()),
    ),
    nodes: Array.from({ length: nodes }, (_, node) => ({
      name: `srv${node + 1}`,
      vcpus: Array.from({ length: vcpus }, (_, index) => vcpu(random, node, index, steps)),
      others_cpus: Array.from({ length: steps }, () => Math.round(1000 * 0.2 * random()) / 1000),
      cgroup_cpus: Array.from({ length: steps }, () => Math.round(1000 * vcpus * random()) / 1000),
      throttled: Array.from({ length: steps }, (_, step) =>
        step / steps > 0.55 && step / steps < 0.72 ? clamp(150 * random()) : 0,
      ),
    })),
  };
}

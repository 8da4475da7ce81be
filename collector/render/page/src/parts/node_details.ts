import type { Cgroup, Node, Vcpu } from "../data";
import { folded, outside, type Child } from "../dom";
import { cpus, not_read, rate, seconds } from "../format";
import { state_order } from "../states";
import { facts, table } from "./table";

const part_seconds = /^((?:ran|waited|halted|other)(?:_or_(?:waited|halted|other))*)_seconds$/;

/** The seconds of a state, or of it and of what it is not told apart from. */
function vcpu_seconds(vcpu: Vcpu, state: string): string {
  const alone = vcpu[`${state}_seconds`];
  const unsure = vcpu.halt_in_progress;
  if (typeof alone === "number")
    return `${unsure && state === "halted" ? "≥ " : unsure && state === "other" ? "≤ " : ""}${seconds(alone, 2)}`;
  for (const [key, value] of Object.entries(vcpu)) {
    if (part_seconds.exec(key)?.[1]?.split("_or_").includes(state)) return `≤ ${seconds(value, 2)}`;
  }
  return not_read;
}

function vcpu_table(vcpus: Vcpu[]): HTMLElement {
  const heads = ["vCPU", "thread", "window", ...state_order, "of ran: guest", "exits"];
  const rows = vcpus.map((vcpu): Child[] => [
    String(vcpu.index),
    String(vcpu.tid),
    seconds(vcpu.window_seconds, 2),
    ...state_order.map((state) => vcpu_seconds(vcpu, state)),
    seconds(vcpu.guest_seconds, 2),
    rate(vcpu.exits_per_second),
  ]);
  return table(
    "Each vCPU",
    heads,
    rows,
    heads.map((_, column) => column),
  );
}

function quota_words(cgroup: Cgroup): string {
  if (cgroup.quota === "none") return "none";
  if (cgroup.quota_usec !== undefined && cgroup.period_usec) return cpus(cgroup.quota_usec / cgroup.period_usec);
  return cgroup.quota ?? not_read;
}

function cgroup_facts(cgroup: Cgroup): HTMLElement {
  const periods =
    cgroup.throttled_periods === undefined ? "" : `${cgroup.throttled_periods} of ${cgroup.periods ?? "?"} periods`;
  return facts([
    ["Control group", cgroup.path ?? cgroup.state],
    ["State", cgroup.why ? `${cgroup.state}: ${cgroup.why}` : cgroup.state],
    ["Used", seconds(cgroup.usage_seconds, 2)],
    ["Quota", quota_words(cgroup)],
    ["Throttled", periods && `${seconds(cgroup.throttled_seconds, 3)} summed over CPUs, ${periods}`],
    [
      "Weight",
      cgroup.weight !== undefined
        ? String(cgroup.weight)
        : cgroup.shares !== undefined
          ? `${cgroup.shares} shares`
          : "",
    ],
    ["Shared with", cgroup.shared_with?.join(", ") ?? ""],
  ]);
}

function rates_table(rates: Record<string, number>): HTMLElement {
  const rows = Object.entries(rates)
    .sort((a, b) => b[1] - a[1])
    .map(([name, value]): Child[] => [outside(name), rate(value)]);
  return table("KVM's counters, per second of the window", ["Counter", "Rate"], rows, [1]);
}

function contents(node: Node): Child[] {
  const threads = (node.other_threads ?? []).map((thread): Child[] => [
    thread.name ? outside(thread.name, "name") : not_read,
    thread.kind,
    String(thread.tid),
    seconds(thread.ran_seconds, 2),
    seconds(thread.waited_seconds, 2),
  ]);
  return [
    facts([
      ["Process", node.pid !== undefined ? String(node.pid) : ""],
      ["Known by", node.evidence?.join(", ") ?? ""],
      ["Notes", node.notes?.join("; ") ?? ""],
    ]),
    node.vcpus && node.vcpus.length > 0 && vcpu_table(node.vcpus),
    threads.length > 0 && table("QEMU's other threads", ["Thread", "Kind", "Id", "ran", "waited"], threads, [2, 3, 4]),
    node.cgroup && cgroup_facts(node.cgroup),
    node.kvm?.rates && rates_table(node.kvm.rates),
  ];
}

/** Everything else that is known of a node, folded. */
export function node_details(node: Node): HTMLElement {
  return folded(["Numbers of ", outside(node.name, "name")], () => contents(node), { class: "plain-fold" });
}

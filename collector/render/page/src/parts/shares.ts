import type { Node, Vcpu } from "../data";
import { state_order, states_in, type State } from "../states";

/** A part of a node's vCPU time. `about`: whether the number is exact, or a bound because a halt had not ended. */
export interface Part {
  key: string;
  states: State[];
  share: number;
}

/** What a node's vCPUs did, as shares of their windows. */
export interface Shares {
  parts: Part[];
  throttled: number | undefined; // contained in waited
  throttled_why: string; // where throttled is undefined and that has a reason
  open_halts: number; // vCPUs whose halt had not ended at sample 2
}

const part_key = /^((?:ran|waited|halted|other)(?:_or_(?:waited|halted|other))*)_share$/;

/** The most that a quota of the node's own, or above it and of no other node, took; it is summed over CPUs. */
function throttled_seconds(node: Node): number | undefined {
  const { cgroup } = node;
  if (!cgroup) return undefined;
  const own = [cgroup, ...(cgroup.above ?? [])].filter((level) => (level.nodes ?? 1) <= 1);
  const known = own.map((level) => level.throttled_seconds).filter((value): value is number => value !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

function throttled_why(node: Node): string {
  const { cgroup } = node;
  if (!cgroup) return "";
  const levels = [cgroup, ...(cgroup.above ?? [])];
  if (levels.some((level) => (level.nodes ?? 1) > 1 && level.throttled_seconds !== undefined))
    return "of several nodes";
  return cgroup.state === "read" && levels.every((level) => level.quota === "none" || level.quota === undefined)
    ? "no quota"
    : "";
}

function window_of(vcpus: Vcpu[]): number {
  return vcpus.reduce((sum, vcpu) => sum + (vcpu.window_seconds ?? 0), 0);
}

/** Where a halt had not ended, what looks like "other" can be that halt: it is moved to "halted or other". */
function split_open_halts(parts: Part[], vcpus: Vcpu[]): Part[] {
  const whole = window_of(vcpus);
  const open = vcpus.filter((vcpu) => vcpu.halt_in_progress);
  const other = parts.find((part) => part.key === "other");
  if (!other || open.length === 0 || whole <= 0) return parts;
  const unsure = open.reduce(
    (sum, vcpu) => sum + (typeof vcpu["other_seconds"] === "number" ? vcpu["other_seconds"] : 0),
    0,
  );
  const moved = Math.min(other.share, unsure / whole);
  return [
    ...parts.filter((part) => part !== other),
    { ...other, share: other.share - moved },
    { key: "halted_or_other", states: ["other", "halted"], share: moved },
  ];
}

const place = (part: Part): number => {
  const last = part.states[part.states.length - 1] ?? "halted";
  return 2 * state_order.indexOf(last) - (part.states.length > 1 ? 1 : 0);
};

export function shares_of(node: Node): Shares {
  const vcpus = node.vcpus ?? [];
  const parts: Part[] = [];
  for (const [name, share] of Object.entries(node)) {
    const key = part_key.exec(name)?.[1];
    if (key && typeof share === "number") parts.push({ key, states: states_in(key), share });
  }
  const whole = window_of(vcpus);
  const throttled = throttled_seconds(node);
  return {
    parts: split_open_halts(parts, vcpus).sort((a, b) => place(a) - place(b)),
    throttled: throttled === undefined || whole <= 0 ? undefined : Math.min(1, throttled / whole),
    throttled_why: throttled_why(node),
    open_halts: vcpus.filter((vcpu) => vcpu.halt_in_progress).length,
  };
}

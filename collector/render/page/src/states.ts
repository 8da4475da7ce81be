/** What a vCPU's wall time is divided into, in the order in which it is stacked everywhere on the page. */

export const state_order = ["ran", "waited", "other", "halted"] as const;
export type State = (typeof state_order)[number];

/** The states of a timeline's step; of halted_or_other it is not known which. */
export const step_states = ["ran", "waited", "other", "halted_or_other", "halted"] as const;
export type StepState = (typeof step_states)[number];

export const state_means: Record<string, string> = {
  ran: "on a CPU",
  waited: "runnable, and no CPU for it",
  other: "blocked in the host, or stopped",
  halted: "the guest had nothing to do",
  halted_or_other: "off the CPU; whether halted or blocked was not told apart",
};

export function state_words(key: string): string {
  return key.replaceAll("_or_", " or ");
}

/** The states that a key such as waited_or_halted_or_other does not tell apart. */
export function states_in(key: string): State[] {
  const named = key.split("_or_");
  return state_order.filter((state) => named.includes(state));
}

import type { Node, Snapshot } from "../data";
import { el, outside, type Child } from "../dom";
import { not_read, percent, rate } from "../format";
import { state_means, state_order, state_words, type State } from "../states";
import { legend_of, stacked_bar, type Segment } from "./bar";
import { node_details } from "./node_details";
import { shares_of, type Shares } from "./shares";

function segments(shares: Shares): Segment[] {
  return shares.parts.map((part) => {
    const { throttled } = shares;
    const holds = part.states.includes("waited") && throttled !== undefined;
    return {
      kind: part.key,
      words: state_words(part.key),
      share: part.share,
      inside: holds ? { kind: "throttled", words: "throttled", share: throttled } : undefined,
    };
  });
}

/** A state's own number; an upper bound where it is a part of a number that does not tell it from others. */
function state_number(shares: Shares, state: State): string {
  const alone = shares.parts.find((part) => part.key === state);
  const mixed = shares.parts.filter((part) => part.states.length > 1 && part.states.includes(state));
  if (mixed.length === 0) return percent(alone?.share);
  const most = mixed.reduce((sum, part) => sum + part.share, alone?.share ?? 0);
  if (!alone || alone.share === 0) return `≤ ${percent(most)}`;
  return most - alone.share < 0.0005
    ? percent(alone.share)
    : `${percent(alone.share).replace(" %", "")}–${percent(most)}`;
}

function cell(label: string, words: string): HTMLElement {
  return el("td", { class: words === not_read ? "number absent" : "number", "data-label": label }, words);
}

/** A name that another report has beside this one; keeps the rows of two columns level. */
function missing_row(name: string): HTMLElement {
  return el(
    "tr",
    { class: "missing" },
    el("th", { scope: "row" }, outside(name, "name")),
    el("td", { class: "bar-cell absent", colspan: state_order.length + 3 }, "no such node in this report"),
  );
}

function row(node: Node): HTMLElement {
  const shares = shares_of(node);
  const name = el(
    "th",
    { scope: "row" },
    outside(node.name, "name"),
    el(
      "span",
      { class: "muted small" },
      node.vcpus ? ` ${node.vcpus.length} vCPU${node.vcpus.length === 1 ? "" : "s"}` : "",
    ),
  );
  if (node.state !== "present") name.append(el("span", { class: "tag" }, state_of_node(node.state)));
  const throttled = shares.throttled === undefined ? shares.throttled_why || not_read : percent(shares.throttled);
  return el(
    "tr",
    {},
    name,
    el("td", { class: "bar-cell" }, stacked_bar(`${node.name}, vCPU time`, segments(shares))),
    ...state_order.map((state) => cell(state, state_number(shares, state))),
    cell("throttled", throttled),
    cell("exits", rate(node.exits_per_second)),
  );
}

function state_of_node(state: string): string {
  return { left: "left", appeared: "appeared", restarted: "restarted", unread: not_read }[state] ?? state;
}

function rows(nodes: Node[], names: string[] | undefined): HTMLElement[] {
  if (!names) return nodes.map(row);
  return names.flatMap((name) => {
    const named = nodes.filter((node) => node.name === name);
    return named.length > 0 ? named.map(row) : [missing_row(name)];
  });
}

function heads(): Child[] {
  const words: [string, string][] = [
    ["Node", ""],
    ["vCPU time", "bar-head"],
    ...state_order.map((state): [string, string] => [state, "number"]),
    ["throttled", "number"],
    ["exits", "number"],
  ];
  return words.map(([text, kind]) => el("th", { scope: "col", class: kind || null }, text));
}

function notes(nodes: Node[]): string[] {
  const all = nodes.map(shares_of);
  const said: string[] = ["Shares of the vCPUs' own windows. Throttled time is a part of waited, never added to it."];
  if (all.some((shares) => shares.parts.some((part) => part.states.length > 1))) {
    said.push(
      "A number with ≤, or a range, is not told apart from another state: the bar shows the two as one striped part.",
    );
  }
  const open = all.reduce((sum, shares) => sum + shares.open_halts, 0);
  if (open > 0) said.push(`The halts of ${open} vCPU${open === 1 ? "" : "s"} had not ended at sample 2.`);
  return said;
}

function keys_in(nodes: Node[]): string[] {
  const keys = new Set<string>(state_order);
  for (const node of nodes) for (const part of shares_of(node).parts) keys.add(part.key);
  return [...keys];
}

/** The vCPU budget: where each node's wall time went. `names` are the rows, where another report has more of them. */
export function budget(snapshot: Snapshot, names?: string[]): HTMLElement {
  const { nodes } = snapshot;
  const section = el("section", { class: "budget" }, el("h3", {}, "The nodes' vCPUs"));
  if (!nodes || nodes.length === 0) {
    section.append(
      el(
        "p",
        { class: "absent" },
        nodes ? "No node was found in both samples." : "Not read: the threads of both samples could not be compared.",
      ),
    );
    return section;
  }
  const legend = keys_in(nodes).map((key): [string, string, string] => [
    key,
    state_words(key),
    state_means[key] ?? "not told apart",
  ]);
  legend.push(["throttled", "throttled", "by a CPU quota, inside waited"]);
  section.append(
    el(
      "div",
      { class: "scroll" },
      el(
        "table",
        { class: "budget-table" },
        el("caption", { class: "hidden" }, "Where the vCPU time of each node went"),
        el("thead", {}, el("tr", {}, ...heads())),
        el("tbody", {}, ...rows(nodes, names)),
      ),
    ),
    legend_of(legend),
    el("p", { class: "muted small" }, notes(nodes).join(" ")),
    ...nodes.map(node_details),
  );
  return section;
}

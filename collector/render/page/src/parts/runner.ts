import type { Runner, Snapshot } from "../data";
import { el, folded, outside, type Child } from "../dom";
import { not_read, percent } from "../format";
import { stacked_bar, swatch, type Segment } from "./bar";
import { facts } from "./table";

/** A column of the bar, and the fields of /proc/stat that are in it. */
const columns: [kind: string, fields: string[]][] = [
  ["user", ["user", "nice"]],
  ["system", ["system"]],
  ["interrupts", ["irq", "softirq"]],
  ["iowait", ["iowait"]],
  ["steal", ["steal"]],
  ["idle", ["idle"]],
];

const steal_words: Record<string, string> = {
  proved: "Steal is proved: the machine under the runner ran somebody else",
  "none seen": "No steal was seen, and this machine can show it",
  "not observable": "Steal is not observable: nothing says that this machine can show it, so 0 proves nothing",
  unusable: "Steal is unusable: the column went back or is impossible, so the shares are of the others",
};

/** Shares of the columns; undefined where no field of it was read. Guest time is inside user and never added. */
function column_shares(runner: Runner): Map<string, number | undefined> {
  const spent = runner.cpu_seconds ?? {};
  const usable = runner.steal?.verdict !== "unusable";
  const sums = new Map<string, number | undefined>();
  let total = 0;
  for (const [kind, fields] of columns) {
    const known = fields.map((field) => spent[field]).filter((value): value is number => value !== undefined);
    const counts = known.length > 0 && (kind !== "steal" || usable);
    const sum = counts ? known.reduce((a, b) => a + b, 0) : undefined;
    sums.set(kind, sum);
    total += sum ?? 0;
  }
  return new Map([...sums].map(([kind, sum]) => [kind, sum === undefined || total <= 0 ? undefined : sum / total]));
}

function number_of(kind: string, share: number | undefined, verdict: string | undefined): HTMLElement {
  const item = el(
    "li",
    {},
    swatch(kind),
    el("span", {}, kind),
    el("span", { class: share === undefined ? "number absent" : "number" }, percent(share)),
  );
  if (kind === "steal") {
    const word = verdict ?? not_read;
    item.append(
      el(
        "strong",
        { class: `steal-verdict verdict-${word.replaceAll(" ", "-")}`, title: steal_words[word] ?? null },
        word,
      ),
    );
  }
  return item;
}

function pressure(runner: Runner): HTMLElement {
  const shown = (["cpu_some", "io_some", "io_full", "memory_some", "memory_full"] as const).map((key) => {
    const share = runner.pressure?.[key];
    return el(
      "li",
      {},
      el("span", {}, key.replace("_", " ")),
      el("span", { class: typeof share === "number" ? "number" : "number absent" }, percent(share)),
    );
  });
  return el(
    "div",
    { class: "pressure" },
    el("span", { class: "muted" }, "Tasks stalled (PSI), share of the window:"),
    el("ul", { class: "numbers" }, ...shown),
  );
}

function shape(runner: Runner): HTMLElement[] {
  const entries = Object.entries(runner.shape ?? {}).map(([name, value]): [string, Child] => [name, String(value)]);
  return entries.length === 0
    ? []
    : [folded(["What machine this is"], () => [facts(entries)], { class: "plain-fold" })];
}

function caveats(runner: Runner): HTMLElement[] {
  const said: string[] = [];
  const verdict = runner.steal?.verdict;
  if (verdict) said.push(`${steal_words[verdict] ?? `Steal: ${verdict}`}.`);
  const absent = columns.filter(
    ([kind, fields]) => kind !== "steal" && !fields.some((field) => runner.cpu_seconds?.[field] !== undefined),
  );
  if (absent.length > 0) said.push("The shares are of the columns that were read.");
  if (runner.steal?.clock_why) said.push(runner.steal.clock_why);
  if (runner.container_view) said.push(`This is a container's view: ${runner.container_view.join("; ")}.`);
  if (runner.partial) said.push("The rows were read in part.");
  return said.length > 0 ? [el("p", { class: "muted small" }, outside(said.join(" ")))] : [];
}

/** The runner's CPU time of the window, with what its steal is worth. */
export function runner_bar(snapshot: Snapshot): HTMLElement {
  const { runner } = snapshot;
  const head = runner?.cpus === undefined ? "The runner" : `The runner, ${runner.cpus} CPUs`;
  const section = el("section", { class: "runner" }, el("h3", {}, head));
  if (!runner?.cpu_seconds) {
    section.append(
      el("p", { class: "absent" }, "Not read: the runner's CPU time of both samples could not be compared."),
    );
    if (runner?.pressure) section.append(pressure(runner));
    return section;
  }
  const shares = column_shares(runner);
  const segments: Segment[] = [...shares].flatMap(([kind, share]) =>
    share === undefined ? [] : [{ kind, words: kind, share }],
  );
  section.append(
    stacked_bar("The runner's CPU time", segments),
    el(
      "ul",
      { class: "numbers legend" },
      ...[...shares].map(([kind, share]) => number_of(kind, share, runner.steal?.verdict)),
    ),
    pressure(runner),
    ...caveats(runner),
    ...shape(runner),
  );
  return section;
}

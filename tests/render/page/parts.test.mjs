// The parts that are pure: bundled for Node, and given numbers.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { needed, require_module } from "./browser.mjs";
import { node } from "./reports.mjs";
import { timeline } from "./series.mjs";

let place;
let parts;
const exported = [
  "./src/timeline/range",
  "./src/timeline/steps",
  "./src/timeline/layers",
  "./src/paint/columns",
  "./src/parts/shares",
  "./src/format",
];

before(async () => {
  place = mkdtempSync(join(tmpdir(), "cozy-page-"));
  const outfile = join(place, "parts.mjs");
  await require_module("esbuild").build({
    stdin: {
      contents: exported.map((file) => `export * from "${file}";`).join("\n"),
      resolveDir: needed("PAGE_MODULES"),
      loader: "ts",
    },
    bundle: true,
    format: "esm",
    outfile,
    logLevel: "error",
  });
  parts = await import(pathToFileURL(outfile).href);
});
after(() => rmSync(place, { recursive: true, force: true }));

test("a range stays inside the whole and is never too narrow", () => {
  const range = new parts.TimeRange({ from: 0, to: 100 }, 2);
  range.set(-50, 20);
  assert.deepEqual(range.shown, { from: 0, to: 70 });
  range.set(50.1, 50.2);
  assert.ok(Math.abs(range.shown.to - range.shown.from - 2) < 1e-9);
  range.set(90, 130);
  assert.deepEqual(range.shown, { from: 60, to: 100 });
  range.zoom(0.5, 70);
  assert.deepEqual(range.shown, { from: 65, to: 85 });
  range.zoom(0.5, 0); // a moment out of sight is not what is zoomed to
  assert.deepEqual(range.shown, { from: 70, to: 80 });
  range.pan(1);
  assert.deepEqual(range.shown, { from: 80, to: 90 });
  range.reset();
  assert.equal(range.zoomed, false);
});

const three = { ...timeline({ steps: 3 }), starts: [0, 1, 4], lengths: [1, 3, 1], gaps: [1] };

test("steps are found by a moment, and their means go by their lengths", () => {
  const steps = new parts.Steps(three);
  assert.deepEqual(
    [-1, 0, 0.5, 1.5, 4.5, 5, 5.1].map((moment) => steps.at(moment)),
    [null, 0, 0, 1, 2, 2, null],
  );
  assert.equal(steps.mean([0, 100, null], 0, 5), 75);
  assert.equal(steps.mean([null, null, null], 0, 5), null);
  assert.equal(steps.mean([0, 100, 900], 3, 5), 500);
  assert.match(steps.words(1), /^1\.0–4\.0 s, 03:46:10\.6 UTC, ticks missing: means of the whole$/);
});

test("columns hold shares of their own time, what no step covers is not counted as not read", () => {
  const steps = new parts.Steps(three);
  const shares = parts.columns([[1000, 500, null], undefined], steps, { from: 0, to: 8 }, 4);
  const column = (at) => [...shares.slice(4 * at, 4 * at + 4)].map((value) => Math.round(1000 * value) / 1000);
  assert.deepEqual(column(0), [0.75, 0, 1, 0.5]); // 1 s at 1000, 1 s at 500; half of it lies in the gap
  assert.deepEqual(column(1), [0.5, 0, 1, 1]);
  assert.deepEqual(column(2), [0, 0, 0.5, 0]); // a step that was not read; half of the column is after the end
  assert.deepEqual(column(3), [0, 0, 0, 0]);
});

test("the mean over vCPUs is known only where each one is", () => {
  const vcpu = (more) => ({ index: 0, ran: [500, 500], halted: [500, 500], ...more });
  const one = {
    ...three,
    starts: [0, 1],
    lengths: [1, 1],
    gaps: [],
    nodes: [{ name: "n", vcpus: [vcpu({}), vcpu({ ran: [700, null], halted: [300, null] })] }],
  };
  const [spec] = parts.chart_specs(
    { ...one, runner: undefined, pressure: undefined, memory_available_mib: undefined },
    { pressure: 100, memory: 1 },
  );
  assert.deepEqual(spec.layers.find(({ kind }) => kind === "ran").values, [600, null]);
  assert.deepEqual(spec.absent, ["waited"]);
});

test("a halt that had not ended is no blocked time", () => {
  const open = node("n", { ran: 0.1, waited: 0, halted: 0.6, other: 0.3 });
  open.vcpus[1].halt_in_progress = true;
  const shares = parts.shares_of(open);
  const rounded = Object.fromEntries(shares.parts.map(({ key, share }) => [key, Math.round(1000 * share)]));
  assert.deepEqual(rounded, { ran: 100, waited: 0, other: 150, halted_or_other: 150, halted: 600 });
  assert.equal(shares.open_halts, 1);
});

test("throttling is of quotas that are the node's alone, and absent is not 0", () => {
  const shared = node("n", { ran: 1, waited: 0, halted: 0, other: 0 });
  assert.equal(Math.round(1000 * parts.shares_of(shared).throttled), 30);
  shared.cgroup = { ...shared.cgroup, nodes: 2 };
  assert.equal(parts.shares_of(shared).throttled, undefined);
  assert.equal(parts.shares_of(shared).throttled_why, "of several nodes");
  delete shared.cgroup;
  assert.equal(parts.shares_of(shared).throttled, undefined);
});

test("numbers in words", () => {
  assert.deepEqual(
    [undefined, null, Number.NaN, "1"].map((value) => parts.percent(value)),
    Array(4).fill("not read"),
  );
  assert.deepEqual(
    [0, 0.00001, 0.0005, 1].map((value) => parts.percent(value)),
    ["0.0 %", "<0.1 %", "0.1 %", "100.0 %"],
  );
  assert.deepEqual([0, 12.34, 28333.3, 2.5e6].map(parts.rate), ["0.0 /s", "12.3 /s", "28.3 k/s", "2.5 M/s"]);
  assert.equal(parts.grouped(18600000000), "18\u202f600\u202f000\u202f000");
  assert.equal(parts.visible("a\u202eb\u2028\u0007"), "a\\u202eb\\u2028\\u0007");
  assert.equal(parts.clock(1796096769.671, 1), "03:46:09.6");
});

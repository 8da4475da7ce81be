// The timeline: one range and one cursor for all charts and the heat map, and gaps that stay gaps.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Browser, ranges, settled } from "./browser.mjs";
import { cases } from "./cases.mjs";

let browser;
before(async () => {
  browser = await Browser.start();
});
after(async () => {
  await browser?.end();
});

const whole = (name) => {
  const { starts, lengths } = cases[name]().reports.at(-1).timelines[0];
  return Math.round(1000 * (starts.at(-1) + lengths.at(-1))) / 1000;
};

/** The one range that every chart and the map show; fails where they differ. */
async function shared(page) {
  await settled(page);
  const all = await ranges(page);
  assert.equal(new Set(all).size, 1, `they differ: ${all.join(", ")}`);
  return all[0].split(" ").map((value) => Number(value) / 1000);
}

async function drag(page, locator, from, to) {
  await locator.scrollIntoViewIfNeeded();
  const box = await locator.boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + from * box.width, y);
  await page.mouse.down();
  await page.mouse.move(box.x + ((from + to) / 2) * box.width, y, { steps: 4 });
  await page.mouse.move(box.x + to * box.width, y, { steps: 4 });
  await page.mouse.up();
}

const near = (value, wanted, by) => assert.ok(Math.abs(value - wanted) <= by, `${value} is not ${wanted} ± ${by}`);

test("at first all is shown, in every chart and the map", async () => {
  const { page, close } = await browser.open("usual");
  assert.equal((await ranges(page)).length, 7); // runner, three nodes, pressure, memory, the map
  assert.deepEqual(await shared(page), [0, whole("usual")]);
  await close();
});

test("dragging over one chart zooms all of them and the map", async () => {
  const { page, close } = await browser.open("usual");
  await drag(page, page.locator(".u-over").nth(2), 0.25, 0.5);
  const [from, to] = await shared(page);
  near(from, 0.25 * whole("usual"), 0.5);
  near(to, 0.5 * whole("usual"), 0.5);
  assert.match(await page.locator(".shown").innerText(), /^3[12]\.?\d?–6[34]/);
  await page.locator(".u-over").first().dblclick();
  assert.deepEqual(await shared(page), [0, whole("usual")]);
  await close();
});

test("dragging over the map zooms as well", async () => {
  const { page, close } = await browser.open("usual");
  await drag(page, page.locator(".heat-canvas"), 0.5, 0.75);
  const [from, to] = await shared(page);
  near(from, 0.5 * whole("usual"), 3);
  near(to - from, 0.26 * whole("usual"), 3);
  await close();
});

test("keys move, zoom and reset; what they do is written on the page", async () => {
  const { page, close } = await browser.open("usual");
  const end = whole("usual");
  await page.locator(".timeline-body").focus();
  await page.keyboard.press("+");
  const [from, to] = await shared(page);
  near(to - from, end / 2, 0.01);
  await page.keyboard.press("ArrowRight");
  near((await shared(page))[0], from + 0.1 * (to - from), 0.01);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  near((await shared(page))[0], from - 0.1 * (to - from), 0.01);
  await page.keyboard.press("-");
  await page.keyboard.press("-");
  assert.deepEqual(await shared(page), [0, end]);
  for (const key of ["0", "Escape"]) {
    await page.keyboard.press("+");
    assert.notDeepEqual(await shared(page), [0, end]);
    await page.keyboard.press(key);
    assert.deepEqual(await shared(page), [0, end]);
  }
  const help = await page.locator(".timeline > p.controls").innerText();
  for (const key of ["← →", "+ −", "0", "Escape", "Home", "End"]) assert.ok(help.includes(key), key);
  await close();
});

test("the buttons do what the keys do", async () => {
  const { page, close } = await browser.open("usual");
  await page.getByRole("button", { name: "Zoom in" }).click();
  const [from, to] = await shared(page);
  near(to - from, whole("usual") / 2, 0.01);
  await page.getByRole("button", { name: "Later" }).click();
  near((await shared(page))[0], from + 0.25 * (to - from), 0.01);
  await page.getByRole("button", { name: "Show the whole timeline" }).click();
  assert.deepEqual(await shared(page), [0, whole("usual")]);
  assert.equal(await page.getByRole("button", { name: "Show the whole timeline" }).isDisabled(), true);
  await close();
});

test("a finding's button shows its seconds, and its mark opens it", async () => {
  const { page, close } = await browser.open("usual");
  const finding = page.locator(".finding").first();
  await finding.locator("summary").click();
  await finding.locator("button.zoom").click();
  const [from, to] = await shared(page);
  near(from, 37.2 - 6, 0.1);
  near(to, 43.2 + 6, 0.1);
  const mark = page.locator(".mark").filter({ hasText: "vcpu-stalled" });
  await page.locator(".finding").first().locator("summary").click();
  await mark.click();
  assert.equal(await finding.evaluate((details) => details.open), true);
  assert.equal(await page.locator(".mark:visible").count(), 1); // the other's seconds are out of sight
  const place = (selector) => page.locator(selector).first().boundingBox();
  const [frame, map] = await Promise.all([place(".heat-mark"), place(".heat-canvas")]);
  near(frame.x, map.x + 56 + ((map.width - 68) * (37.2 - from)) / (to - from), 2);
  near(frame.width, ((map.width - 68) * 6) / (to - from), 3);
  await close();
});

test("pointing moves one cursor through all charts and the map, with the clock", async () => {
  const { page, close } = await browser.open("usual");
  const over = page.locator(".u-over").first();
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 40);
  await settled(page);
  const lines = await page.evaluate(() =>
    [...document.querySelectorAll(".u-cursor-x, .heat-line")].map((line) =>
      Math.round(line.getBoundingClientRect().left),
    ),
  );
  assert.equal(lines.length, 7);
  assert.ok(
    lines.every((left) => Math.abs(left - lines[0]) <= 1),
    lines.join(" "),
  );
  assert.match(await page.locator(".moment").innerText(), /^at 6[34]\.\d–6[345]\.\d s, 03:47:1\d\.\d UTC$/);
  const { user } = cases.usual().reports[0].timelines[0].runner;
  const step = Number((await page.locator(".moment").innerText()).match(/^at (\d+)/)[1]);
  assert.equal(await page.locator(".chart-head .number").first().innerText(), `${(user[step] / 10).toFixed(1)} %`);
  await close();
});

test("the map is read by keys, in words", async () => {
  const { page, close } = await browser.open("usual");
  await page.locator(".heat-canvas").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  const said = await page.locator("[aria-live]").innerText();
  assert.match(
    said,
    /^srv1 vCPU 1, 1\.0–2\.0 s, 03:46:10\.\d UTC: ran \d+\.\d %, waited \d+\.\d %, halted or other \d+\.\d %, halted \d+\.\d %, exits /,
  );
  await page.keyboard.press("End");
  assert.match(await page.locator("[aria-live]").innerText(), /^srv1 vCPU 1, 12\d/);
  assert.deepEqual(await shared(page), [0, whole("usual")]);
  await close();
});

test("a cell that was not read says so", async () => {
  const { page, close } = await browser.open("absent_numbers");
  const canvas = page.locator(".heat-canvas");
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  const x = box.x + 56 + ((box.width - 68) * 25) / whole("absent_numbers");
  await page.mouse.move(x, box.y + box.height - 16);
  assert.match(await page.locator(".readout").innerText(), /^srv2 vCPU 1, 2[45]\.\d–2[56]\.\d s, .*: not read, exits/);
  await page.mouse.move(x, box.y + 30);
  assert.match(await page.locator(".readout").innerText(), /^srv1 vCPU 0, .*: ran \d+\.\d %, not read \d+\.\d %/);
  await close();
});

/** The colours of a chart's plot in a column, by how many of its pixels have each. */
function column_colours(page, chart, moment) {
  return page
    .locator(".chart .uplot")
    .nth(chart)
    .evaluate((root, at) => {
      const canvas = root.querySelector("canvas");
      const over = root.querySelector(".u-over");
      const ratio = devicePixelRatio;
      const share = (at - root.dataset.from) / (root.dataset.to - root.dataset.from);
      const x = Math.round((over.offsetLeft + share * over.offsetWidth) * ratio);
      const { data } = canvas.getContext("2d").getImageData(x, over.offsetTop * ratio, 1, over.offsetHeight * ratio);
      const counts = {};
      for (let i = 0; i < data.length; i += 4) {
        const name = `#${[data[i], data[i + 1], data[i + 2]].map((value) => value.toString(16).padStart(2, "0")).join("")}`;
        counts[name] = (counts[name] ?? 0) + 1;
      }
      return counts;
    }, moment);
}

/** Whether anything of a chart is drawn: what has a hue, and the grey of halted and idle. */
function drawn(counts) {
  return Object.keys(counts).some((name) => {
    const parts = [1, 3, 5].map((at) => parseInt(name.slice(at, at + 2), 16));
    return name === "#8996a3" || Math.max(...parts) - Math.min(...parts) > 30;
  });
}

for (const [name, gap] of [
  ["usual", 104],
  ["big", 1500],
]) {
  test(`a missing tick is a gap: neither a line nor an area crosses it (${name})`, async () => {
    const { page, close } = await browser.open(name);
    const { starts, lengths } = cases[name]().reports[0].timelines[0];
    for (let chart = 0; chart < 6; chart += 1) {
      const inside = await column_colours(page, chart, starts[gap] + lengths[gap] / 2);
      assert.ok(!drawn(inside), `chart ${chart}: ${JSON.stringify(inside)}`);
      for (const beside of [starts[gap - 3], starts[gap + 3]]) {
        const counts = await column_colours(page, chart, beside);
        assert.ok(drawn(counts), `chart ${chart}: ${JSON.stringify(counts)}`);
      }
    }
    await page.locator(".heat-canvas").scrollIntoViewIfNeeded();
    const box = await page.locator(".heat-canvas").boundingBox();
    const share = (starts[gap] + lengths[gap] / 2) / whole(name);
    await page.mouse.move(box.x + 56 + (box.width - 68) * share, box.y + 25);
    assert.match(await page.locator(".readout").innerText(), /ticks missing: means of the whole/);
    await close();
  });
}

test("a stack has the heights of its shares", async () => {
  const { page, close } = await browser.open("usual");
  const step = 50;
  const { starts, runner } = cases.usual().reports[0].timelines[0];
  const counts = await column_colours(page, 0, starts[step] + 0.5);
  const height = Object.values(counts).reduce((a, b) => a + b, 0);
  near((counts["#2479bd"] ?? 0) / height, runner.user[step] / 1000, 0.05);
  await close();
});

test("two timelines of a comparison share their range, cursor and scale", async () => {
  const { page, close } = await browser.open("compared");
  const end = whole("compared");
  assert.deepEqual(await shared(page), [0, end]);
  await page.locator(".timeline-body").first().focus();
  await page.keyboard.press("+");
  const [from, to] = await shared(page);
  near(to - from, end / 2, 0.01);
  const after_end = await column_colours(page, 0, 90); // the green one ends at 80 s: nothing is drawn there
  assert.ok(!after_end["#2479bd"] && !after_end["#57616d"], JSON.stringify(after_end));
  await close();
});

test("two snapshots have ranges of their own; one without a timeline says so", async () => {
  const { page, close } = await browser.open("two_snapshots");
  assert.equal(await page.locator(".timeline-body").count(), 1);
  assert.match(await page.locator(".timeline").nth(1).innerText(), /This page has no timeline of kubernetes-a/);
  await close();
});

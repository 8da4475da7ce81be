// The page of a report in which srv1 was stopped for 8 s: PAGE_STOPPED, and the epoch second of it, PAGE_STOPPED_AT.
// COZYBRACKET is the binary that makes the page.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Browser, keep, needed } from "./browser.mjs";

let browser;
before(async () => {
  browser = await Browser.start();
});
after(async () => {
  await browser?.end();
});

test("a guest that was stopped for 8 s is seen at its moment", async () => {
  const file = join(browser.place, "stopped.html");
  const words = ["analyze", needed("PAGE_STOPPED"), "--format", "html", "--output", file];
  execFileSync(needed("COZYBRACKET"), words, { stdio: "pipe", timeout: 60_000 });
  const data = JSON.parse(readFileSync(file, "utf8").match(/id="cozybracket-data">(.*)<\/script>/)[1]);
  const [timeline] = data.reports[0].timelines;
  const begin = Number(needed("PAGE_STOPPED_AT")) - timeline.epoch_seconds;
  const near = (value, wanted) => assert.ok(Math.abs(value - wanted) <= 1.5, `${value} is not near ${wanted}`);
  const { page, seen, close } = await browser.show(file);
  const title = await page.locator(".mark", { hasText: "vcpu-stalled" }).filter({ visible: true }).first().getAttribute("title");
  const [, from, to] = title.match(/^([0-9.]+)–([0-9.]+) s: vCPUs .* of srv1 neither ran nor halted/).map(Number);
  near(from, begin);
  near(to, begin + 8);

  // Cell by cell through the row of srv1's first vCPU, as its keys do it.
  await page.locator(".heat-canvas").focus();
  const cells = [];
  const row = timeline.nodes.findIndex((node) => node.name === "srv1");
  const above = timeline.nodes.slice(0, row).reduce((sum, node) => sum + node.vcpus.length, 0);
  await page.keyboard.press("ArrowRight");
  for (let i = 0; i < above; ++i) await page.keyboard.press("ArrowDown");
  for (let i = 0; i < timeline.starts.length; ++i) {
    const words = await page.locator("[aria-live]").innerText();
    const [, start] = words.match(/^srv1 vCPU 0, ([0-9.]+)–/).map(Number);
    cells.push({ start, words });
    await page.keyboard.press("ArrowRight");
  }
  const still = cells.filter(({ words }) => /[ :]other (9[5-9]|100)\.\d %/.test(words) && /ran 0\.\d %/.test(words));
  assert.ok(still.length >= 6 && still.length <= 9, `${still.length} cells stand still`);
  for (const { start, words } of still) assert.ok(start >= from - 0.1 && start < to + 0.1, words);
  await keep(page, "stopped");
  assert.deepEqual(seen.errors, []);
  await close();
});

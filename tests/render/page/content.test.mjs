// What the page says: verdict, numbers, findings, captures; and what was not read.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Browser } from "./browser.mjs";

let browser;
before(async () => {
  browser = await Browser.start();
});
after(async () => {
  await browser?.end();
});

const words = async (page, selector) =>
  (await page.locator(selector).allInnerTexts()).map((text) => text.replace(/\s+/g, " ").trim());

test("the verdict is the heading, the window stands under it", async () => {
  const { page, close } = await browser.open("usual");
  assert.deepEqual(await words(page, "h2"), [
    "a sandbox node stood still: vCPU 0 of srv2 neither ran nor halted for 6.0 s",
  ]);
  assert.match((await words(page, ".verdict > p"))[1], /^Window 120\.121 s ± 0\.007 s from 2026-12-01 03:46:09 UTC/);
  assert.equal(await page.locator("nav").count(), 0);
  await close();
});

test("two snapshots have a navigation that leads to each", async () => {
  const { page, close } = await browser.open("two_snapshots");
  const links = page.locator("nav a");
  assert.equal(await links.count(), 2);
  await links.nth(1).click();
  assert.match(page.url(), /#snapshot-\d+$/);
  assert.equal(await page.locator("h2:target").innerText(), "nothing unusual was seen");
  await close();
});

test("a node's numbers: a part of waited is throttled, and an open halt is a bound", async () => {
  const { page, close } = await browser.open("usual");
  const rows = await words(page, ".budget-table tbody tr");
  assert.equal(rows[0], "srv1 2 vCPUs 52.1 % 31.0 % 4.5 % 12.4 % 3.0 % 28.1 k/s");
  assert.equal(rows[2], "srv3 2 vCPUs 0.4 % 0.0 % ≤ 0.2 % 99.4–99.6 % 3.0 % 28.1 k/s");
  const bar = page.locator(".budget-table .bar").first();
  assert.equal(
    await bar.getAttribute("aria-label"),
    "srv1, vCPU time: ran 52.1 %, waited 31.0 % (of which throttled 3.0 %), other 4.5 %, halted 12.4 %",
  );
  const shares = await bar.evaluate((element) =>
    [...element.children].map((piece) => piece.getBoundingClientRect().width / element.getBoundingClientRect().width),
  );
  assert.ok(Math.abs(shares[0] - 0.521) < 0.01, String(shares));
  const inside = await bar.evaluate((element) => element.querySelector(".kind-throttled").parentElement.className);
  assert.match(inside, /kind-waited/);
  await close();
});

test("the runner's numbers, with the word that its steal is worth", async () => {
  const { page, close } = await browser.open("usual");
  assert.deepEqual(await words(page, ".runner > .legend li"), [
    "user 61.0 %",
    "system 8.8 %",
    "interrupts 0.8 %",
    "iowait 0.4 %",
    "steal 3.1 % proved",
    "idle 25.9 %",
  ]);
  await close();
});

test("what was not read is said to be not read, never 0", async () => {
  const { page, close } = await browser.open("absent_numbers");
  const rows = await words(page, ".budget-table tbody tr");
  assert.equal(rows[0], "srv1 1 vCPU 48.5 % ≤ 51.5 % ≤ 51.5 % ≤ 51.5 % not read not read");
  assert.equal(rows[1], "srv2 2 vCPUs 55.0 % 33.0 % ≤ 12.0 % ≤ 12.0 % 3.0 % 28.1 k/s");
  assert.equal(rows[2], "srv3left not read not read not read not read not read not read");
  const runner = await words(page, ".runner > .legend li");
  assert.ok(runner.includes("iowait not read") && runner.includes("steal not read unusable"), runner.join("; "));
  assert.match((await words(page, ".pressure"))[0], /cpu some not read/);
  const heads = await words(page, ".chart-head");
  assert.match(heads[0], /Not read: steal\./);
  assert.match(heads[1], /Not read: waited\./);
  assert.ok(!heads.some((head) => /PSI|memory/.test(head)), heads.join("; "));
  await close();
});

test("sample 1 alone: no window, no rate, and what follows from it", async () => {
  const { page, close } = await browser.open("only_sample_1");
  assert.match((await words(page, ".verdict > p"))[1], /^No window/);
  assert.match((await words(page, ".warning"))[0], /truncated: the archive ends within a member/);
  assert.equal((await words(page, ".open li")).length, 4);
  assert.match((await words(page, ".budget"))[0], /Not read/);
  assert.match((await words(page, ".timeline"))[0], /This page has no timeline/);
  assert.equal(await page.locator("canvas").count(), 0);
  await close();
});

test("a finding opens to its evidence and to what it does not prove, and leads to its captures", async () => {
  const { page, close } = await browser.open("usual");
  const finding = page.locator(".finding").first();
  assert.equal(await finding.locator("table").isVisible(), false);
  await finding.locator("summary").click();
  assert.equal(await finding.evaluate((details) => details.open), true);
  assert.deepEqual(await words(page, ".finding[open] tbody td"), [
    "sandbox-qemu-thread-cpu",
    "thread 922/924",
    "run_delay_ns",
    "600 000 000",
    "18 600 000 000",
    "+18 000 000 000",
  ]);
  assert.match(await finding.locator(".not-proof").innerText(), /^It does not prove who held the vCPU/);
  await finding.locator("a").nth(1).click();
  const opened = page.locator(".capture[open]");
  assert.equal(await opened.count(), 1);
  assert.match(await opened.locator("summary").innerText(), /sandbox-qemu-thread-cpu\s+sample 2/);
  await close();
});

test("captures are folded, whole, and say where they were cut", async () => {
  const { page, close } = await browser.open("only_sample_1");
  const captures = page.locator(".capture");
  assert.equal(await captures.count(), 7);
  assert.equal(await page.locator(".capture[open]").count(), 0);
  await captures.first().locator("summary").click();
  assert.match(await captures.first().locator(".cut").innerText(), /71\.7 KiB more are in the report/);
  assert.match(await captures.nth(1).locator("summary").innerText(), /partial[^]*one file did not answer within 20 s/);
  assert.match(await captures.nth(2).locator("summary").innerText(), /unavailable[^]*only gauges/);
  await captures.first().locator("summary").click();
  assert.equal(await captures.first().locator("pre").isVisible(), false);
  await close();
});

test("what is folded can be found by a search in the page", async () => {
  const { page, close } = await browser.open("usual");
  await page.waitForFunction(() => document.querySelectorAll(".capture:not([open]) pre").length === 12);
  assert.ok(await page.evaluate(() => document.querySelector(".capture pre").textContent.includes("cpu39")));
  await close();
});

test("a comparison has two columns, its numbers, and what only one has", async () => {
  const { page, close } = await browser.open("compared");
  assert.deepEqual(await words(page, "h2"), [
    "nothing unusual was seen",
    "a sandbox node stood still: vCPU 0 of srv2 neither ran nor halted for 6.0 s",
  ]);
  const [left, right] = await Promise.all([0, 1].map((at) => page.locator(".verdicts .column").nth(at).boundingBox()));
  assert.equal(left.y, right.y);
  assert.ok(right.x >= left.x + left.width);
  const rows = await words(page, ".compared tbody tr");
  assert.ok(rows.includes("srv1 waited 0.3 % 31.0 % +30.7 % differs"), rows.join("; "));
  assert.ok(rows.includes("srv3 ran not read 0.4 %"), rows.join("; "));
  assert.ok(rows.includes("runner user 61.0 % 61.1 % +0.1 % within the error"), rows.join("; "));
  assert.deepEqual((await words(page, ".keys > div"))[1], "Findings only in red vcpu-stalled srv2 burst-steal runner");
  assert.match((await words(page, ".bars .column-green .missing"))[0], /srv3.*no such node/);
  assert.equal(await page.locator(".bars .column-red .missing").count(), 0);
  await close();
});

test("a comparison is one column where the window is narrow", async () => {
  const { page, close } = await browser.open("compared", { viewport: { width: 390, height: 800 } });
  const [first, second] = await Promise.all(
    [0, 1].map((at) => page.locator(".verdicts .column").nth(at).boundingBox()),
  );
  assert.equal(first.x, second.x);
  assert.ok(second.y >= first.y + first.height);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await close();
});

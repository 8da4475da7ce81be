// Colours, paper, size: what can be measured of how the page looks. Screenshots of it are kept to be looked at.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Browser, keep, needed, settled } from "./browser.mjs";

let browser;
before(async () => {
  browser = await Browser.start();
});
after(async () => {
  await browser?.end();
});

function luminance(hex) {
  const [r, g, b] = [1, 3, 5]
    .map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

const states = ["ran", "waited", "other", "halted"];
const stacked = ["user", "system", "interrupts", "iowait", "steal", "idle"];
const lines = ["cpu_some", "io_some", "memory_some", "memory", "throttled-line"];
const texts = ["text", "muted", "link", "warning", "notice", "green-side", "red-side"];

for (const scheme of ["light", "dark"]) {
  test(`${scheme}: every colour stands out from the surface, and the states from each other by lightness`, async () => {
    const { page, close } = await browser.open("no_timeline", { colorScheme: scheme });
    const colours = await page.evaluate(
      (names) =>
        Object.fromEntries(
          names.map((name) => [name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()]),
        ),
      ["surface", "panel", ...states, ...stacked, ...lines, ...texts],
    );
    const { surface } = colours;
    assert.equal(luminance(surface) > 0.5, scheme === "light");
    for (const name of [...states, ...stacked, ...lines])
      assert.ok(contrast(colours[name], surface) >= 3, `${name}: ${contrast(colours[name], surface)}`);
    for (const name of texts)
      assert.ok(contrast(colours[name], surface) >= 4.5, `${name}: ${contrast(colours[name], surface)}`);
    for (const name of ["text", "muted"])
      assert.ok(contrast(colours[name], colours.panel) >= 4.5, `${name} on a panel`);
    for (const a of states)
      for (const b of states) {
        if (a < b)
          assert.ok(contrast(colours[a], colours[b]) >= 1.3, `${a} and ${b}: ${contrast(colours[a], colours[b])}`);
      }
    stacked.slice(1).forEach((name, at) => {
      // neighbours in the runner's bar
      assert.ok(
        contrast(colours[name], colours[stacked[at]]) >= 1.3,
        `${name} and ${stacked[at]}: ${contrast(colours[name], colours[stacked[at]])}`,
      );
    });
    await close();
  });

  test(`${scheme}: pages as they look`, async () => {
    for (const name of ["usual", "compared", "absent_numbers", "hostile", "only_sample_1", "big"]) {
      const { page, close } = await browser.open(name, { colorScheme: scheme });
      await settled(page);
      await keep(page, `${name}-${scheme}`);
      await close();
    }
  });
}

test("the scheme can be changed by a button; the charts follow", async () => {
  const { page, close } = await browser.open("usual", { colorScheme: "light" });
  const painted = () =>
    page
      .locator(".chart canvas")
      .first()
      .evaluate((canvas) => canvas.toDataURL().length + canvas.toDataURL());
  const light = await painted();
  await page.getByRole("button", { name: "dark colours" }).click();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.scheme), "dark");
  await settled(page);
  assert.notEqual(await painted(), light);
  await page.getByRole("button", { name: "light colours" }).click();
  await settled(page);
  assert.equal(await painted(), light);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForTimeout(200);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.scheme), "light"); // what was chosen stays
  await close();
});

test("the scheme follows the system where nothing was chosen", async () => {
  const { page, close } = await browser.open("usual", { colorScheme: "light" });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForFunction(() => document.documentElement.dataset.scheme === "dark");
  await close();
});

test("printed: everything unfolded, black on white, no controls, and afterwards as before", async () => {
  const { page, close } = await browser.open("usual", { colorScheme: "dark" });
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await page.waitForFunction(() => !document.querySelector("details:not([open])"));
  const print = await page.evaluate(() => ({
    folded: document.querySelectorAll("details:not([open])").length,
    texts: document.querySelectorAll(".capture pre").length,
    scheme: document.documentElement.dataset.scheme,
    controls: [...document.querySelectorAll(".controls")].filter((element) => element.offsetParent !== null).length,
    widest: Math.max(...[...document.querySelectorAll("canvas")].map((canvas) => canvas.getBoundingClientRect().width)),
  }));
  assert.deepEqual(print, { folded: 0, texts: 12, scheme: "light", controls: 0, widest: 680 });
  await page.setViewportSize({ width: 703, height: 900 });
  await keep(page, "usual-print");
  await page.emulateMedia({ media: "screen", colorScheme: "dark" });
  await page.waitForFunction(() => document.documentElement.dataset.scheme === "dark");
  assert.equal(await page.locator("details[open]").count(), 0);
  await close();
});

test("a PDF of it has its captures", async () => {
  for (const name of ["usual", "compared"]) {
    const { page, seen, close } = await browser.open(name);
    const pdf = await page.pdf({ format: "A4", printBackground: false });
    assert.ok(pdf.length > 50_000, `${pdf.length} bytes`);
    assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
    writeFileSync(join(needed("PAGE_ARTIFACTS"), `${name}.pdf`), pdf);
    assert.deepEqual(seen.errors, []);
    await close();
  }
});

for (const name of ["usual", "compared", "absent_numbers", "only_sample_1"]) {
  test(`narrow: ${name} fits a telephone`, async () => {
    const { page, close } = await browser.open(name, { viewport: { width: 390, height: 844 } });
    await settled(page);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await keep(page, `${name}-narrow`);
    await close();
  });
}

test("charts follow the width of the window", async () => {
  const { page, close } = await browser.open("usual");
  const width = () =>
    page
      .locator(".chart .uplot")
      .first()
      .evaluate((root) => root.getBoundingClientRect().width);
  const before_it = await width();
  await page.setViewportSize({ width: 700, height: 900 });
  await page.waitForFunction(
    (wide) => document.querySelector(".chart .uplot").getBoundingClientRect().width < wide,
    before_it,
  );
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await close();
});

test("landmarks and names for those who do not see it", async () => {
  const { page, close } = await browser.open("two_snapshots");
  for (const role of ["main", "banner", "navigation", "contentinfo"])
    assert.ok((await page.getByRole(role).count()) >= 1, role);
  assert.equal(await page.getByRole("heading", { level: 1 }).count(), 1);
  const unnamed = await page.evaluate(
    () =>
      [...document.querySelectorAll("button, [role=img], [role=region], [role=application], [role=group]")].filter(
        (element) => !element.getAttribute("aria-label") && !element.textContent.trim(),
      ).length,
  );
  assert.equal(unnamed, 0);
  const ids = await page.evaluate(() => [...document.querySelectorAll("[id]")].map((element) => element.id));
  assert.equal(new Set(ids).size, ids.length);
  assert.equal(await page.evaluate(() => document.documentElement.lang), "en");
  await close();
});

test("29 minutes of 24 vCPUs weigh less than 3 MiB and are there at once", async (context) => {
  const { file, bytes } = browser.write("big");
  assert.ok(bytes < 3 * 1024 * 1024, `${bytes} bytes`);
  const begun = Date.now();
  const { page, close } = await browser.show(file);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const taken = Date.now() - begun;
  context.diagnostic(`${(bytes / 1024).toFixed(0)} KiB, there after ${taken} ms`);
  assert.ok(taken < 10_000, `${taken} ms`);
  await close();
});

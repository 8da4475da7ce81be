// Pages that the binary itself writes, of the fixtures and of a report with a timeline.
// COZYBRACKET is the binary, PAGE_LONG_REPORT a report with a timeline in which srv2 stands still.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Browser, keep, needed, ranges, settled } from "./browser.mjs";

const fixtures = join(dirname(fileURLToPath(import.meta.url)), "../../fixtures/reports");
let browser;
before(async () => {
  browser = await Browser.start();
});
after(async () => {
  await browser?.end();
});

const binary = (...args) =>
  execFileSync(needed("COZYBRACKET"), args, { encoding: "utf8", maxBuffer: 1 << 26, timeout: 60_000 });

/** The page of a report, and what `--format json` says of the same. */
function written(name, ...args) {
  const file = join(browser.place, `${name}.html`);
  binary(...args, "--format", "html", "--output", file);
  return { file, answer: JSON.parse(binary(...args, "--format", "json")) };
}

async function shown(name, file) {
  const { page, seen, close } = await browser.show(file);
  await settled(page);
  await keep(page, `binary-${name}`);
  assert.deepEqual(seen.requests, [pathToFileURL(file).href]);
  assert.deepEqual(seen.errors, []);
  return { page, close };
}

for (const name of ["waited", "hostile", "shell", "two-snapshots"]) {
  test(`the page of ${name} says what its JSON says`, async () => {
    const { file, answer } = written(name, "analyze", join(fixtures, name));
    const { page, close } = await shown(name, file);
    const verdicts = await page.locator("h2").allInnerTexts();
    assert.deepEqual(
      verdicts,
      answer.snapshots.map(({ verdict }) => verdict),
    );
    const ids = await page.locator(".finding code").allInnerTexts();
    assert.deepEqual(
      ids,
      answer.snapshots.flatMap(({ findings }) => findings.map(({ id }) => id)),
    );
    const nodes = await page.locator(".budget-table th[scope=row] bdi").allTextContents();
    assert.deepEqual(
      nodes,
      answer.snapshots.flatMap((snapshot) => (snapshot.nodes ?? []).map((node) => node.name)),
    );
    const captures = answer.snapshots.flatMap((snapshot) => snapshot.captures).filter(({ file: path }) => path);
    assert.ok((await page.locator(".capture").count()) >= captures.length);
    await close();
  });
}

test("a capture is on the page as the report has it", async () => {
  const { file, answer } = written("waited", "analyze", join(fixtures, "waited"));
  const { page, close } = await shown("waited", file);
  await page.locator(".capture summary").first().click();
  const text = await page
    .locator(".capture pre")
    .first()
    .evaluate((pre) => pre.textContent);
  const [first] = answer.snapshots[0].captures;
  assert.ok(text.length > 100);
  assert.ok(readFileSync(join(fixtures, "waited", first.file), "utf8").includes(text.trimEnd().slice(0, 2000)));
  await close();
});

test("a comparison's page has the numbers of its JSON", async () => {
  const { file, answer } = written("compare", "compare", join(fixtures, "two-snapshots"), join(fixtures, "waited"));
  const { page, close } = await shown("compare", file);
  assert.equal(
    await page.locator(".compared tbody tr").count(),
    answer.snapshots.flatMap(({ numbers }) => numbers).length,
  );
  await close();
});

test("a vCPU that stood still is on the timeline at its moment", async () => {
  const { file, answer } = written("long", "analyze", needed("PAGE_LONG_REPORT"));
  const { page, close } = await shown("long", file);
  const at = answer.snapshots[0].findings.findIndex(({ id }) => id === "vcpu-stalled");
  const { from_seconds: from, to_seconds: to } = answer.snapshots[0].findings[at].timeline;
  const finding = page.locator(".finding").nth(at);
  await finding.locator("summary").click();
  await finding.locator("button.zoom").click();
  await settled(page);
  const all = await ranges(page);
  assert.equal(new Set(all).size, 1);
  const [left, right] = all[0].split(" ").map((value) => value / 1000);
  assert.ok(left <= from && right >= to && right - left <= 3 * (to - from) + 1, `${left} ${right}`);
  await page.locator(".heat-canvas").scrollIntoViewIfNeeded();
  const box = await page.locator(".heat-canvas").boundingBox();
  const middle = ((from + to) / 2 - left) / (right - left);
  const row = await page.locator(".heat-canvas").evaluate((canvas) => canvas.clientHeight / 2);
  await page.mouse.move(box.x + 56 + (box.width - 68) * middle, box.y + row);
  assert.match(await page.locator(".readout").innerText(), /^srv2 vCPU \d, .*: ran 0\.0 %/);
  await keep(page, "binary-long-stalled");
  await close();
});

// What a page may do: show its own file, and nothing else, whatever the names in it are.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Browser } from "./browser.mjs";
import { cases } from "./cases.mjs";

let browser;
before(async () => {
  browser = await Browser.start();
});
after(async () => {
  await browser?.end();
});

for (const name of Object.keys(cases)) {
  test(`${name}: no request but its own file, no error, no violation of the policy`, async () => {
    const { file } = browser.write(name);
    const { page, seen, close } = await browser.show(file);
    for (const summary of await page.locator("summary").all()) await summary.click({ timeout: 5000 });
    await page.waitForTimeout(300);
    assert.deepEqual(seen.requests, [pathToFileURL(file).href]);
    assert.deepEqual(seen.errors, []);
    assert.equal(await page.title(), "cozybracket");
    await close();
  });
}

test("hostile names are text wherever they stand", async () => {
  const { page, seen, close } = await browser.open("hostile");
  const strange = await page.evaluate(() => ({
    images: document.images.length,
    scripts: document.scripts.length,
    frames: document.querySelectorAll("iframe, object, embed, base, form").length,
    handlers: [...document.querySelectorAll("*")].filter((element) =>
      [...element.attributes].some(({ name }) => name.startsWith("on")),
    ).length,
    styles: document.querySelectorAll("body style").length,
    bold: document.querySelectorAll("b").length,
  }));
  assert.deepEqual(strange, { images: 0, scripts: 2, frames: 0, handlers: 0, styles: 0, bold: 0 });
  const heading = await page.locator("h2").first().textContent();
  assert.match(heading, /^<img src=x onerror="document\.title='owned'"><\/script><script>/);
  const names = await page.locator(".budget-table th[scope=row] bdi").allTextContents();
  assert.equal(names[1], "\\u202egnp.exe\\u202c ::error::x"); // a direction override is shown, not obeyed
  assert.equal(names[2], "##[group]b");
  assert.equal(names[3].length, 10240);
  assert.deepEqual(seen.errors, []);
  await close();
});

test("a captured text is verbatim, hostile or not", async () => {
  const { page, close } = await browser.open("hostile");
  await page.locator(".capture summary").first().click();
  const text = await page
    .locator(".capture pre")
    .first()
    .evaluate((pre) => pre.textContent);
  assert.equal(text, cases.hostile().reports[0].captures[0].text);
  await close();
});

test("names of 10 kB do not make the page wider than the window", async () => {
  for (const width of [390, 1200]) {
    const { page, close } = await browser.open("hostile", { viewport: { width, height: 800 } });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `at ${width}`);
    await close();
  }
});

test("a script that is put into the file does not run", async () => {
  const { file } = browser.write("usual");
  const text = readFileSync(file, "utf8").replace("</body>", "<script>document.title = 'owned'</script></body>");
  const other = file.replace("usual", "tampered");
  (await import("node:fs")).writeFileSync(other, text);
  const { page, seen, close } = await browser.show(other);
  assert.equal(await page.title(), "cozybracket");
  assert.ok(
    seen.errors.some((words) => words.includes("Content Security Policy")),
    seen.errors.join("\n"),
  );
  await close();
});

test("without scripts the plain text is there", async () => {
  const { file } = browser.write("usual", cases.usual(), "verdict: <b>not bold</b> & whole");
  const { page, seen, close } = await browser.show(file, { javaScriptEnabled: false });
  assert.match(await page.locator("pre").innerText(), /verdict: <b>not bold<\/b> & whole/);
  assert.deepEqual(seen.requests, [pathToFileURL(file).href]);
  await close();
});

test("data of another schema is said, not guessed", async () => {
  const { file } = browser.write("other", { schema: "cozybracket.page/2", reports: [] });
  const { page, close } = await browser.show(file);
  assert.match(await page.locator("[role=alert]").innerText(), /cozybracket\.page\/2/);
  await close();
});

// Opens a page several times, each in a browser of its own, and prints what that takes. See tests/bench/page-load.
import { statSync } from "node:fs";
import { Browser } from "./browser.mjs";

const [times, given] = [Number(process.argv[2]), process.argv[3]];
const taken = { load: [], painted: [], script: [] };

async function once() {
  const browser = await Browser.start();
  const file = given ?? browser.write("big").file;
  const { page, close } = await browser.show("about:blank");
  const client = await page.context().newCDPSession(page);
  await client.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.goto(`file://${file}`);
  await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0);
  const [load, painted] = await page.evaluate(() => [
    performance.getEntriesByType("navigation")[0].loadEventEnd,
    performance.getEntriesByName("first-contentful-paint")[0].startTime,
  ]);
  const { metrics } = await client.send("Performance.getMetrics");
  taken.load.push(load);
  taken.painted.push(painted);
  taken.script.push(1000 * (metrics.find(({ name }) => name === "ScriptDuration")?.value ?? Number.NaN));
  const weight = statSync(file).size;
  await close();
  await browser.end();
  return weight;
}

let weight = 0;
for (let time = 0; time < times; time += 1) weight = await once();
const middle = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)].toFixed(0);
console.log(`weight: ${weight} bytes (${(weight / 1024 / 1024).toFixed(2)} MiB)`);
console.log(
  `load event after ${middle(taken.load)} ms, first picture after ${middle(taken.painted)} ms (median of ${times})`,
);
console.log(`CPU time of the scripts: ${middle(taken.script)} ms`);

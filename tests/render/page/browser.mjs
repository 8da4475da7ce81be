// A real Chromium, and the pages of the tests in it. The environment names what the bats file has prepared:
//   PAGE_MODULES    a folder with node_modules (playwright-core, esbuild)
//   PAGE_TEMPLATE   page.html as the bundler wrote it
//   PAGE_CHROMIUM   the browser
//   PAGE_ARTIFACTS  where screenshots are kept
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { cases } from "./cases.mjs";
import { write_page } from "./fill.mjs";

export function needed(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; tests/page.bats sets it`);
  return value;
}

export const require_module = (name) => createRequire(join(needed("PAGE_MODULES"), "package.json"))(name);

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Opens pages in windows of their own and notes what each asked for and complained of. */
export class Browser {
  static async start() {
    const self = new Browser();
    self.place = mkdtempSync(join(tmpdir(), "cozy-page-"));
    mkdirSync(needed("PAGE_ARTIFACTS"), { recursive: true });
    self.browser = await require_module("playwright-core").chromium.launch({
      executablePath: needed("PAGE_CHROMIUM"),
      headless: true,
      args: flags,
      timeout: 60_000,
      env: { ...process.env, HOME: self.place, XDG_CONFIG_HOME: self.place, XDG_CACHE_HOME: self.place },
    });
    return self;
  }

  async end() {
    await this.browser?.close();
    rmSync(this.place, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Writes the page of a case, or of the data given. */
  write(name, data = cases[name](), plain = undefined) {
    const file = join(this.place, `${name}.html`);
    const bytes = write_page(needed("PAGE_TEMPLATE"), data, file, plain);
    return { file, bytes };
  }

  /** Shows a file; `seen` is filled while it is open. */
  async show(file, options = {}) {
    const context = await this.browser.newContext({
      viewport: { width: 1200, height: 900 },
      offline: true,
      ...options,
    });
    const page = await context.newPage();
    const seen = { requests: [], errors: [] };
    page.on("request", (request) => seen.requests.push(request.url()));
    page.on("pageerror", (error) => seen.errors.push(String(error.stack ?? error)));
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) seen.errors.push(message.text());
    });
    page.on("dialog", (dialog) => {
      seen.errors.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.addInitScript(() => {
      addEventListener("securitypolicyviolation", (event) =>
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`),
      );
    });
    await page.goto(file === "about:blank" ? file : pathToFileURL(file).href);
    return { page, seen, close: () => context.close() };
  }

  open(name, options = {}) {
    return this.show(this.write(name).file, options);
  }
}

/** A screenshot of the whole page, or of an element, to be looked at after the tests. */
export async function keep(page, name, element = null) {
  const path = join(needed("PAGE_ARTIFACTS"), `${name}.png`);
  if (element) await element.screenshot({ path });
  else await page.screenshot({ path, fullPage: true });
}

/** What every chart and the heat map of a page show, each as "from to" in thousandths of a second. */
export function ranges(page, within = "body") {
  return page
    .locator(within)
    .first()
    .evaluate((root) =>
      [...root.querySelectorAll("[data-from]")].map(
        (element) => `${Math.round(1000 * element.dataset.from)} ${Math.round(1000 * element.dataset.to)}`,
      ),
    );
}

/** uPlot gathers its changes until the current task is over. */
export const settled = (page) =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0))));

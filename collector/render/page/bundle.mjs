// Writes the one template that the binary fills: page.html with style and script inline, their hashes in its
// Content-Security-Policy, and the three markers @COZYBRACKET_TITLE@, @COZYBRACKET_PLAIN@, @COZYBRACKET_DATA@.
//
//   node bundle.mjs --out FILE
//
// Needs node_modules beside package.json (`npm ci --omit=dev`), and no network.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const markers = ["@COZYBRACKET_TITLE@", "@COZYBRACKET_PLAIN@", "@COZYBRACKET_DATA@"];

function out_file() {
  const at = process.argv.indexOf("--out");
  const file = at < 0 ? undefined : process.argv[at + 1];
  if (!file || process.argv.length !== 4) {
    console.error("Usage: node bundle.mjs --out FILE");
    process.exit(2);
  }
  return resolve(file);
}

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    absWorkingDir: here,
    bundle: true,
    charset: "ascii",
    format: "iife",
    legalComments: "inline",
    logLevel: "warning",
    minify: true,
    target: ["es2021", "chrome105", "firefox115", "safari16"],
    write: false,
  });
  return result.outputFiles[0].text.trim();
}

const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

/// As @style of the policy: what is inline and has this hash, and nothing else.
function policy(script, style) {
  return [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}

/// An element's text must not end it, nor hold a marker of the binary's.
function inline(name, text) {
  for (const wrong of ["</script", "</style", "<!--", "@COZYBRACKET_"]) {
    if (text.toLowerCase().includes(wrong.toLowerCase())) throw new Error(`${name} holds ${wrong}`);
  }
  return text;
}

const script = inline("the script", await bundle("main.ts"));
const style = inline("the style", await bundle("style.css"));
const page = readFileSync(join(here, "page.html"), "utf8")
  .replace("@CSP@", () => policy(script, style))
  .replace("@STYLE@", () => style)
  .replace("@SCRIPT@", () => script);
for (const marker of markers) {
  if (page.split(marker).length !== 2) throw new Error(`${marker} is not in the page exactly once`);
}
const file = out_file();
mkdirSync(dirname(file), { recursive: true });
writeFileSync(`${file}.partial`, page);
renameSync(`${file}.partial`, file);
console.log(`${file}: ${(page.length / 1024).toFixed(0)} KiB`);

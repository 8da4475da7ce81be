// Does what the binary does: puts data, title and plain text into the template that the bundler wrote.
import { readFileSync, writeFileSync } from "node:fs";

/** ASCII alone, and no "<": no text can end the element that it stands in. */
export function data_text(data) {
  return JSON.stringify(data).replace(
    /[<\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

export function fill(template, data, plain = "the report as plain text") {
  const parts = { DATA: data_text(data), TITLE: "cozybracket", PLAIN: escaped(plain) };
  return readFileSync(template, "utf8").replace(/@COZYBRACKET_(DATA|TITLE|PLAIN)@/g, (_, key) => parts[key]);
}

export function write_page(template, data, file, plain) {
  const text = fill(template, data, plain);
  writeFileSync(file, text);
  return Buffer.byteLength(text);
}

/** Numbers as words. What was not read is "not read", never 0. */

export const not_read = "not read";

function known(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** Of a share from 0 to 1. */
export function percent(share: unknown, digits = 1): string {
  if (!known(share)) return not_read;
  const rounded = (100 * share).toFixed(digits);
  return `${Number(rounded) === 0 && share > 0 ? `<${(10 ** -digits).toFixed(digits)}` : rounded} %`;
}

export function permille(value: number | null | undefined): string {
  return known(value) ? `${(value / 10).toFixed(1)} %` : not_read;
}

export function rate(value: unknown): string {
  if (!known(value)) return not_read;
  const size = Math.abs(value);
  if (size >= 1e6) return `${(value / 1e6).toFixed(1)} M/s`;
  if (size >= 1e3) return `${(value / 1e3).toFixed(1)} k/s`;
  return `${size >= 100 ? value.toFixed(0) : value.toFixed(1)} /s`;
}

export function seconds(value: unknown, digits = 1): string {
  return known(value) ? `${value.toFixed(digits)} s` : not_read;
}

export function cpus(value: unknown): string {
  return known(value) ? `${value.toFixed(2)} CPUs` : not_read;
}

export function mebibytes(value: unknown): string {
  if (!known(value)) return not_read;
  return value >= 10240 ? `${(value / 1024).toFixed(1)} GiB` : `${value.toFixed(0)} MiB`;
}

/** Digits in groups of three, by narrow spaces that do not break. */
export function grouped(value: number | string): string {
  return typeof value === "number" || /^-?\d+$/.test(value)
    ? String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f")
    : value;
}

export function clock(epoch_seconds: number, digits = 0): string {
  const date = new Date(Math.round(epoch_seconds * 1000));
  if (!Number.isFinite(date.getTime())) return not_read;
  const words = date.toISOString();
  return digits === 0 ? words.slice(11, 19) : words.slice(11, 20 + digits);
}

export function day_and_clock(epoch_seconds: number): string {
  const date = new Date(epoch_seconds * 1000);
  return Number.isFinite(date.getTime()) ? `${date.toISOString().slice(0, 19).replace("T", " ")} UTC` : not_read;
}

export function bytes(value: number): string {
  if (value < 1024) return `${value} bytes`;
  return value < 1024 * 1024 ? `${(value / 1024).toFixed(1)} KiB` : `${(value / 1024 / 1024).toFixed(1)} MiB`;
}

const unseen = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** With what would not be seen, or would turn around the order of the letters, as \uNNNN. */
export function visible(text: string): string {
  return text.replace(unseen, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The same for a canvas, cut. */
export function plain(text: string, most = 80): string {
  const words = visible(text.slice(0, most + 1));
  return words.length > most ? `${words.slice(0, most - 1)}…` : words;
}

// Numbers as people read them, never parted from their unit by a line's end. Sizes are
// binary: GiB, or MiB where they are smaller than one.
export const GIB = 2 ** 30;
const MIB = 2 ** 20;

const digits = (count: number) =>
  new Intl.NumberFormat("en", { minimumFractionDigits: count, maximumFractionDigits: count });
const one = digits(1);
const two = digits(2);
const whole = new Intl.NumberFormat("en");

export const gib = (bytes: number) => bytes / GIB;

/** "12.3": for columns whose heading names the unit. */
export const gibShort = (bytes: number) => one.format(gib(bytes));

/** "12.3 GiB", or "87 MiB" where that would be a zero: for sentences. */
export function gibWords(bytes: number): string {
  return bytes >= GIB / 10 || bytes === 0
    ? `${gibShort(bytes)}\u00a0GiB`
    : `${whole.format(Math.round(bytes / MIB))}\u00a0MiB`;
}

/** "12.34": a column of a table. */
export const gibExact = (bytes: number) => two.format(gib(bytes));

/** "12.34 GiB", "26.0 MiB", "512 bytes": a figure by itself. */
export function size(bytes: number): string {
  if (bytes >= GIB || bytes === 0) return `${two.format(gib(bytes))}\u00a0GiB`;
  if (bytes >= MIB / 10) return `${one.format(bytes / MIB)}\u00a0MiB`;
  return `${whole.format(bytes)}\u00a0bytes`;
}

/** "24 GiB": a size that cards come in. */
export const sizeName = (gibibytes: number) => `${gibibytes}\u00a0GiB`;

export const count = (value: number) => whole.format(value);

/** "7.25 B", "637 M". */
export function parameters(value: number): string {
  if (value >= 1e9) return `${two.format(value / 1e9)}\u00a0B`;
  return `${whole.format(Math.round(value / 1e6))}\u00a0M`;
}

/** "41 %", "0.4 %". */
export function share(part: number, of: number): string {
  const percent = of > 0 ? (100 * part) / of : 0;
  if (percent > 0 && percent < 0.1) return "<\u00a00.1\u00a0%";
  return percent >= 10 ? `${Math.round(percent)}\u00a0%` : `${one.format(percent)}\u00a0%`;
}

export const percent = (value: number) =>
  value >= 10 ? `${one.format(value)}\u00a0%` : `${Number(value.toPrecision(3))}\u00a0%`;

/** Three digits that count: "1,230", "12.3", "0.123". */
export const significant = (value: number) =>
  new Intl.NumberFormat("en", { maximumSignificantDigits: 3 }).format(value);

export const seconds = (value: number) =>
  value < 1 ? `${significant(value * 1000)}\u00a0ms` : `${significant(value)}\u00a0s`;

/** Hours as people say them: "25 min", "18.4 h", "7.0 days". */
export function duration(hours: number): string {
  if (hours < 1) return `${whole.format(Math.max(1, Math.round(hours * 60)))}\u00a0min`;
  return hours < 72 ? `${one.format(hours)}\u00a0h` : `${one.format(hours / 24)}\u00a0days`;
}

const usd = new Intl.NumberFormat("en", { style: "currency", currency: "USD" });
const wholeUsd = new Intl.NumberFormat("en", {
  style: "currency",
  currency: "USD",
  maximumFractionDigits: 0,
});

export const dollars = (value: number) => (value < 100 ? usd : wholeUsd).format(value);

/** One figure where both ends read the same. */
export function range([low, high]: [number, number], words: (value: number) => string): string {
  const [from, to] = [words(low), words(high)];
  return from === to ? from : `${from}\u2013${to}`;
}

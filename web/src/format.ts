// Numbers as people read them, never parted from their unit by a line's end. Sizes are
// binary: GiB, or MiB where they are smaller than one.
export const GIB = 2 ** 30;
const MIB = 2 ** 20;

// By hand, because making one Intl.NumberFormat takes a slow phone longer than drawing the verdict.
function grouped(digits: string): string {
  const [before = "", after] = digits.split(".");
  const groups = before.replace(/\B(?=(?:\d{3})+$)/g, ",");
  return after === undefined ? groups : `${groups}.${after}`;
}
const fixed = (places: number) => (value: number) => grouped(value.toFixed(places));
const whole = fixed(0);
const one = fixed(1);
const two = fixed(2);

export const gib = (bytes: number) => bytes / GIB;

/** "12.3": for columns whose heading names the unit. */
export const gibShort = (bytes: number) => one(gib(bytes));

/** "12.3 GiB", or "87 MiB" where that would be a zero: for sentences. */
export function gibWords(bytes: number): string {
  return bytes >= GIB / 10 || bytes === 0
    ? `${gibShort(bytes)}\u00a0GiB`
    : `${whole(Math.round(bytes / MIB))}\u00a0MiB`;
}

/** "12.34": a column of a table. */
export const gibExact = (bytes: number) => two(gib(bytes));

/** "12.34 GiB", "26.0 MiB", "512 bytes": a figure by itself. */
export function size(bytes: number): string {
  if (bytes >= GIB || bytes === 0) return `${two(gib(bytes))}\u00a0GiB`;
  if (bytes >= MIB / 10) return `${one(bytes / MIB)}\u00a0MiB`;
  return `${whole(bytes)}\u00a0bytes`;
}

/** "24 GiB": a size that cards come in. */
export const sizeName = (gibibytes: number) => `${gibibytes}\u00a0GiB`;

export const count = (value: number) => whole(value);

/** "7.25 B", "637 M". */
export function parameters(value: number): string {
  if (value >= 1e9) return `${two(value / 1e9)}\u00a0B`;
  return `${whole(Math.round(value / 1e6))}\u00a0M`;
}

/** "41 %", "0.4 %". */
export function share(part: number, of: number): string {
  const percent = of > 0 ? (100 * part) / of : 0;
  if (percent > 0 && percent < 0.1) return "<\u00a00.1\u00a0%";
  return percent >= 10 ? `${Math.round(percent)}\u00a0%` : `${one(percent)}\u00a0%`;
}

export const percent = (value: number) =>
  value >= 10 ? `${one(value)}\u00a0%` : `${Number(value.toPrecision(3))}\u00a0%`;

/** Three digits that count: "1,230", "12.3", "0.123". */
export const significant = (value: number) => grouped(String(Number(value.toPrecision(3))));

export const seconds = (value: number) =>
  value < 1 ? `${significant(value * 1000)}\u00a0ms` : `${significant(value)}\u00a0s`;

/** Hours as people say them: "25 min", "18.4 h", "7.0 days". */
export function duration(hours: number): string {
  if (hours < 1) return `${whole(Math.max(1, Math.round(hours * 60)))}\u00a0min`;
  return hours < 72 ? `${one(hours)}\u00a0h` : `${one(hours / 24)}\u00a0days`;
}

export const dollars = (value: number) => `$${value < 100 ? two(value) : whole(value)}`;

/** One figure where both ends read the same. */
export function range([low, high]: [number, number], words: (value: number) => string): string {
  const [from, to] = [words(low), words(high)];
  return from === to ? from : `${from}\u2013${to}`;
}

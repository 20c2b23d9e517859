// Numbers as people read them, never parted from their unit by a line's end. Sizes are binary, as PyTorch and nvidia-smi
// mean them, or decimal for whoever asks: GiB or GB, and MiB or MB where they are smaller than one. What sizes cards come in
// are names, and stay.
export const GIB = 2 ** 30;

const UNITS = {
  GiB: { large: GIB, small: 2 ** 20, smallName: "MiB" },
  GB: { large: 1e9, small: 1e6, smallName: "MB" },
};
export type Unit = keyof typeof UNITS;
export const UNIT_KEY = "plimsoll-unit";
export const UNIT_NAMES = Object.keys(UNITS) as Unit[];

let chosen: Unit = "GiB";
let { large, small, smallName } = UNITS[chosen];

export const unit = () => chosen;
export const unitBytes = () => large;
export const asUnit = (text: string | null): Unit => (text === "GB" ? "GB" : "GiB");
export function measureIn(next: Unit): void {
  chosen = next;
  ({ large, small, smallName } = UNITS[next]);
}

const ENGLISH = { thousands: ",", decimal: ".", bytes: "bytes", days: "days" };
export type Marks = typeof ENGLISH;

let marks = ENGLISH;
/** What stands between thousands, and before tenths; and the units that have words. */
export function markBy(own = ENGLISH): void {
  marks = own;
}

/** A number as the language writes it, as one that can be read. */
export const withPoint = (text: string) =>
  marks.decimal === "," ? text.replace(/^(\d+),(\d+)$/, "$1.$2") : text;

// By hand, because making one Intl.NumberFormat takes a slow phone longer than drawing the verdict.
function grouped(digits: string): string {
  const [before = "", after] = digits.split(".");
  const groups = before.replace(/\B(?=(?:\d{3})+$)/g, marks.thousands);
  return after === undefined ? groups : `${groups}${marks.decimal}${after}`;
}

/** The figures of an English text, as the language writes them: "7,241,732,096 x 2.016". */
export const withOwnMarks = (text: string) =>
  text.replace(/\d+(?:,\d{3})*(?:\.\d+)?/g, (digits) =>
    /[,.]/.test(digits) ? grouped(digits.replaceAll(",", "")) : digits,
  );

const fixed = (places: number) => (value: number) => grouped(value.toFixed(places));
const whole = fixed(0);
/** "12.3", of a figure that has no unit. */
export const one = fixed(1);
const two = fixed(2);

/** In the unit that was chosen. */
export const units = (bytes: number) => bytes / large;

/** "12.3": for columns whose heading names the unit. */
export const sizeShort = (bytes: number) => one(units(bytes));

/** "12.3 GiB", or "87 MiB" where that would be a zero: for sentences. */
export function sizeWords(bytes: number): string {
  return bytes >= large / 10 || bytes === 0
    ? `${sizeShort(bytes)}\u00a0${chosen}`
    : `${whole(Math.round(bytes / small))}\u00a0${smallName}`;
}

/** "12.34", or "< 0.01" where that would be a zero: a column of a table. */
export const sizeExact = (bytes: number) =>
  bytes > 0 && units(bytes) < 0.005 ? `<\u00a0${two(0.01)}` : two(units(bytes));

/** "12.34 GiB", "26.0 MiB", "512 bytes": a figure by itself. */
export function size(bytes: number): string {
  if (bytes >= large || bytes === 0) return `${sizeExact(bytes)}\u00a0${chosen}`;
  if (bytes >= small / 10) return `${one(bytes / small)}\u00a0${smallName}`;
  return `${whole(bytes)}\u00a0${marks.bytes}`;
}

/** "24 GiB": a size that cards come in. */
export const sizeName = (gibibytes: number) => `${gibibytes}\u00a0GiB`;

/** As it is: "2,432,000", "0.05". */
export const figure = (value: number) => grouped(String(value));

export const count = (value: number) => whole(value);

/** "7.25 B", "637 M". */
export function parameters(value: number): string {
  if (value >= 1e9) return `${two(value / 1e9)}\u00a0B`;
  return `${whole(Math.round(value / 1e6))}\u00a0M`;
}

/** "41 %", "0.4 %". */
export function share(part: number, of: number): string {
  const percent = of > 0 ? (100 * part) / of : 0;
  if (percent > 0 && percent < 0.1) return `<\u00a0${one(0.1)}\u00a0%`;
  return percent >= 10 ? `${Math.round(percent)}\u00a0%` : `${one(percent)}\u00a0%`;
}

export const percent = (value: number) =>
  value >= 10 ? `${one(value)}\u00a0%` : `${significant(value)}\u00a0%`;

/** Three digits that count: "1,230", "12.3", "0.123". */
export const significant = (value: number) => grouped(String(Number(value.toPrecision(3))));

export const seconds = (value: number) =>
  value < 1 ? `${significant(value * 1000)}\u00a0ms` : `${significant(value)}\u00a0s`;

/** Hours as people say them: "25 min", "18.4 h", "7.0 days". */
export function duration(hours: number): string {
  if (hours < 1) return `${whole(Math.max(1, Math.round(hours * 60)))}\u00a0min`;
  return hours < 72 ? `${one(hours)}\u00a0h` : `${one(hours / 24)}\u00a0${marks.days}`;
}

export const dollars = (value: number) => `$${value < 100 ? two(value) : whole(value)}`;

/** One figure where both ends read the same. */
export function range([low, high]: [number, number], words: (value: number) => string): string {
  const [from, to] = [words(low), words(high)];
  return from === to ? from : `${from}\u2013${to}`;
}

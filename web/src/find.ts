// Finding a name by its parts, as people type them: "4090" finds the RTX 4090, "llama 8b" Llama-3.1-8B, "mistrall 7b" Mistral-7B.
export interface Entry {
  /** What the request says. */
  value: string;
  /** What the input shows. */
  name: string;
  detail: string;
  /** Further names it is found by. */
  words: string;
  /** How far another name for the same stands behind its own. */
  behind?: number;
}

const partsOf = (text: string) =>
  text
    .toLowerCase()
    .split(/[^a-z0-9.]+/)
    .filter((part) => part !== "");

const lastPart = (name: string) => name.slice(name.lastIndexOf("/") + 1);

const numbersOf = (word: string) => word.replace(/[^\d.]/g, "");

/** Letters to put in, take out or change, and neighbours to swap. */
function slips(one: string, other: string): number {
  let [above, row] = [[] as number[], Array.from({ length: other.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= one.length; ++i) {
    const next = [i];
    for (let j = 1; j <= other.length; ++j) {
      const same = one[i - 1] === other[j - 1];
      let least = Math.min(row[j - 1]! + Number(!same), row[j]! + 1, next[j - 1]! + 1);
      if (one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1])
        least = Math.min(least, above[j - 2]! + 1);
      next.push(least);
    }
    [above, row] = [row, next];
  }
  return row[other.length]!;
}

/** What a part of the text counts as a word written wrongly: numbers are never near, "3.1" is no "3.2". */
function slipped(part: string): (word: string) => boolean {
  const numbers = numbersOf(part);
  const letters = part.length - numbers.length;
  const most = letters < 4 ? 0 : letters < 8 ? 1 : 2;
  const known = new Map<string, boolean>();
  return (word) => {
    if (Math.abs(word.length - part.length) > most) return false;
    const before = known.get(word);
    if (before !== undefined) return before;
    const near = numbersOf(word) === numbers && slips(part, word) <= most;
    known.set(word, near);
    return near;
  };
}

/** A part of the text, and which words it may be a slip of. */
type Wanted = [part: string, isSlipOf: (word: string) => boolean];

const [BEGINS, NEAR] = [10, 100];

/** Lower is better; undefined where a part of the text occurs nowhere. A part that is a whole word counts most. */
function distance(entry: Entry, wanted: Wanted[]): number | undefined {
  const words = partsOf(`${entry.value} ${entry.name} ${entry.words}`);
  const whole = words.join("");
  let sum = 0;
  for (const [part, isSlipOf] of wanted) {
    if (words.includes(part)) continue;
    if (words.some((word) => word.startsWith(part))) sum += BEGINS;
    else if (whole.includes(part) || words.some(isSlipOf)) sum += NEAR;
    else return undefined;
  }
  // The fewest parts beside those that were typed, a release number less than a word: Llama-3.1-8B before LLaMA-Pro-8B.
  const beside = partsOf(lastPart(entry.name))
    .filter((word) => !wanted.some(([part, isSlipOf]) => part === word || isSlipOf(word)))
    .reduce((all, part) => all + (/^[\d.]+$/.test(part) ? 0.5 : 1), 0);
  return sum + beside + (entry.behind ?? 0) + entry.name.length / 100;
}

/** "2x 3090": how many, and of what. */
export function counted(text: string): { count?: number; name: string } {
  const [, count, name] = /^\s*(\d{1,4})\s*[x×*]\s*(.*)$/i.exec(text) ?? [];
  return count === undefined || name === undefined ? { name: text } : { count: Number(count), name };
}

/** The nearest first; all of them, as they stand, for an empty text. */
export function find(entries: Entry[], text: string): Entry[] {
  const wanted = partsOf(text).map((part): Wanted => [part, slipped(part)]);
  if (wanted.length === 0) return entries;
  const exact = text.trim().toLowerCase();
  return entries
    .map((entry) => {
      const is = (name: string) => name.toLowerCase() === exact;
      if (is(entry.value) || is(entry.name)) return { entry, far: -20 };
      return { entry, far: is(lastPart(entry.name)) ? (entry.behind ?? 0) - 10 : distance(entry, wanted) };
    })
    .filter((each): each is { entry: Entry; far: number } => each.far !== undefined)
    .sort((one, other) => one.far - other.far)
    .map(({ entry }) => entry);
}

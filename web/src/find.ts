// Finding a name by its parts, as people type them: "4090" finds the RTX 4090, "llama 8b" Llama-3.1-8B.
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

/** Lower is better; undefined where a part of the text occurs nowhere. A part that is a whole word counts most. */
function distance(entry: Entry, wanted: string[]): number | undefined {
  const words = partsOf(`${entry.value} ${entry.name} ${entry.words}`);
  const whole = words.join("");
  let sum = 0;
  for (const part of wanted) {
    if (words.includes(part)) continue;
    if (words.some((word) => word.startsWith(part))) sum += 10;
    else if (whole.includes(part)) sum += 100;
    else return undefined;
  }
  // The fewest parts beside those that were typed, a release number less than a word: Llama-3.1-8B before LLaMA-Pro-8B.
  const beside = partsOf(lastPart(entry.name))
    .filter((part) => !wanted.includes(part))
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
  const wanted = partsOf(text);
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

// The words around the app, which stand in index.html for whoever has no scripts, in the language of the page.
import { say, type Word } from "./words/say.ts";

const FRAME: [selector: string, word: Word][] = [
  [".masthead > p", "frame.tagline"],
  ['.pages a[href*="method"]', "frame.method"],
  ['.pages a[href*="accuracy"]', "frame.accuracy"],
  ['.pages a[href*="glossary"]', "frame.glossary"],
  ['.pages a[href*="embed"]', "frame.embed"],
  ['.pages a[href*="changes"]', "frame.changes"],
];

export function frame(): void {
  for (const [selector, word] of FRAME) {
    const element = document.querySelector(selector);
    if (element) element.textContent = say(word);
  }
}

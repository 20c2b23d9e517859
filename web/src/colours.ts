// One colour for each component, the same in every bar, table and card. The order is the order of stacking: what
// PyTorch allocates first, then what it holds unused, then what the driver holds, so that the running totals of a bar are the
// allocated, the reserved and the device figure.
//
// Every colour stands out from its page by 3:1 (WCAG 1.4.11), and every two stay apart for people with any of the three
// colour-vision deficiencies; tests/web/colours.spec.ts measures both.

import { EN } from "./words/en.ts";
import { say, type Word } from "./words/say.ts";

export interface Paint {
  light: string;
  dark: string;
}

export const PAINTS: Record<string, Paint> = {
  weights: { light: "#23226b", dark: "#3d83f4" },
  frozen_models: { light: "#3c0018", dark: "#60a878" },
  adapters: { light: "#137e43", dark: "#67e6a8" },
  gradients: { light: "#fa3e18", dark: "#e58721" },
  optimizer: { light: "#8b6ef2", dark: "#a245b2" },
  inputs: { light: "#2c92d2", dark: "#9ebdff" },
  engine: { light: "#000024", dark: "#fcfce4" },
  gathered: { light: "#900cfc", dark: "#9024fc" },
  buckets: { light: "#fc18c0", dark: "#fc00fc" },
  kv_cache: { light: "#1046b4", dark: "#f9c5e8" },
  boundaries: { light: "#1f5132", dark: "#297d43" },
  activations: { light: "#679926", dark: "#bcf28b" },
  autocast: { light: "#e55f67", dark: "#d673c0" },
  logits: { light: "#9d3884", dark: "#f84a64" },
  transient: { light: "#6b3d00", dark: "#d5dd21" },
  workspace: { light: "#372200", dark: "#886900" },
  allocator_slack: { light: "#938794", dark: "#5c6e80" },
  cuda_context: { light: "#423e4b", dark: "#a6a9a7" },
};

const OTHERS: Pick<Paint, "light" | "dark">[] = [
  { light: "#5a6f00", dark: "#b9cc4a" },
  { light: "#8a3b12", dark: "#d99063" },
  { light: "#00708f", dark: "#4cc3e0" },
  { light: "#97379b", dark: "#de8fe0" },
];

const ORDER = Object.keys(PAINTS);
const LAST = ORDER.indexOf("allocator_slack");

/** Where a component stands in a stack. One that is not in the table comes after what PyTorch allocates. */
export function rank(id: string): number {
  const at = ORDER.indexOf(id);
  return at === -1 ? LAST - 0.5 : at;
}

export function label(id: string): string {
  const word = `component.${id}`;
  if (Object.hasOwn(EN, word)) return say(word as Word);
  const words = id.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function otherIndex(id: string): number {
  let sum = 0;
  for (const letter of id) sum += letter.codePointAt(0) ?? 0;
  return sum % OTHERS.length;
}

/** The value for `fill`: a custom property for known components, so that the theme decides. */
export const fill = (id: string): string =>
  id in PAINTS ? `var(--component-${id})` : `var(--other-${otherIndex(id)})`;

/** The colours themselves, for pictures that leave the page. */
export const paint = (id: string): Pick<Paint, "light" | "dark"> =>
  PAINTS[id] ?? OTHERS[otherIndex(id)] ?? { light: "#423e4b", dark: "#a6a9a7" };

/** The colours as a style sheet: of the page when the site is built (web/vite.config.ts), of a card while it runs. */
export function colourSheet(): string {
  const list = (theme: "light" | "dark") =>
    [
      ...Object.entries(PAINTS).map(([id, paint]) => `--component-${id}: ${paint[theme]};`),
      ...OTHERS.map((paint, index) => `--other-${index}: ${paint[theme]};`),
    ].join(" ");
  return `:root, :host { ${list("light")} }
     @media screen and (prefers-color-scheme: dark) { :root:not([data-theme="light"]), :host(:not([theme="light"])) { ${list("dark")} } }
     @media screen { :root[data-theme="dark"], :host([theme="dark"]) { ${list("dark")} } }`;
}

/** A constructed style sheet, because the policy of a page that holds a card may allow no inline style. */
export function adoptColours(page: Document | ShadowRoot): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(colourSheet());
  page.adoptedStyleSheets = [...page.adoptedStyleSheets, sheet];
}

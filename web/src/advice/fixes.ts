// The plans for the chosen GPU as lines of the verdict card, each set of changes once.
import type { Elsewhere, Json, Plan, Request } from "../contract.ts";
import { one, sizeWords } from "../format.ts";
import { sameRequest } from "../link.ts";
import { plain } from "../pointer.ts";
import type { View } from "../view.ts";
import { say, type Word } from "../words/say.ts";

/** From here on a share of the time is no longer read as one. */
const TIMES = 2;

export function speed(factor: number): string {
  if (factor >= TIMES) return say("plan.times", { times: one(factor) });
  const percent = Math.round(Math.abs(factor - 1) * 100);
  if (percent === 0) return say("plan.same_speed");
  return say(factor > 1 ? "plan.slower" : "plan.faster", { percent: `${percent}\u00a0%` });
}

/** Where a sentence begins with it. */
export const capital = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}`;

/** Of what a plan changes: null is what nobody has set. */
export const setting = (value: Json): string => (value === null ? say("form.not_set") : plain(value));

/** What belongs to the request before this one is told from what is known of this one, and changes nothing of this one. */
export const isStale = (of: Request | undefined, { request }: Pick<View, "request">): boolean =>
  !!of && !sameRequest(of, request);

export interface Way {
  titles: [word: string, title: string][];
  needs: string;
  effect: string;
  edits: { pointer: string; value: Json }[];
}

/** In the core's order: what is usually tried first leads. `usable`: of the card that the plans are for. */
export const fixes = (plans: Plan[], usable: number): Way[] =>
  plans.map((plan) => ({
    titles: [...new Map(plan.changes.map(({ fix, title }) => [`fix.${fix}`, title]))],
    needs: say("plan.needs", { size: sizeWords(usable - plan.headroom) }),
    effect: `${speed(plan.time_factor)}. ${say(`quality.${plan.quality}`)}`,
    edits: plan.changes.map(({ pointer, to }) => ({ pointer, value: to })),
  }));

/** What another stack or method costs in quality: where no setting makes it fit, they may, and adapters are what most people take. */
const OTHER_WAYS: Record<string, Word> = { with_unsloth: "quality.none", with_adapters: "quality.visible" };

export const otherWays = (list: Elsewhere[], taken: number): Way[] =>
  list
    .filter(({ id }) => id === "with_adapters" || (id in OTHER_WAYS && taken === 0))
    .map(({ id, title, name, high, time_factor, changes }) => ({
      titles: [[`way.${id}`, title]],
      needs: say("plan.needs_most", { size: sizeWords(high ?? 0) }),
      effect: `${name ?? ""}. ${speed(time_factor ?? 1)}. ${say(OTHER_WAYS[id] ?? "quality.none")}`,
      edits: Object.entries(changes ?? {}).map(([pointer, value]) => ({ pointer, value })),
    }));

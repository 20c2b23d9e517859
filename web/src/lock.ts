// A padlock beside an input: what is locked stays as it is in every plan.
import { html, nothing, svg, type TemplateResult } from "lit";
import type { Json } from "./contract.ts";
import { dotted, get } from "./pointer.ts";
import { isExample } from "./scenarios.ts";
import type { Actions, View } from "./view.ts";
import { say } from "./words/say.ts";

/** What plans change; the rest of a request says what the run and the machine are. */
const CHANGED =
  /^\/(model|training|peft|quantization|model_args|rl|vision|parallel|versions\/(transformers|trl)|hardware\/PYTORCH_)/;

const locksOf = (view: View): string[] => {
  const locks: Json | undefined = get(view.request, "/locks");
  return Array.isArray(locks) ? locks.filter((each) => typeof each === "string") : [];
};

/** A lock of a section holds for all that is in it. */
const around = (lock: string, name: string) => name === lock || name.startsWith(`${lock}.`);

/** `name`: as the input is called; `pointers`: what is in it. Nothing of an example is anybody's to lock. */
export function lock(
  pointers: string[],
  name: string,
  view: View,
  actions: Actions,
): TemplateResult | typeof nothing {
  if (!pointers.some((pointer) => CHANGED.test(pointer)) || isExample(view)) return nothing;
  const own = pointers.map(dotted);
  const locks = locksOf(view);
  const closed = own.every((each) => locks.some((lock) => around(lock, each)));
  const label = say("lock.label", { name });
  const toggle = () => {
    const others = locks.filter((lock) => !own.some((each) => around(lock, each)));
    const next = closed ? others : [...others, ...own];
    actions.edit([{ pointer: "/locks", value: next.length > 0 ? next : undefined }], "step");
  };
  return html`<button
    type="button"
    class="lock"
    aria-pressed=${closed ? "true" : "false"}
    title=${label}
    @click=${toggle}
  >
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path
        d=${closed ? "M5 7V5a3 3 0 0 1 6 0v2" : "M5 7V4a3 3 0 0 1 6 0"}
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
      />
      ${svg`<rect x="3" y="7" width="10" height="7" rx="1" fill=${closed ? "currentColor" : "none"} stroke="currentColor" stroke-width="1.5" />`}
    </svg>
    <span class="visually-hidden">${label}</span>
  </button>`;
}

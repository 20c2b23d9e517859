// A fold of the form: the inputs that most people leave alone, with what is set in them said in the heading.
import { html, nothing, type TemplateResult } from "lit";
import { choices, type Field } from "./fields.ts";
import { figure } from "./format.ts";
import { asText, errorsAt } from "./inputs.ts";
import { get } from "./pointer.ts";
import type { View } from "./view.ts";
import { say } from "./words/say.ts";

/** "Rank 16": what the request itself says of a field; nothing where it leaves the field to the core. */
export function stated(one: Field, view: View): string {
  const value = get(view.request, one.pointer);
  if (value === undefined || (one.when && !one.when(view))) return "";
  if (one.kind === "flag") return value === true ? say(one.label) : `${say(one.label)}: ${say("form.off")}`;
  if (one.kind === "number")
    return `${say(one.label)} ${typeof value === "number" ? figure(value) : asText(value)}`;
  return choices(one, view.core).find(([id]) => id === value)?.[1] ?? asText(value);
}

/** `settings`: what is set in it; `pointers`: whose errors are shown in it. */
export function topic(
  title: string,
  settings: string[],
  pointers: string[],
  view: View,
  body: unknown,
): TemplateResult {
  const said = settings.filter((setting) => setting !== "");
  return html`<details class="more">
    <summary>
      ${title}
      ${errorsAt(view, pointers).length > 0
        ? html`<span class="complaint">${say("form.problem")}</span>`
        : said.length > 0
          ? html`<span class="stated">${said.join(", ")}</span>`
          : nothing}
    </summary>
    <div class="inputs">${body}</div>
  </details>`;
}

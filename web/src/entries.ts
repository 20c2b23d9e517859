// What the comboboxes offer.
import { GPUS } from "./asks.ts";
import type { Core } from "./core.ts";
import { choices, type Field } from "./fields.ts";
import type { Entry } from "./find.ts";
import { parameters, sizeWords } from "./format.ts";
import { say } from "./words/say.ts";

const models = (core: Core): Entry[] =>
  core.models.flatMap(({ id, hf_id, family, parameters: count, aliases }) => {
    const detail = say("model.size", { size: parameters(count) });
    const own: Entry = { value: hf_id, name: hf_id, detail, words: `${id} ${family}` };
    return [
      own,
      ...(aliases ?? []).map((alias) => ({
        value: alias,
        name: alias,
        detail: `${detail}, ${say("model.alias", { id: hf_id })}`,
        words: "",
        // A checkpoint of the same owner is as good a name; a copy of it, or a short name of ours, is not.
        behind: alias.startsWith(hf_id.slice(0, hf_id.indexOf("/") + 1)) ? 0.9 : 5,
      })),
    ];
  });

const gpus = (core: Core): Entry[] =>
  core.gpus.map(({ id, name, vendor, usable_bytes }) => ({
    value: id,
    name,
    detail: say("gpu.usable", { size: sizeWords(usable_bytes) }),
    words: vendor,
    // "h100" is most often the SXM5 one; what is said besides still decides.
    behind: GPUS.includes(id) ? 0 : 0.9,
  }));

export const entries = {
  models,
  gpus,
  choices: (field: Field & { kind: "choice" }, core: Core): Entry[] =>
    choices(field, core).map(([value, name]) => ({ value, name, detail: "", words: "" })),
};

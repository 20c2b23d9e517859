// The second module of the core, and the YAML parser where a text needs it.
import createPaste from "plimsoll-core/plimsoll_paste.js";
import pasteUrl from "plimsoll-core/plimsoll_paste.wasm?url";
import type { Diagnosis, Imported, Reader } from "./module.ts";

export async function load(): Promise<Reader> {
  const module = await createPaste({ locateFile: () => pasteUrl });
  return {
    async read(text) {
      let tree = "";
      if (module.language(text) === "yaml") {
        const { wire } = await import("./yaml.ts");
        tree = wire(text);
      }
      return JSON.parse(module.import_text(text, tree)) as Imported;
    },
    diagnose: (text, request) =>
      JSON.parse(module.diagnose(text, request ? JSON.stringify(request) : "", "")) as Diagnosis,
  };
}

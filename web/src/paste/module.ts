// The second module of the core and the YAML parser, fetched when somebody pastes something.
import pasteUrl from "plimsoll-core/plimsoll_paste.wasm?url";
import type { Json, Request } from "../contract.ts";

export interface Finding {
  key: string;
  use: "used" | "implied" | "irrelevant" | "unsupported" | "unknown";
  pointer?: string;
  message?: string;
}

export interface Imported {
  ok: boolean;
  format?: { id: string; name: string } | null;
  partial?: boolean;
  request?: Request | null;
  counts?: Record<Finding["use"], number>;
  keys?: Finding[];
  notes?: string[];
  errors: { code: string; message: string; pointer: string; allowed?: string }[];
}

export interface Message {
  kind: string;
  what: string;
  quote: string;
  numbers: Record<string, number>;
}

export interface Cause {
  id: string;
  title: string;
  confidence: number;
  detectable_from: string;
  evidence: Json[];
  why: string;
  remedy: string;
  ask: string;
}

export interface Diagnosis {
  ok: boolean;
  summary: string;
  messages: Message[];
  tensors: Json[];
  causes: Cause[];
  phase?: { id: string; frame: string };
}

export interface Reader {
  read(text: string): Promise<Imported>;
  diagnose(text: string, request: Request | undefined): Diagnosis;
}

let loading: Promise<Reader> | undefined;

export function reader(): Promise<Reader> {
  loading ??= load();
  return loading;
}

async function load(): Promise<Reader> {
  const { default: create } = await import("plimsoll-core/plimsoll_paste.js");
  const module = await create({ locateFile: () => pasteUrl });
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

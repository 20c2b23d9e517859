// What was understood of a pasted text.
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

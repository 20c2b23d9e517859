// What this page itself has given away, pasted back.
import type { Request } from "../contract.ts";
import { decode } from "../link.ts";

/** The request of a link in a text: as it is, in a Markdown table, in a chat. */
export function linked(text: string): Request | undefined {
  const link = /#v=\d+&[^\s)<>"'`]+/.exec(text);
  const decoded = link ? decode(link[0]) : undefined;
  return decoded?.kind === "request" ? decoded.request : undefined;
}

/** The table of components says what a run needed, not how it was set. */
export const isOwnTable = (text: string): boolean => /^\s*instant,component,bytes\b/.test(text);

// What a frame and the page around it say to each other. Both sides check the origin and the sender; a message of
// another version is ignored.
//
//     frame to page:  {app: "plimsoll", v: 1, type: "ready" | "resize", height: 212}
//     page to frame:  {app: "plimsoll", v: 1, type: "theme", theme: "dark"} or {..., type: "link", link: "#v=1&..."}
export const APP = "plimsoll";
export const VERSION = 1;

export type ToFrame = { type: "theme"; theme: string } | { type: "link"; link: string };

/** The message, when it is one of ours that this version understands. */
export function readMessage(data: unknown): ToFrame | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { app, v, type, theme, link } = data as Record<string, unknown>;
  if (app !== APP || v !== VERSION) return undefined;
  if (type === "theme" && typeof theme === "string") return { type, theme };
  if (type === "link" && typeof link === "string") return { type, link };
  return undefined;
}

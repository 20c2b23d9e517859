// What comes to the page outside its box: dropped on it, pasted beside any field, handed over by the system.
import { size } from "../format.ts";
import { say } from "../words/say.ts";

const EDITABLE = "input, textarea, select, [contenteditable]";

export interface Takes {
  files(files: File[]): void;
  text(text: string): void;
}

/** Listens until the function that it returns is called. */
export function fromAnywhere(take: Takes): () => void {
  const over = (event: DragEvent) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  };
  const dropped = (event: DragEvent) => {
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    take.files(files);
  };
  const pasted = (event: ClipboardEvent) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    const files = [...(event.clipboardData?.files ?? [])];
    if (event.target instanceof Element && event.target.closest(EDITABLE)) return;
    if (files.length > 0) take.files(files);
    else if (text.trim() !== "") take.text(text);
  };
  document.addEventListener("dragover", over);
  document.addEventListener("drop", dropped);
  document.addEventListener("paste", pasted);
  readLaunch(take);
  return () => {
    document.removeEventListener("dragover", over);
    document.removeEventListener("drop", dropped);
    document.removeEventListener("paste", pasted);
  };
}

/** An installed page is handed files and shared text by the system. */
function readLaunch(take: Takes): void {
  const shared = new URL(window.location.href).searchParams;
  const text = ["title", "text", "url"]
    .map((name) => shared.get(name) ?? "")
    .join("\n")
    .trim();
  if (text !== "") take.text(text);
  const queue = (
    window as {
      launchQueue?: { setConsumer(take: (launch: { files?: FileSystemFileHandle[] }) => void): void };
    }
  ).launchQueue;
  queue?.setConsumer(({ files }) => {
    void Promise.all((files ?? []).map((file) => file.getFile())).then((all) => take.files(all));
  });
}

const LARGEST = 16 * 2 ** 20;

/** What files hold; `names` is given what each came with, by its text. One that is too large is a problem for all. */
export async function readFiles(
  files: File[],
  names: Map<string, string>,
): Promise<{ texts: string[]; problem?: string }> {
  const large = files.find((file) => file.size > LARGEST);
  if (large) return { texts: [], problem: say("paste.too_large", { size: size(large.size) }) };
  const texts = await Promise.all(files.map((file) => file.text()));
  texts.forEach((text, index) => names.set(text, files[index]!.name));
  return { texts };
}

// What comes to the page outside its box: dropped on it, pasted beside any field, handed over by the system.

const EDITABLE = "input, textarea, select, [contenteditable]";

export interface Takes {
  file(file: File): void;
  text(text: string): void;
}

/** Listens until the function that it returns is called. */
export function fromAnywhere(take: Takes): () => void {
  const over = (event: DragEvent) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  };
  const dropped = (event: DragEvent) => {
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    take.file(file);
  };
  const pasted = (event: ClipboardEvent) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    const file = event.clipboardData?.files[0];
    if (event.target instanceof Element && event.target.closest(EDITABLE)) return;
    if (file) take.file(file);
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
    void files?.[0]?.getFile().then((file) => take.file(file));
  });
}

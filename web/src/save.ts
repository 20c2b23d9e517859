// Text and pictures leave the page by the clipboard or as a file.
export function download(name: string, content: Blob): void {
  const anchor = document.createElement("a");
  anchor.href = URL.createObjectURL(content);
  anchor.download = name;
  anchor.click();
  // The download reads the address after this task.
  window.setTimeout(() => URL.revokeObjectURL(anchor.href), 1000);
}

/** False where the browser does not allow it. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

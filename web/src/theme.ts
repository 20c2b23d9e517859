// Light, dark, or what the system says. A choice is kept where the browser allows it; embedded frames with storage
// blocked throw, and then it lasts as long as the page.
export type Theme = "system" | "light" | "dark";

const KEY = "plimsoll-theme";

export const asTheme = (text: string | null): Theme =>
  text === "light" || text === "dark" ? text : "system";

export function wear(theme: Theme): void {
  const root = document.documentElement;
  if (theme === "system") delete root.dataset["theme"];
  else root.dataset["theme"] = theme;
}

export function remembered(key = KEY): string | null {
  try {
    return window.localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function remember(value: string, key = KEY): void {
  try {
    window.localStorage.setItem(key, value);
  } catch {
    // Blocked: nothing to keep it in.
  }
}

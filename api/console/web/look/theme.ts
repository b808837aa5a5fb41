import { useSyncExternalStore } from "react";

/** `system` follows the device. */
export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "theme";
const listeners = new Set<() => void>();
const darkDevice = matchMedia("(prefers-color-scheme: dark)");
let chosen: Theme = stored();

// A device may turn dark in the evening while the page is open.
darkDevice.addEventListener("change", paint);

/** Shows a theme, and remembers it in this browser. `public/theme.js` reads it before the first paint. */
export function chooseTheme(theme: Theme): void {
  chosen = theme;
  try {
    if (theme === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // Storage is blocked: the choice lasts as long as the page.
  }
  paint();
}

export function useTheme(): Theme {
  return useSyncExternalStore(
    (onChange) => {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
    () => chosen,
  );
}

export function themeOf(name: unknown): Theme | undefined {
  return THEMES.find((one) => one === name);
}

function paint(): void {
  const isDark = chosen === "dark" || (chosen === "system" && darkDevice.matches);
  document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
  for (const listener of listeners) listener();
}

function stored(): Theme {
  try {
    return themeOf(localStorage.getItem(KEY)) ?? "system";
  } catch {
    // Storage is blocked: follow the device.
    return "system";
  }
}

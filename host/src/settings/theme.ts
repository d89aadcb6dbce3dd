import type { ThemeName } from "@relicario/shared/contract";
import { createStore } from "zustand/vanilla";

/** Local storage key of the dark mode flag. */
export const themeKey = "isDarkMode";

export interface ThemeStore {
  readonly getState: () => ThemeName;
  readonly toggle: () => void;
  readonly subscribe: (listener: () => void) => () => void;
}

/**
 * The page's theme: the person's choice, else the device's setting. It is `data-theme` on the root
 * element.
 */
export function createThemeStore(window: Window): ThemeStore {
  const { document } = window;
  const store = createStore<ThemeName>(() => readStoredTheme(window) ?? getDeviceTheme(window));
  const applyTheme = () => {
    document.documentElement.dataset["theme"] = store.getState();
  };
  applyTheme();
  store.subscribe(applyTheme); // subscribes first, so that later listeners find the attribute set

  return Object.freeze<ThemeStore>({
    getState: store.getState,
    toggle: () => {
      const theme = store.getState() === "dark" ? "light" : "dark";
      try {
        window.localStorage.setItem(themeKey, String(theme === "dark"));
      } catch {
        // Storage is full or forbidden: the choice lasts until the page closes.
      }
      store.setState(theme);
    },
    subscribe: store.subscribe,
  });
}

function readStoredTheme(window: Window): ThemeName | null {
  try {
    const stored = window.localStorage.getItem(themeKey);
    return stored === null ? null : stored === "true" ? "dark" : "light";
  } catch {
    return null; // storage is forbidden: the device's theme is used
  }
}

function getDeviceTheme(window: Window): ThemeName {
  return window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

import type { ThemeName } from "@relicario/shared/contract";

/** Local storage key of the dark mode flag. */
export const themeKey = "isDarkMode";

export interface ThemeStore {
  readonly get: () => ThemeName;
  readonly toggle: () => void;
  readonly subscribe: (listener: () => void) => () => void;
}

/** The theme of the page: the one that was chosen, else the device's. Shown as `data-theme` on the root element. */
export function createThemeStore(window: Window): ThemeStore {
  const { document } = window;
  const listeners = new Set<() => void>();
  let theme = storedTheme(window) ?? deviceTheme(window);
  const show = () => {
    document.documentElement.dataset["theme"] = theme;
  };
  show();

  return Object.freeze<ThemeStore>({
    get: () => theme,
    toggle: () => {
      theme = theme === "dark" ? "light" : "dark";
      show();
      try {
        window.localStorage.setItem(themeKey, String(theme === "dark"));
      } catch {
        // Storage is full or forbidden: the choice lasts as long as the page.
      }
      for (const listener of [...listeners]) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  });
}

function storedTheme(window: Window): ThemeName | null {
  try {
    const stored = window.localStorage.getItem(themeKey);
    return stored === null ? null : stored === "true" ? "dark" : "light";
  } catch {
    return null; // storage is forbidden: the device's theme is the next best thing
  }
}

function deviceTheme(window: Window): ThemeName {
  return window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

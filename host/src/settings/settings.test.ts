import { PortalError } from "@relicario/shared/errors";

import { createQueryClient } from "./query-client.ts";
import { createThemeStore, themeKey } from "./theme.ts";

function deviceIs(dark: boolean): void {
  window.matchMedia = (query: string) => ({ matches: dark && query.includes("dark") }) as MediaQueryList;
}

describe("createThemeStore", () => {
  beforeEach(() => {
    localStorage.clear();
  });

  it.each([
    ["the device's at first: dark", null, true, "dark"],
    ["the device's at first: light", null, false, "light"],
    ["the chosen one: dark", "true", false, "dark"],
    ["the chosen one: light", "false", true, "light"],
  ] as const)("is %s", (_name, stored, device, expected) => {
    if (stored !== null) localStorage.setItem(themeKey, stored);
    deviceIs(device);
    expect(createThemeStore(window).get()).toBe(expected);
    expect(document.documentElement).toHaveAttribute("data-theme", expected);
  });

  it("is shown, kept and told when it is switched", () => {
    deviceIs(false);
    const theme = createThemeStore(window);
    const listener = jest.fn();
    const leave = theme.subscribe(listener);
    theme.toggle();
    expect(document.documentElement).toHaveAttribute("data-theme", "dark");
    expect(localStorage.getItem("isDarkMode")).toBe("true");
    leave();
    theme.toggle();
    expect(localStorage.getItem("isDarkMode")).toBe("false");
    expect(listener).toHaveBeenCalledTimes(1);
  });
});

describe("createQueryClient", () => {
  const { queries } = createQueryClient().getDefaultOptions();

  it("holds the numbers of the specification", () => {
    expect(queries).toMatchObject({ staleTime: 300_000, refetchOnWindowFocus: false, refetchOnReconnect: false });
  });

  it.each([
    ["service_unavailable", 2, true],
    ["service_unavailable", 3, false],
    ["internal_error", 0, true],
    ["not_found", 0, false],
    ["unauthorized", 0, false],
    ["offline", 0, false],
  ] as const)("after %s, tried %s times: %s", (code, failures, expected) => {
    const retry = queries?.retry;
    expect(typeof retry === "function" && retry(failures, new PortalError(code))).toBe(expected);
  });
});

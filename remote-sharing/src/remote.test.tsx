import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { expectAccessible, readTexts, renderApp, listTextKeys } from "@relicario/shared/testing";
import manifest from "../manifest.json" with { type: "json" };
import { landingKey, markLandingVisited } from "./landing/LandingPage.tsx";
import remote from "./remote.tsx";

const renderPath = (path: string, settings: Parameters<typeof renderApp>[1] = {}) =>
  renderApp(null, { routes: remote.routes, routePattern: "/elsewhere", path, ...settings });
const paths = [
  "/recived",
  "/people",
  "/shared/abcdefghijklmnopqrstuA",
  "/p-shared/abcdefghijklmnopqrstuA",
  "/secret-landing",
];

describe("the sharing remote", () => {
  it.each(paths.flatMap((path) => [["en", "light", path] as const, ["es", "dark", path] as const]))(
    "renders in %s and %s: %s",
    async (language, theme, path) => {
      await renderPath(path, { language, theme });
      expect(await screen.findByRole("heading", { level: 1 })).toBeVisible();
      await expectAccessible();
    },
  );

  it.each(manifest.namespaces.map((name) => [name]))("has the texts %s in both languages", (name) => {
    const [english, spanish] = [readTexts("en", name), readTexts("es", name)];
    if (english === null || spanish === null) throw new Error("a locale file is missing");
    expect(listTextKeys(spanish)).toEqual(listTextKeys(english));
  });
});

describe("the landing page", () => {
  beforeEach(() => {
    localStorage.clear();
  });

  it("saves that it was seen, and links to the portal", async () => {
    const { getLocation } = await renderPath("/secret-landing");
    expect(screen.getByRole("heading", { level: 1, name: "Welcome to Relicario" })).toBeVisible();
    expect(localStorage.getItem(landingKey)).toBe("true");
    await userEvent.click(screen.getByRole("link", { name: "Sign in or create an account" }));
    expect(getLocation()).toBe("/home");
  });

  it.each([
    ["/p-shared/abcdefghijklmnopqrstuA", "/p-shared/abcdefghijklmnopqrstuA"],
    ["//evil.example/p-shared/abcdefghijklmnopqrstuA", "/home"],
    ["/settings/profile", "/home"],
  ])("links only to a share for a person: %s", async (then, target) => {
    await renderPath(`/secret-landing?${new URLSearchParams({ then }).toString()}`);
    expect(screen.getByRole("link", { name: "Sign in or create an account" })).toHaveAttribute("href", target);
  });

  it("works if storage is forbidden", () => {
    const forbiddenStorage = {
      setItem: () => {
        throw new DOMException("no", "SecurityError");
      },
    };
    expect(() => {
      markLandingVisited(forbiddenStorage);
    }).not.toThrow();
  });
});

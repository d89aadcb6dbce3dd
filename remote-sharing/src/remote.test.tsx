import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { expectAccessible, readTexts, renderApp, listTextKeys } from "@relicario/shared/testing";
import manifest from "../manifest.json" with { type: "json" };
import { landingKey, markLandingVisited } from "./landing/LandingPage.tsx";
import remote from "./remote.tsx";

const renderPath = (path: string, settings: Parameters<typeof renderApp>[1] = {}) =>
  renderApp(null, { routes: remote.routes, route: "/elsewhere", path, ...settings });
const paths = [
  "/recived",
  "/people",
  "/shared/abcdefghijklmnopqrstuA",
  "/p-shared/abcdefghijklmnopqrstuA",
  "/secret-landing",
];

describe("the face of sharing", () => {
  it.each(paths.flatMap((path) => [["en", "light", path] as const, ["es", "dark", path] as const]))(
    "draws in %s and %s: %s",
    async (language, theme, path) => {
      await renderPath(path, { language, theme });
      expect(await screen.findByRole("heading", { level: 1 })).toBeVisible();
      await expectAccessible();
    },
  );

  it.each(manifest.namespaces.map((name) => [name]))("has the texts %s in both languages", (name) => {
    const [english, spanish] = [readTexts("en", name), readTexts("es", name)];
    if (english === null || spanish === null) throw new Error("a file is missing");
    expect(listTextKeys(spanish)).toEqual(listTextKeys(english));
  });
});

describe("the landing page", () => {
  beforeEach(() => {
    localStorage.clear();
  });

  it("remembers that it was seen, and leads to the portal", async () => {
    const { location } = await renderPath("/secret-landing");
    expect(screen.getByRole("heading", { level: 1, name: "Welcome to Relicario" })).toBeVisible();
    expect(localStorage.getItem(landingKey)).toBe("true");
    await userEvent.click(screen.getByRole("link", { name: "Sign in or create an account" }));
    expect(location()).toBe("/home");
  });

  it.each([
    ["/p-shared/abcdefghijklmnopqrstuA", "/p-shared/abcdefghijklmnopqrstuA"],
    ["//evil.example/p-shared/abcdefghijklmnopqrstuA", "/home"],
    ["/settings/profile", "/home"],
  ])("leads on to the share that the visitor came for: %s", async (then, target) => {
    await renderPath(`/secret-landing?${new URLSearchParams({ then }).toString()}`);
    expect(screen.getByRole("link", { name: "Sign in or create an account" })).toHaveAttribute("href", target);
  });

  it("is shown all the same where storage is forbidden", () => {
    const forbidden = {
      setItem: () => {
        throw new DOMException("no", "SecurityError");
      },
    };
    expect(() => {
      markLandingVisited(forbidden);
    }).not.toThrow();
  });
});

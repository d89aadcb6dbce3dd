import { screen } from "@testing-library/react";

import { expectAccessible, readTexts, renderApp, textKeys } from "@relicario/shared/testing";
import manifest from "../manifest.json" with { type: "json" };
import remote from "./remote.tsx";

beforeEach(() => {
  URL.createObjectURL = jest.fn(() => "blob:test/1");
  URL.revokeObjectURL = jest.fn();
});

// The vault has tests of its own; here only its face is needed.
jest.mock("@relicario/vault", () => ({ createVault: jest.fn() }));

const elsewhere = ["/provide-secret", "/processing"];

describe("the face of recovery", () => {
  it.each(manifest.routes.filter(({ path }) => !elsewhere.includes(path)).flatMap(({ path }) => [["en", "light", path] as const, ["es", "dark", path] as const]))(
    "draws in %s and %s: %s",
    async (language, theme, path) => {
      await renderApp(null, { routes: remote.routes, route: "/elsewhere", path, language, theme });
      expect(await screen.findByRole("heading", { level: 1 })).toBeVisible();
      await expectAccessible();
    },
  );

  it.each(elsewhere.map((path) => [path]))("takes %s to the form that protects", async (path) => {
    const { location } = await renderApp(null, { routes: remote.routes, route: "/elsewhere", path });
    expect(location()).toBe("/add-secret");
  });

  it("provides the vault", () => {
    expect(remote.provides?.vault).toBeDefined();
  });

  it.each(manifest.namespaces.map((name) => [name]))("has the texts %s in both languages", (name) => {
    const [english, spanish] = [readTexts("en", name), readTexts("es", name)];
    if (english === null || spanish === null) throw new Error("a file is missing");
    expect(textKeys(spanish)).toEqual(textKeys(english));
  });
});

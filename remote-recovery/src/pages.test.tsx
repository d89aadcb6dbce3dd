import { screen, waitFor } from "@testing-library/react";

import { expectAccessible, readTexts, renderApp, listTextKeys } from "@relicario/shared/testing";
import manifest from "../manifest.json" with { type: "json" };
import remote from "./remote.tsx";

beforeEach(() => {
  URL.createObjectURL = jest.fn(() => "blob:test/1");
  URL.revokeObjectURL = jest.fn();
});

// The vault has tests of its own; here only its face is needed.
jest.mock("@relicario/vault", () => ({ createVault: jest.fn() }));

describe("the face of recovery", () => {
  it.each(manifest.routes.flatMap(({ path }) => [["en", "light", path] as const, ["es", "dark", path] as const]))(
    "draws in %s and %s: %s",
    async (language, theme, path) => {
      await renderApp(null, { routes: remote.routes, route: "/elsewhere", path, language, theme });
      await waitFor(() => {
        expect(screen.getByRole("heading", { level: 1 })).toBeVisible(); // hidden while texts are on their way
      });
      await expectAccessible();
    },
  );

  it.each(["/provide-secret", "/processing", "/processing-recovery"])(
    "leads from %s to the picture when nothing was chosen",
    async (path) => {
      const { location } = await renderApp(null, { routes: remote.routes, route: "/elsewhere", path });
      await waitFor(() => {
        expect(location()).toBe(path === "/processing-recovery" ? "/provide-image-recovery" : "/provide-image");
      });
    },
  );

  it("provides the vault", () => {
    expect(remote.provides?.vault).toBeDefined();
  });

  it.each(manifest.namespaces.map((name) => [name]))("has the texts %s in both languages", (name) => {
    const [english, spanish] = [readTexts("en", name), readTexts("es", name)];
    if (english === null || spanish === null) throw new Error("a file is missing");
    expect(listTextKeys(spanish)).toEqual(listTextKeys(english));
  });
});

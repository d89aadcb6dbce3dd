import { screen, waitFor } from "@testing-library/react";

import { expectAccessible, readTexts, renderApp, listTextKeys } from "@relicario/shared/testing";
import manifest from "../manifest.json" with { type: "json" };
import remote from "./remote.tsx";

beforeEach(() => {
  URL.createObjectURL = jest.fn(() => "blob:test/1");
  URL.revokeObjectURL = jest.fn();
});

// The vault has its own tests; only its interface is needed here.
jest.mock("@relicario/vault", () => ({
  ...jest.requireActual<typeof import("@relicario/vault")>("@relicario/vault"),
  createFrameVault: jest.fn(),
}));

describe("the recovery remote", () => {
  it.each(manifest.routes.flatMap(({ path }) => [["en", "light", path] as const, ["es", "dark", path] as const]))(
    "renders in %s and %s: %s",
    async (language, theme, path) => {
      await renderApp(null, { routes: remote.routes, routePattern: "/elsewhere", path, language, theme });
      await waitFor(() => {
        expect(screen.getByRole("heading", { level: 1 })).toBeVisible(); // hidden until texts are loaded
      });
      await expectAccessible();
    },
  );

  it.each(["/provide-secret", "/processing", "/processing-recovery"])(
    "redirects %s to the picture if nothing was chosen",
    async (path) => {
      const { getLocation } = await renderApp(null, { routes: remote.routes, routePattern: "/elsewhere", path });
      await waitFor(() => {
        expect(getLocation()).toBe(path === "/processing-recovery" ? "/provide-image-recovery" : "/provide-image");
      });
    },
  );

  it("provides the vault", () => {
    expect(remote.provides?.vault).toBeDefined();
  });

  it.each(manifest.namespaces.map((name) => [name]))("has the texts of %s in both languages", (name) => {
    const [english, spanish] = [readTexts("en", name), readTexts("es", name)];
    if (english === null || spanish === null) throw new Error("both languages need the locale file");
    expect(listTextKeys(spanish)).toEqual(listTextKeys(english));
  });
});

import { screen, waitFor } from "@testing-library/react";

import { findMissingTourTargets, readTexts, renderApp } from "@relicario/shared/testing";
import remote from "./remote.tsx";
import { createRecoveryFakeVault } from "./testing/recovery-fake-vault.tsx";
import { tours } from "./tours.ts";

jest.mock("@relicario/vault", () => ({
  ...jest.requireActual<typeof import("@relicario/vault")>("@relicario/vault"),
  createFrameVault: jest.fn(),
})); // the vault has its own tests

beforeEach(() => {
  // jsdom lacks a camera, which the tour needs
  Object.defineProperty(navigator, "mediaDevices", {
    configurable: true,
    value: { getUserMedia: () => new Promise(() => undefined) },
  });
});
afterEach(() => {
  Reflect.deleteProperty(navigator, "mediaDevices");
});

describe("tours", () => {
  it.each(tours.map((tour) => [tour.name, tour] as const))("%s finds every target on the screen", async (_, tour) => {
    await renderApp(null, {
      routes: remote.routes,
      routePattern: "/elsewhere",
      vault: createRecoveryFakeVault(),
      path: tour.path,
    });
    await waitFor(() => {
      expect(screen.getByRole("heading", { level: 1 })).toBeVisible(); // hidden until texts are loaded
    });
    await waitFor(() => {
      expect(findMissingTourTargets(tour)).toEqual([]);
    });
  });

  it("visual-backup targets the picture, its Take picture tab and the button that saves the seed phrase", async () => {
    await renderApp(null, {
      routes: remote.routes,
      routePattern: "/elsewhere",
      vault: createRecoveryFakeVault(),
      path: "/provide-image",
    });
    await waitFor(() => {
      expect(document.querySelector("[data-tour='picture-take']")).toHaveTextContent("Take picture");
    });
    expect(screen.getByRole("tab", { name: "Take picture" })).toHaveAttribute("data-tour", "picture-take");
    expect(screen.getByRole("button", { name: /^Continue/ })).toHaveAttribute("data-tour", "picture-next");
    expect(tours[0]?.steps.map(({ target }) => target)).toEqual(["picture-field", "picture-take", "picture-next"]);
  });

  it.each(["en", "es"] as const)("say in %s that the image and the keys never leave the device", (language) => {
    for (const namespace of ["provide-image", "image-recovery"]) {
      expect(JSON.stringify(readTexts(language, namespace))).toMatch(
        language === "en" ? /image and the keys never leave it/ : /imagen y las claves nunca salen de él/,
      );
    }
  });
});

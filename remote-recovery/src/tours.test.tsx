import { screen, waitFor } from "@testing-library/react";

import { findMissingTourTargets, readTexts, renderApp } from "@relicario/shared/testing";
import remote from "./remote.tsx";
import { tours } from "./tours.ts";

jest.mock("@relicario/vault", () => ({ createVault: jest.fn() })); // it has tests of its own

beforeEach(() => {
  // jsdom has no camera: a device that has one is what the tour is for.
  Object.defineProperty(navigator, "mediaDevices", {
    configurable: true,
    value: { getUserMedia: () => new Promise(() => undefined) },
  });
});
afterEach(() => {
  Reflect.deleteProperty(navigator, "mediaDevices");
});

describe("tours", () => {
  it.each(tours.map((tour) => [tour.name, tour] as const))("%s finds every target on its screen", async (_, tour) => {
    await renderApp(null, { routes: remote.routes, route: "/elsewhere", path: tour.path });
    await waitFor(() => {
      expect(screen.getByRole("heading", { level: 1 })).toBeVisible(); // hidden while texts are on their way
    });
    await waitFor(() => {
      expect(findMissingTourTargets(tour)).toEqual([]);
    });
  });

  it("the visual backup goes from the picture by its Take picture tab to the button that saves the seed phrase", async () => {
    await renderApp(null, { routes: remote.routes, route: "/elsewhere", path: "/provide-image" });
    await waitFor(() => {
      expect(document.querySelector("[data-tour='picture-take']")).toHaveTextContent("Take picture");
    });
    expect(screen.getByRole("tab", { name: "Take picture" })).toHaveAttribute("data-tour", "picture-take");
    expect(screen.getByRole("button", { name: /^Save a seed phrase/ })).toHaveAttribute("data-tour", "picture-next");
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

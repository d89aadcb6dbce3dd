import { screen, waitFor } from "@testing-library/react";

import { createFakeVault, findMissingTourTargets, readTexts, renderApp } from "@relicario/shared/testing";
import remote from "./remote.tsx";
import { tours } from "./tours.ts";

const createVault = () => createFakeVault({ secrets: [{ title: "Wallet", content: "words" }] });

describe("tours", () => {
  it.each(tours.map((tour) => [tour.name, tour] as const))(
    "name only targets that exist on the screen: %s",
    async (_, tour) => {
      const fakeVault = createVault();
      const secretId = (await fakeVault.list())[0]?.secretId ?? "";
      await renderApp(null, {
        vault: fakeVault,
        routes: remote.routes,
        routePattern: "/elsewhere",
        path: tour.path.replace(":secretId", secretId),
      });
      expect(await screen.findByRole("heading", { level: 1 })).toBeVisible();
      await waitFor(() => {
        expect(findMissingTourTargets(tour)).toEqual([]);
      });
    },
  );

  it("leave the tour of Home to the host, whose two targets exist on Home", async () => {
    await renderApp(null, { vault: createVault(), routes: remote.routes, routePattern: "/elsewhere", path: "/home" });
    const steps = ["home-create", "home-messages"].map((target) => ({ target, titleKey: "", bodyKey: "" }));
    await waitFor(() => {
      expect(findMissingTourTargets({ name: "home", path: "/home", steps })).toEqual([]);
    });
  });

  it.each([
    ["secrets", ["secrets-search", "secrets-filter", "secrets-total"]],
    [
      "add-secret",
      ["add-secret-start", "add-secret-content", "add-secret-tags", "add-secret-image", "add-secret-save"],
    ],
    [
      "edit-secret",
      ["add-secret-title", "add-secret-content", "add-secret-tags", "add-secret-image", "add-secret-save"],
    ],
  ])("have the steps of the specification in order: %s", (name, targets) => {
    expect(tours.find((tour) => tour.name === name)?.steps.map(({ target }) => target)).toEqual(targets);
  });

  it("have distinct names for Help", () => {
    const names = tours.map(({ titleKey }) => titleKey);
    expect(new Set(names).size).toBe(3);
    expect(names).not.toContain(undefined);
    for (const { titleKey, steps } of tours) expect(steps.map((step) => step.titleKey)).not.toContain(titleKey);
  });

  it.each(["en", "es"] as const)("say in %s that the image and the keys never leave the device", (language) => {
    const texts = JSON.stringify([readTexts(language, "beta-home"), readTexts(language, "beta-add-secret")]);
    expect(texts).toMatch(
      language === "en"
        ? /image and the keys never leave (it|your device)/
        : /imagen y las claves nunca salen de (él|tu dispositivo)/,
    );
  });
});

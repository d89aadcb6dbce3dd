import { screen, waitFor } from "@testing-library/react";

import { createFakeVault, findMissingTourTargets, readTexts, renderApp } from "@relicario/shared/testing";
import remote from "./remote.tsx";
import { tours } from "./tours.ts";

const createVault = () => createFakeVault({ secrets: [{ title: "Wallet", content: "words" }] });

describe("tours", () => {
  it.each(tours.map((tour) => [tour.name, tour] as const))("%s finds every target on its screen", async (_, tour) => {
    const fakeVault = createVault();
    const secretId = (await fakeVault.list())[0]?.secretId ?? "";
    await renderApp(null, {
      vault: fakeVault,
      routes: remote.routes,
      route: "/elsewhere",
      path: tour.path.replace(":secretId", secretId),
    });
    expect(await screen.findByRole("heading", { level: 1 })).toBeVisible();
    await waitFor(() => {
      expect(findMissingTourTargets(tour)).toEqual([]);
    });
  });

  it("Home has the two targets of the host's tour", async () => {
    await renderApp(null, { vault: createVault(), routes: remote.routes, route: "/elsewhere", path: "/home" });
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
  ])("%s goes through the steps of the specification, in their order", (name, targets) => {
    expect(tours.find((tour) => tour.name === name)?.steps.map(({ target }) => target)).toEqual(targets);
  });

  it("have names of their own, to be asked for in Help", () => {
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

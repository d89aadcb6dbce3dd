import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { createFakeVault, createFakeVisitor, findMissingTourTargets, renderApp } from "@relicario/shared/testing";
import remote from "./remote.tsx";
import { tours } from "./tours.ts";

const receivedShares = [{ title: "Door", content: "x", from: "bruno" }];
const createVault = () =>
  createFakeVault({
    secrets: [{ title: "Mine", content: "x" }],
    people: [{ userName: "bruno", trust: "known" }],
    received: receivedShares,
  });
const requireTour = (name: string) => {
  const tour = tours.find((candidate) => candidate.name === name);
  if (tour === undefined) throw new Error(name);
  return tour;
};
const renderPath = (path: string, audience: "signed_in" | "person") =>
  renderApp(null, {
    vault: createVault(),
    visitor: createFakeVisitor({ share: { title: "Door", content: "x", audience } }),
    routes: remote.routes,
    routePattern: "/elsewhere",
    path,
  });
const expectAllTargets = (name: string) =>
  waitFor(() => {
    expect(findMissingTourTargets(requireTour(name))).toEqual([]);
  });

describe("tours", () => {
  it("have, for received, only targets that exist on the screen", async () => {
    await renderPath("/recived", "person");
    await expectAllTargets("received");
  });

  it.each(["signed_in", "person"] as const)(
    "have, for shared-recovery and shared-recovered, only targets that exist (%s)",
    async (audience) => {
      const fakeVault = createVault();
      const shareId = (await fakeVault.received.list())[0]?.shareId ?? "";
      await renderApp(null, {
        vault: fakeVault,
        visitor: createFakeVisitor({ share: { title: "Door", content: "x", audience } }),
        routes: remote.routes,
        routePattern: "/elsewhere",
        path: `/p-shared/${shareId}`,
      });
      await expectAllTargets("shared-recovery");
      expect(findMissingTourTargets(requireTour("shared-recovered"))).toHaveLength(3);
      await userEvent.click(await screen.findByRole("button", { name: "Open" }));
      if (audience === "person") {
        await userEvent.upload(
          await screen.findByLabelText("Choose a picture"),
          new File(["garden"], "garden.jpg", { type: "image/jpeg" }),
        );
        await userEvent.click(screen.getByRole("button", { name: "Open" }));
      }
      await expectAllTargets("shared-recovered");
    },
  );

  it("have, for received, the steps of the specification in order", () => {
    expect(requireTour("received").steps.map(({ target }) => target)).toEqual([
      "received-search",
      "received-filter",
      "received-total",
    ]);
  });

  it("have distinct names for Help", () => {
    const names = tours.map(({ titleKey }) => titleKey);
    expect(new Set(names).size).toBe(tours.length);
    for (const { titleKey, steps } of tours) expect(steps.map((step) => step.titleKey)).not.toContain(titleKey);
  });
});

import { expectAccessible, renderApp } from "@relicario/shared/testing";
import { screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";

import { createFakeHost } from "../testing/fake-host.tsx";
import { addLeftOut, leaveOut, loadLeftOut, readLeftOut } from "./left-out.ts";
import { SafeStartOffer } from "./SafeStartOffer.tsx";

describe("the remotes that a tab leaves out", () => {
  beforeEach(() => {
    sessionStorage.clear();
  });

  it("add up, until they are loaded again", () => {
    expect(readLeftOut(sessionStorage)).toEqual([]);
    addLeftOut(sessionStorage, ["settings"]);
    addLeftOut(sessionStorage, ["settings", "sharing"]);
    expect(readLeftOut(sessionStorage)).toEqual(["settings", "sharing"]);
    const reload = jest.fn();
    loadLeftOut(sessionStorage, { reload });
    expect(reload).toHaveBeenCalledTimes(1);
    expect(readLeftOut(sessionStorage)).toEqual([]);
  });

  it("are none when the item is damaged", () => {
    sessionStorage.setItem("leftOutRemotes", "{");
    expect(readLeftOut(sessionStorage)).toEqual([]);
  });

  it("run no code, keep their routes, and leave the others as they are", () => {
    const verified = createFakeHost({ refusedRemotes: ["sharing"] }).host.verifiedDeployment;
    const { remotes } = leaveOut(verified, ["settings", "sharing"]);
    expect(remotes.get("settings")).toMatchObject({
      status: "refused",
      code: "remote_left_out",
      manifest: { name: "settings" },
    });
    expect(remotes.get("sharing")).toBe(verified.remotes.get("sharing"));
    expect(remotes.get("secrets")).toBe(verified.remotes.get("secrets"));
  });
});

describe("SafeStartOffer", () => {
  it.each([
    ["en", "Start without them", "leave_out"],
    ["en", "Start with all parts", "all"],
    ["es", "Iniciar sin ellas", "leave_out"],
    ["es", "Iniciar con todas las partes", "all"],
  ] as const)("names the areas, and gives the choice (%s): %s", async (language, label, choice) => {
    const onChoose = jest.fn();
    await renderApp(<SafeStartOffer language={language} areas={["Garden", "Recovery"]} onChoose={onChoose} />, {
      language,
    });
    expect(screen.getAllByRole("listitem").map(({ textContent }) => textContent)).toEqual(["Garden", "Recovery"]);
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: label }));
    expect(onChoose).toHaveBeenCalledWith(choice);
  });
});

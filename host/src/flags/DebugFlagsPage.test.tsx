import { expectAccessible, renderApp } from "@relicario/shared/testing";
import { screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";

import { HostContext } from "../context/host-context.ts";
import { createFakeHost } from "../testing/fake-host.tsx";
import DebugFlagsPage from "./DebugFlagsPage.tsx";

const testDeployment = { environment: "test", features: { camera: true, cloud: false } };

beforeEach(() => {
  sessionStorage.clear();
});

describe("DebugFlagsPage", () => {
  it.each([
    ["en", "light"],
    ["es", "dark"],
  ] as const)("lists the flags and what the page runs, accessibly (%s, %s)", async (language, theme) => {
    const { host } = createFakeHost({ deployment: testDeployment, refused: ["sharing"] });
    await renderApp(
      <HostContext value={host}>
        <DebugFlagsPage />
      </HostContext>,
      { language, theme },
    );
    expect(screen.getAllByRole("switch").map((each) => each.textContent)).toEqual(["camera", "cloud"]);
    expect(screen.getByText("secrets-0.3.1-0123456789ab")).toBeVisible();
    await expectAccessible();
  });

  it("switches for this session and back", async () => {
    const { host } = createFakeHost({ deployment: testDeployment });
    await renderApp(
      <HostContext value={host}>
        <DebugFlagsPage />
      </HostContext>,
    );
    const resetButton = screen.getByRole("button", { name: "Switch all back" });
    expect(resetButton).toBeDisabled();
    await userEvent.click(screen.getByRole("switch", { name: "cloud" }));
    expect(host.flags.getState()["cloud"]).toBe(true);
    expect(screen.getByText("Switched here; off for everybody else")).toBeVisible();
    await userEvent.click(resetButton);
    expect(screen.getByRole("switch", { name: "cloud" })).not.toBeChecked();
  });
});

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
  ] as const)("lists the flags and the page's releases, accessibly (%s, %s)", async (language, theme) => {
    const { host } = createFakeHost({ deployment: testDeployment, refusedRemotes: ["sharing"] });
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

  it("switches a flag for this session, and resets it", async () => {
    const { host } = createFakeHost({ deployment: testDeployment });
    await renderApp(
      <HostContext value={host}>
        <DebugFlagsPage />
      </HostContext>,
    );
    const resetButton = screen.getByRole("button", { name: "Undo all changes" });
    expect(resetButton).toBeDisabled();
    await userEvent.click(screen.getByRole("switch", { name: "cloud" }));
    expect(host.flags.getState()["cloud"]).toBe(true);
    expect(screen.getByText("Changed here; off for everyone else")).toBeVisible();
    await userEvent.click(resetButton);
    expect(screen.getByRole("switch", { name: "cloud" })).not.toBeChecked();
  });

  it("shows no empty card without flags", async () => {
    const { host } = createFakeHost({ deployment: { environment: "test", features: {} } });
    await renderApp(
      <HostContext value={host}>
        <DebugFlagsPage />
      </HostContext>,
    );
    expect(screen.queryByRole("list")).not.toBeInTheDocument();
    expect(screen.getByText("secrets-0.3.1-0123456789ab")).toBeVisible();
  });
});

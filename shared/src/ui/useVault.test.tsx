import { act, screen } from "@testing-library/react";

import { PortalError } from "../errors/index.ts";
import { createFakeVault, picture, renderApp } from "../testing/index.ts";
import { useVault, useVaultState } from "./useVault.ts";

function Standing() {
  const access = useVault();
  const state = useVaultState(access);
  return (
    <p>
      {access.status} {state.status} {access.status === "failed" && access.error.code}
    </p>
  );
}

describe("useVault", () => {
  it("follows the state of the vault and cleans up after itself", async () => {
    const vault = createFakeVault({ secrets: [{ title: "a", content: "b" }], unlocked: false });
    const { unmount } = await renderApp(<Standing />, { vault });
    expect(await screen.findByText("ready locked")).toBeVisible();
    await act(() => vault.unlock({ picture: picture("garden"), passphrase: null }));
    expect(screen.getByText("ready unlocked")).toBeVisible();
    unmount();
    expect(vault.listeners()).toBe(0);
  });

  it("says that there is no vault when its remote does not load", async () => {
    await renderApp(<Standing />, { vault: Promise.reject(new PortalError("vault_unavailable")) });
    expect(await screen.findByText("failed unknown vault_unavailable")).toBeVisible();
  });
});

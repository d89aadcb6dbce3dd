import { act, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { PortalContext, type Portal } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";
import {
  createFakePortal,
  createFakeVault,
  createPictureFile,
  renderApp,
  createOpenerHandle,
} from "../testing/index.ts";
import { useVault, useVaultState } from "./useVault.ts";

function VaultStatus() {
  const access = useVault();
  const state = useVaultState(access);
  return (
    <p>
      {access.status} {state.status} {access.status === "failed" && access.error.code}
      {access.status === "failed" && (
        <button type="button" onClick={access.retry}>
          Again
        </button>
      )}
    </p>
  );
}

describe("useVault", () => {
  it("follows the vault's state, and unsubscribes on unmount", async () => {
    const vault = createFakeVault({ secrets: [{ title: "a", content: "b" }], unlocked: false });
    const { unmount } = await renderApp(<VaultStatus />, { vault });
    expect(await screen.findByText("ready locked")).toBeVisible();
    await act(() => vault.unlock(createOpenerHandle(createPictureFile("garden"))));
    expect(screen.getByText("ready unlocked")).toBeVisible();
    unmount();
    expect(vault.countListeners()).toBe(0);
  });

  it("returns the failure vault_unavailable when the vault's remote does not load", async () => {
    await renderApp(<VaultStatus />, { vault: Promise.reject(new PortalError("vault_unavailable")) });
    expect(await screen.findByText("failed unknown vault_unavailable")).toBeVisible();
  });

  it("reads the vault once, and again only on retry", async () => {
    let reads = 0;
    const { portal } = createFakePortal();
    // As in the host, each read after a failure is a new attempt.
    const failingPortal: Portal = {
      ...portal,
      get vault() {
        reads++;
        return reads === 1 ? Promise.reject(new PortalError("vault_unavailable")) : Promise.resolve(createFakeVault());
      },
    };
    await renderApp(
      <PortalContext.Provider value={failingPortal}>
        <VaultStatus />
      </PortalContext.Provider>,
    );
    await userEvent.click(await screen.findByRole("button", { name: "Again" }));
    expect(await screen.findByText("ready empty")).toBeVisible();
    expect(reads).toBe(2);
  });
});

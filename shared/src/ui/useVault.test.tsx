import { act, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { PortalContext, type Portal } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";
import { createFakePortal, createFakeVault, picture, renderApp, shownImage } from "../testing/index.ts";
import { useVault, useVaultState } from "./useVault.ts";

function Standing() {
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
  it("follows the state of the vault and cleans up after itself", async () => {
    const vault = createFakeVault({ secrets: [{ title: "a", content: "b" }], unlocked: false });
    const { unmount } = await renderApp(<Standing />, { vault });
    expect(await screen.findByText("ready locked")).toBeVisible();
    await act(() => vault.unlock(shownImage(picture("garden"))));
    expect(screen.getByText("ready unlocked")).toBeVisible();
    unmount();
    expect(vault.listeners()).toBe(0);
  });

  it("says that there is no vault when its remote does not load", async () => {
    await renderApp(<Standing />, { vault: Promise.reject(new PortalError("vault_unavailable")) });
    expect(await screen.findByText("failed unknown vault_unavailable")).toBeVisible();
  });

  it("asks once, and anew only when it is told to try again", async () => {
    let asked = 0;
    const { portal } = createFakePortal();
    // As the host's: after a failure each asking is a new attempt.
    const failing: Portal = {
      ...portal,
      get vault() {
        asked++;
        return asked === 1 ? Promise.reject(new PortalError("vault_unavailable")) : Promise.resolve(createFakeVault());
      },
    };
    await renderApp(
      <PortalContext.Provider value={failing}>
        <Standing />
      </PortalContext.Provider>,
    );
    await userEvent.click(await screen.findByRole("button", { name: "Again" }));
    expect(await screen.findByText("ready empty")).toBeVisible();
    expect(asked).toBe(2);
  });
});

import { expectAccessible, createPictureFile, renderApp } from "@relicario/shared/testing";
import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import WelcomeRecoveryPage from "../recover/WelcomeRecoveryPage.tsx";
import { createRecoveryFakeVault, type RecoveryFakeVaultSettings } from "../testing/recovery-fake-vault.tsx";
import AccountResetPage from "./AccountResetPage.tsx";

const defaultSettings: RecoveryFakeVaultSettings = {
  secrets: [{ title: "Deed", content: "house" }],
  images: [{ name: "Garden", picture: "garden" }],
  unlocked: false,
};

async function renderPage(
  settings: RecoveryFakeVaultSettings = {},
  { language = "en", theme = "light" }: { language?: "en" | "es"; theme?: "light" | "dark" } = {},
) {
  const fakeVault = createRecoveryFakeVault({ ...defaultSettings, ...settings });
  return {
    fakeVault,
    ...(await renderApp(
      <main>
        <AccountResetPage />
      </main>,
      { vault: fakeVault, path: "/start-anew", routePattern: "/start-anew", language, theme },
    )),
  };
}

beforeEach(() => {
  URL.createObjectURL = jest.fn(() => "blob:test/1");
  URL.revokeObjectURL = jest.fn();
});

describe("resetting the account", () => {
  it.each([
    ["en", "light"],
    ["es", "dark"],
  ] as const)("is accessible in every state, in %s and %s", async (language, theme) => {
    for (const accountReset of ["none", "waiting", "ready", "objected", "cancelled", "begun"] as const) {
      const { unmount } = await renderPage({ accountReset }, { language, theme });
      await waitFor(() => {
        expect([...screen.queryAllByRole("button"), ...screen.queryAllByRole("link")]).not.toEqual([]);
      });
      await expectAccessible();
      unmount();
    }
  });

  it("lists what may still open the account first, and requires accepting the loss", async () => {
    const { fakeVault } = await renderPage();
    const alternatives = await screen.findByRole("region", { name: "What may still open your secrets" });
    for (const name of ["I have a copy", "Try a passkey", "Type or scan it", "I have another device", "I have a kit"])
      expect(screen.getByRole("link", { name })).toBeVisible();
    const requestButton = screen.getByRole("button", { name: "Sign in again and request the reset" });
    expect(alternatives.compareDocumentPosition(requestButton) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
    expect(requestButton).toBeDisabled();
    await userEvent.click(screen.getByRole("checkbox", { name: /I give up everything/ }));
    await userEvent.click(requestButton);
    expect(await screen.findByRole("heading", { name: /^Your account can be reset from 17 Nov 2026/ })).toBeVisible();
    expect(fakeVault.calls.filter((call) => call === "accountReset.request")).toHaveLength(1);
  });

  it("shows that the request failed, and retries", async () => {
    const { fakeVault } = await renderPage();
    fakeVault.failWith("accountReset.request", "popup_blocked");
    await userEvent.click(await screen.findByRole("checkbox"));
    await userEvent.click(screen.getByRole("button", { name: "Sign in again and request the reset" }));
    expect(await screen.findByRole("alert")).toBeVisible();
    fakeVault.failWith("accountReset.request", null);
    await userEvent.click(screen.getByRole("button", { name: "Sign in again and request the reset" }));
    expect(await screen.findByRole("button", { name: "This was not me: stop the reset" })).toBeVisible();
  });

  it.each([
    ["This was not me: stop the reset", /^Someone stopped it on/],
    ["It was me: cancel the reset", /^Cancelled on/],
  ])("ends during the waiting time after “%s”", async (name, message) => {
    await renderPage({ accountReset: "waiting" });
    await userEvent.click(await screen.findByRole("button", { name }));
    expect(await screen.findByText(message)).toBeVisible();
    expect(screen.getByRole("button", { name: "Sign in again and request the reset" })).toBeDisabled();
  });

  it("resets with a new picture after the waiting time, and shows the result", async () => {
    const { fakeVault } = await renderPage({ accountReset: "ready" });
    await userEvent.click(await screen.findByRole("button", { name: "Sign in again and reset" }));
    expect(screen.getByText(/^Choose a picture, decide/)).toBeVisible();
    await userEvent.upload(await screen.findByLabelText("Picture file"), createPictureFile("forest"));
    await userEvent.click(await screen.findByRole("checkbox", { name: /without a passphrase/i }));
    await userEvent.click(screen.getByRole("button", { name: "Sign in again and reset" }));
    expect(await screen.findByText(/^This account was reset on 18 Nov 2026/)).toBeVisible();
    expect(screen.getByRole("link", { name: "Go to Home" })).toHaveAttribute("href", "/home");
    await userEvent.click(screen.getByRole("button", { name: "My own device" }));
    expect(fakeVault.getState()).toEqual({ status: "unlocked", device: "own" });
    expect(await fakeVault.list()).toEqual([]);
    expect((await fakeVault.listImages()).map(({ name }) => name)).toEqual(["My picture"]);
  });

  it("shows that the reset failed", async () => {
    const { fakeVault } = await renderPage({ accountReset: "ready" });
    fakeVault.failWith("accountReset.complete", "older_state");
    await userEvent.upload(await screen.findByLabelText("Picture file"), createPictureFile("forest"));
    await userEvent.click(await screen.findByRole("checkbox", { name: /without a passphrase/i }));
    await userEvent.click(screen.getByRole("button", { name: "Sign in again and reset" }));
    expect(await screen.findByRole("alert")).toBeVisible();
    expect(screen.getByRole("button", { name: "This was not me: stop the reset" })).toBeEnabled();
  });

  it("offers no action for an empty account", async () => {
    await renderPage({ secrets: [], images: [] });
    expect(await screen.findByText(/This account has no secrets yet/)).toBeVisible();
    expect(screen.queryByRole("button")).toBeNull();
  });

  it("is linked from “I have no copy”", async () => {
    await renderApp(
      <main>
        <WelcomeRecoveryPage />
      </main>,
      { path: "/welcome-recovery?have=none", routePattern: "/welcome-recovery" },
    );
    expect(await screen.findByRole("link", { name: "Reset my account (secrets will be lost)" })).toHaveAttribute(
      "href",
      "/start-anew",
    );
  });
});

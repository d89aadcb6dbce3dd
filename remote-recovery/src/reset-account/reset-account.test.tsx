import { expectAccessible, createPictureFile, renderApp } from "@relicario/shared/testing";
import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { examinerOf, registerExaminer } from "../picture/examiner.ts";
import { PictureField } from "../picture/PictureField.tsx";
import WelcomeRecoveryPage from "../recover/WelcomeRecoveryPage.tsx";
import { createRecoveryFakeVault, type RecoveryFakeVaultSettings } from "../testing/recovery-fake-vault.ts";
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
  const fake = createRecoveryFakeVault({ ...defaultSettings, ...settings });
  const vault = { ...fake, PictureField };
  registerExaminer(vault, examinerOf(fake));
  return {
    fake,
    ...(await renderApp(
      <main>
        <AccountResetPage />
      </main>,
      { vault, path: "/start-anew", route: "/start-anew", language, theme },
    )),
  };
}

beforeEach(() => {
  URL.createObjectURL = jest.fn(() => "blob:test/1");
  URL.revokeObjectURL = jest.fn();
});

describe("starting anew", () => {
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

  it("names what may still open the account before anything else, and asks only whoever gives it up", async () => {
    const { fake } = await renderPage();
    const alternatives = await screen.findByRole("region", { name: "What may still open your secrets" });
    for (const name of ["I have a copy", "Try a passkey", "Type or scan it", "I have another device", "I have a kit"])
      expect(screen.getByRole("link", { name })).toBeVisible();
    const requestButton = screen.getByRole("button", { name: "Sign in again and ask for it" });
    expect(alternatives.compareDocumentPosition(requestButton) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
    expect(requestButton).toBeDisabled();
    await userEvent.click(screen.getByRole("checkbox", { name: /I give up everything/ }));
    await userEvent.click(requestButton);
    expect(await screen.findByRole("heading", { name: /^Your account can be reset from 17 Nov 2026/ })).toBeVisible();
    expect(fake.calls.filter((call) => call === "accountReset.request")).toHaveLength(1);
  });

  it("says why it was not asked for, and leaves everything to be tried again", async () => {
    const { fake } = await renderPage();
    fake.failWith("accountReset.request", "popup_blocked");
    await userEvent.click(await screen.findByRole("checkbox"));
    await userEvent.click(screen.getByRole("button", { name: "Sign in again and ask for it" }));
    expect(await screen.findByRole("alert")).toBeVisible();
    fake.failWith("accountReset.request", null);
    await userEvent.click(screen.getByRole("button", { name: "Sign in again and ask for it" }));
    expect(await screen.findByRole("button", { name: "This was not me: object" })).toBeVisible();
  });

  it.each([
    ["This was not me: object", /^Someone objected on/],
    ["It was me: call it off", /^It was called off on/],
  ])("ends while it waits by “%s”", async (name, message) => {
    await renderPage({ accountReset: "waiting" });
    await userEvent.click(await screen.findByRole("button", { name }));
    expect(await screen.findByText(message)).toBeVisible();
    expect(screen.getByRole("button", { name: "Sign in again and ask for it" })).toBeDisabled();
  });

  it("begins with a new picture once the wait is over, and says what happened", async () => {
    const { fake } = await renderPage({ accountReset: "ready" });
    await userEvent.click(await screen.findByRole("button", { name: "Sign in again and reset" }));
    expect(screen.getByText(/^Choose a picture, answer/)).toBeVisible();
    await userEvent.upload(await screen.findByLabelText("Picture file"), createPictureFile("forest"));
    await userEvent.click(await screen.findByRole("checkbox", { name: /without a passphrase/i }));
    await userEvent.click(screen.getByRole("button", { name: "Sign in again and reset" }));
    expect(await screen.findByText(/^This account was reset on 18 Nov 2026/)).toBeVisible();
    expect(screen.getByRole("link", { name: "Continue to Home" })).toHaveAttribute("href", "/home");
    await userEvent.click(screen.getByRole("button", { name: "My own device" }));
    expect(fake.getState()).toEqual({ status: "unlocked", device: "own" });
    expect(await fake.list()).toEqual([]);
    expect((await fake.listImages()).map(({ name }) => name)).toEqual(["My picture"]);
  });

  it("shows why it was not begun", async () => {
    const { fake } = await renderPage({ accountReset: "ready" });
    fake.failWith("accountReset.complete", "older_state");
    await userEvent.upload(await screen.findByLabelText("Picture file"), createPictureFile("forest"));
    await userEvent.click(await screen.findByRole("checkbox", { name: /without a passphrase/i }));
    await userEvent.click(screen.getByRole("button", { name: "Sign in again and reset" }));
    expect(await screen.findByRole("alert")).toBeVisible();
    expect(screen.getByRole("button", { name: "This was not me: object" })).toBeEnabled();
  });

  it("has nothing to start anew where nothing is kept", async () => {
    await renderPage({ secrets: [], images: [] });
    expect(await screen.findByText(/Nothing is kept here yet/)).toBeVisible();
    expect(screen.queryByRole("button")).toBeNull();
  });

  it("is reached from “I have no copy”", async () => {
    await renderApp(
      <main>
        <WelcomeRecoveryPage />
      </main>,
      { path: "/welcome-recovery?have=none", route: "/welcome-recovery" },
    );
    expect(await screen.findByRole("link", { name: "Reset my account (secrets will be lost)" })).toHaveAttribute(
      "href",
      "/start-anew",
    );
  });
});

import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { createFakeVault, expectAccessible, picture, renderApp, type FakeSecret, type FakeVaultSettings } from "@relicario/shared/testing";
import { PortalError } from "@relicario/shared/errors";
import SecretsPage from "./SecretsPage.tsx";

const some: readonly FakeSecret[] = [
  { title: "Cold wallet", content: "abandon ability", tags: ["family", "seed"] },
  { title: "House keys", content: "4711", favorite: true },
  { title: "Old letter", content: "dear", deleted: true },
];

async function draw(vaultSettings: FakeVaultSettings = { secrets: some }, settings: Parameters<typeof renderApp>[1] = {}) {
  const vault = createFakeVault(vaultSettings);
  const app = await renderApp(
    <main>
      <SecretsPage />
    </main>,
    { vault, path: "/secrets", route: "/secrets", ...settings },
  );
  return { vault, ...app };
}
const names = () => within(screen.getByRole("list", { name: "Secrets" })).getAllByRole("link").map((each) => each.textContent);

describe("SecretsPage", () => {
  it("lists what is kept, newest first, with the total", async () => {
    await draw();
    expect(await screen.findByText("2 secrets")).toBeVisible();
    expect(names()).toEqual(["House keys", "Cold wallet"]);
    expect(screen.queryByText("Old letter")).not.toBeInTheDocument();
    await expectAccessible();
  });

  it("searches as it is typed, and says so when nothing is found", async () => {
    await draw();
    const search = await screen.findByRole("searchbox", { name: "Search titles, tags and file names" });
    await userEvent.type(search, "family");
    await waitFor(() => {
      expect(names()).toEqual(["Cold wallet"]);
    });
    expect(screen.getByText("1 of 2")).toBeVisible();
    await userEvent.type(search, "x");
    expect(await screen.findByRole("heading", { name: "Nothing found" })).toBeVisible();
  });

  it("locks when asked, and shows no name afterwards", async () => {
    await draw();
    await userEvent.click(await screen.findByRole("button", { name: "Lock" }));
    expect(await screen.findByText("This device is locked")).toBeVisible();
    expect(screen.queryByText("Cold wallet")).not.toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Lock" })).not.toBeInTheDocument();
  });

  it("goes to the recovery of a secret", async () => {
    const { location } = await draw();
    await userEvent.click(await screen.findByRole("link", { name: "Cold wallet" }));
    expect(location()).toMatch(/^\/provide-image-recovery\?secret=[0-9a-f-]{36}$/);
  });

  it("stars at once, and takes the star back when the service refuses", async () => {
    const { vault } = await draw();
    const star = await screen.findByRole("button", { name: "Favourite: Cold wallet" });
    expect(star).toHaveAttribute("aria-pressed", "false");
    await userEvent.click(star);
    expect(star).toHaveAttribute("aria-pressed", "true");
    vault.failWith("setFavorite", "service_unavailable");
    await userEvent.click(star);
    expect(await screen.findByRole("alert")).toHaveTextContent("The service does not answer");
    expect(star).toHaveAttribute("aria-pressed", "true");
  });

  it("moves a secret to the trash after asking, and restores it", async () => {
    const { record } = await draw();
    await userEvent.click(await screen.findByRole("button", { name: "More for Cold wallet" }));
    await userEvent.click(screen.getByRole("menuitem", { name: "Move to trash" }));
    await waitFor(() => {
      expect(names()).toEqual(["House keys"]);
    });
    expect(record.confirms[0]?.description).toContain("30 days");
    expect(record.notices.at(-1)).toEqual({ tone: "success", text: "Moved to the trash." });

    await userEvent.click(screen.getByRole("button", { name: "Trash (2)" }));
    const trash = screen.getByRole("list", { name: "Trash" });
    expect(within(trash).getByRole("link", { name: "Cold wallet" })).toBeVisible();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "More for Cold wallet" }));
    await userEvent.click(screen.getByRole("menuitem", { name: "Restore" }));
    await userEvent.click(screen.getByRole("button", { name: "Back to your secrets" }));
    await waitFor(() => {
      expect(names()).toContain("Cold wallet");
    });
  });

  it("leaves a secret where it is when the person says no", async () => {
    const { vault } = await draw({ secrets: some }, { answer: false });
    await userEvent.click(await screen.findByRole("button", { name: "More for Cold wallet" }));
    await userEvent.click(screen.getByRole("menuitem", { name: "Move to trash" }));
    expect(vault.calls).not.toContain("trash");
    expect(names()).toContain("Cold wallet");
  });

  it("shows locked rows without names, and offers to unlock", async () => {
    const { location } = await draw({ secrets: some, unlocked: false });
    expect(await screen.findAllByRole("link", { name: /^Locked secret of / })).toHaveLength(2);
    expect(screen.queryByText("Cold wallet")).not.toBeInTheDocument();
    expect(screen.queryByRole("searchbox")).not.toBeInTheDocument();
    await expectAccessible();
    await userEvent.click(screen.getByRole("link", { name: "Unlock with your picture" }));
    expect(location()).toBe("/provide-image-recovery?then=%2Fsecrets");
  });

  it("shows names once the vault is unlocked, and drops them when the portal locks", async () => {
    const { vault, record, queryClient } = await draw({ secrets: some, unlocked: false });
    await screen.findAllByRole("link", { name: /^Locked secret of / });
    await act(() => vault.unlock({ picture: picture("garden"), passphrase: null }));
    expect(await screen.findByRole("link", { name: "Cold wallet" })).toBeVisible();

    await act(async () => {
      for (const listener of record.lockListeners) await listener("lock");
      await vault.lock();
    });
    expect(await screen.findAllByRole("link", { name: /^Locked secret of / })).toHaveLength(2);
    expect(JSON.stringify(queryClient.getQueryCache().getAll().map((each) => each.state.data))).not.toContain("Cold wallet");
  });

  it("teaches what to do when nothing is kept", async () => {
    await draw({});
    expect(await screen.findByRole("heading", { name: "Nothing is kept here yet" })).toBeVisible();
    expect(screen.getByRole("link", { name: "Protect a first secret" })).toHaveAttribute("href", "/add-secret");
    await expectAccessible();
  });

  it("says what failed and tries again", async () => {
    const vault = createFakeVault({ secrets: some });
    vault.failWith("list", "service_unavailable");
    await renderApp(
      <main>
        <SecretsPage />
      </main>,
      { vault },
    );
    expect(await screen.findByRole("alert")).toHaveTextContent("The service does not answer");
    await expectAccessible();
    vault.failWith("list", null);
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByRole("link", { name: "Cold wallet" })).toBeVisible();
  });

  it("believes an older state only as a deliberate choice", async () => {
    const accepted = jest.fn(() => Promise.resolve());
    const fake = createFakeVault({ secrets: some });
    fake.failWith("list", "older_state");
    const { record } = await renderApp(<SecretsPage />, { vault: { ...fake, acceptOlderState: accepted } });
    await userEvent.click(await screen.findByRole("button", { name: "Go on with the older state" }));
    expect(record.confirms).toHaveLength(1);
    expect(accepted).toHaveBeenCalledTimes(1);
  });

  it("says that the vault did not load", async () => {
    await renderApp(<SecretsPage />, { vault: Promise.reject(new PortalError("vault_unavailable")) });
    expect(await screen.findByRole("alert")).toHaveTextContent("did not load");
  });

  it("says while it loads that it does", async () => {
    await renderApp(
      <main>
        <SecretsPage />
      </main>,
      { vault: new Promise(() => undefined) },
    );
    expect(screen.getByRole("status")).toHaveTextContent("Loading your secrets");
    await expectAccessible();
  });

  it.each(["light", "dark"] as const)("bears long texts in %s and in Spanish", async (theme) => {
    const long = "W".repeat(200);
    await draw({ secrets: [{ title: long, content: "x", tags: Array.from({ length: 32 }, (_, index) => `${String(index)}${"t".repeat(38)}`) }] }, { language: "es", theme });
    expect(await screen.findByRole("link", { name: long })).toBeVisible();
    expect(screen.getByText("1 secreto")).toBeVisible();
    await expectAccessible();
  });

  it("shows titles as text, never as markup", async () => {
    await draw({ secrets: [{ title: "<img src=x onerror=alert(1)>", content: "x", tags: ["<b>bold</b>"] }] });
    expect(await screen.findByRole("link", { name: "<img src=x onerror=alert(1)>" })).toBeVisible();
    expect(screen.getByText("<b>bold</b>")).toBeVisible();
  });
});

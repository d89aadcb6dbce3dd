import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import type { Me } from "@relicario/shared/api";
import {
  createFakeHttpClient,
  createFakeVault,
  expectAccessible,
  renderApp,
  type FakeVault,
  type FakeVaultSettings,
} from "@relicario/shared/testing";
import { secretKeys } from "../data/keys.ts";
import { createMe } from "../testing/me.ts";
import HomePage from "./HomePage.tsx";

async function renderPage(vaultSettings: FakeVaultSettings = {}, settings: Parameters<typeof renderApp>[1] = {}) {
  const vault = createFakeVault(vaultSettings);
  const app = await renderApp(
    <main>
      <HomePage />
    </main>,
    { vault, path: "/home", route: "/home", ...settings },
  );
  return { vault, ...app };
}

describe("HomePage", () => {
  it("greets, and offers the one thing to do", async () => {
    const { location } = await renderPage();
    expect(screen.getByRole("heading", { level: 1, name: "Hello, alba" })).toBeVisible();
    await waitFor(() => {
      expect(screen.getByRole("link", { name: "Protect a secret" })).toHaveAttribute("href", "/welcome-backup");
    });
    await userEvent.click(screen.getByRole("link", { name: "Protect a secret" }));
    expect(location()).toBe("/welcome-backup");
  });

  it("lets the form find out whether it is the first, for whoever is faster than the vault", async () => {
    const routes = { "/add-secret": () => import("../add/AddSecretPage.tsx") };
    const { location } = await renderPage({}, { path: "/add-secret?guided", routes });
    await waitFor(() => {
      expect(location()).toBe("/welcome-backup");
    });
    const pendingVault: FakeVault = {
      ...createFakeVault({}),
      refresh: () => new Promise(() => undefined),
      getState: () => unknownState,
    };
    await renderApp(<HomePage />, { vault: pendingVault, path: "/home", route: "/home" });
    expect(screen.getByRole("link", { name: "Protect a secret" })).toHaveAttribute("href", "/add-secret?guided");
  });

  it("leads to the one page form once something is kept", async () => {
    await renderPage({ secrets: [{ title: "Keys", content: "x" }] });
    await screen.findByRole("list", { name: "Recent" });
    expect(screen.getByRole("link", { name: "Protect a secret" })).toHaveAttribute("href", "/add-secret");
  });

  it("explains itself to somebody who keeps nothing yet", async () => {
    await renderPage();
    expect(await screen.findByRole("heading", { name: "How it works" })).toBeVisible();
    await expectAccessible();
  });

  it("shows favourites and recent secrets, and the way to all of them", async () => {
    await renderPage({
      secrets: [
        ...Array.from({ length: 6 }, (_, index) => ({ title: `Letter ${String(index)}`, content: "x" })),
        { title: "Keys", content: "x", favorite: true },
      ],
    });
    const favorites = await screen.findByRole("list", { name: "Favourites" });
    expect(within(favorites).getByRole("link", { name: "Keys" })).toBeVisible();
    const recent = within(screen.getByRole("list", { name: "Recent" })).getAllByRole("link");
    expect(recent.map((link) => link.textContent)).toEqual(["Letter 5", "Letter 4", "Letter 3", "Letter 2"]);
    expect(screen.getByRole("link", { name: "Show all 7 secrets" })).toHaveAttribute("href", "/secrets");
    expect(screen.queryByRole("heading", { name: "How it works" })).not.toBeInTheDocument();
    await expectAccessible();
  });

  it("asks for the address while the secrets are on their way, so that what it says moves nothing", async () => {
    const http = createFakeHttpClient({});
    const pendingVault: FakeVault = {
      ...createFakeVault({}),
      refresh: () => new Promise(() => undefined),
      getState: () => unknownState,
    };
    await renderApp(<HomePage />, { vault: pendingVault, http, path: "/home", route: "/home" });
    expect(await screen.findByText("Loading your secrets")).toBeInTheDocument();
    expect(http.calls.map(({ path }) => path)).toEqual(["/user/me"]);
  });

  it("draws its lists with what stands above them, not before", async () => {
    let respond: (account: Me) => void = () => undefined;
    const http = createFakeHttpClient({
      "GET /user/me": () =>
        new Promise((resolve) => {
          respond = resolve;
        }),
    });
    const { queryClient } = await renderPage({ secrets: [{ title: "Keys", content: "x" }] }, { http });
    await waitFor(() => {
      expect(queryClient.isFetching()).toBe(1);
    });
    expect(screen.getByText("Loading your secrets")).toBeInTheDocument();
    expect(screen.queryByRole("list", { name: "Recent" })).not.toBeInTheDocument();
    respond(createMe(null, false));
    expect(await screen.findByRole("list", { name: "Recent" })).toBeVisible();
    expect(screen.getByRole("heading", { name: "Needs your attention" })).toBeVisible();
  });

  it("draws its lists at the first failure of what stands above them, and goes on without it", async () => {
    const http = createFakeHttpClient({});
    const { queryClient } = await renderPage({ secrets: [{ title: "Keys", content: "x" }] }, { http });
    expect(await screen.findByRole("list", { name: "Recent" })).toBeVisible();
    await waitFor(() => {
      expect(queryClient.isFetching()).toBe(0);
    });
    expect(screen.getByRole("list", { name: "Recent" })).toBeVisible();
  });

  it("waits for all rows: only they tell which are favourites", async () => {
    const fakeVault = createFakeVault({
      secrets: [
        { title: "Keys", content: "x", favorite: true },
        { title: "Letter", content: "x" },
      ],
      batchSize: 1,
    });
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const list: FakeVault["list"] = async (options) => {
      const rows = await fakeVault.list(options);
      await released;
      return rows;
    };
    const { queryClient, portal } = await renderPage({}, { vault: { ...fakeVault, list } });
    await waitFor(() => {
      expect(queryClient.getQueryData(secretKeys.partialRows(portal.user.userId, "unlocked"))).toMatchObject({
        opened: 1,
      });
    });
    expect(await screen.findByText("Loading your secrets")).toBeInTheDocument();
    expect(screen.queryByRole("list")).not.toBeInTheDocument();
    release();
    expect(await screen.findByRole("list", { name: "Favourites" })).toBeVisible();
    expect(screen.getByRole("list", { name: "Recent" })).toBeVisible();
  });

  it("offers to unlock", async () => {
    await renderPage({ secrets: [{ title: "Keys", content: "x" }], unlocked: false });
    expect(await screen.findByRole("link", { name: "Unlock with your picture" })).toHaveAttribute(
      "href",
      "/provide-image-recovery?then=%2Fhome",
    );
    await expectAccessible();
  });

  it("keeps its first button when the secrets cannot be read", async () => {
    const vault = createFakeVault({});
    vault.failWith("refresh", "offline");
    await renderApp(
      <main>
        <HomePage />
      </main>,
      { vault: { ...vault, getState: () => unknownState } },
    );
    expect(await screen.findByRole("alert")).toHaveTextContent("This device is offline");
    expect(screen.getByRole("link", { name: "Protect a secret" })).toBeVisible();
    await expectAccessible();
  });

  it("is whole in Spanish and in the dark", async () => {
    await renderPage({}, { language: "es", theme: "dark" });
    expect(await screen.findByRole("heading", { name: "Cómo funciona" })).toBeVisible();
    await expectAccessible();
  });

  it.each([
    ["unlocked", true],
    ["locked", false],
  ])("shows on a device that is %s that somebody asked to start anew, and objects", async (_description, unlocked) => {
    const { vault } = await renderPage({
      secrets: [{ title: "Keys", content: "x" }],
      unlocked,
      accountReset: "waiting",
    });
    expect(await screen.findByText("Someone asked to reset this account")).toBeVisible();
    expect(screen.getByRole("link", { name: "What this means" })).toHaveAttribute("href", "/start-anew");
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "This was not me: object" }));
    await waitFor(() => {
      expect(screen.queryByText("Someone asked to reset this account")).toBeNull();
    });
    expect((await vault.accountReset.status()).state).toBe("objected");
  });

  it("says on a device without the new keys that the account was started anew, and nothing on one that has them", async () => {
    await renderPage({ secrets: [{ title: "Keys", content: "x" }], unlocked: false, accountReset: "begun" });
    expect(await screen.findByText(/^This account was reset on 18 Nov 2026/)).toBeVisible();
    await expectAccessible();
  });

  it("says why objecting did not succeed", async () => {
    const { vault } = await renderPage({ secrets: [{ title: "Keys", content: "x" }], accountReset: "ready" });
    vault.failWith("accountReset.end", "offline");
    await userEvent.click(await screen.findByRole("button", { name: "This was not me: object" }));
    expect(await screen.findByText("This account can be reset now")).toBeVisible();
    await waitFor(() => {
      expect(screen.getAllByRole("alert").length).toBeGreaterThan(1);
    });
  });
});

const unknownState = { status: "unknown" } as const;

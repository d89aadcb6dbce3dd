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
    { vault, path: "/home", routePattern: "/home", ...settings },
  );
  return { vault, ...app };
}

describe("HomePage", () => {
  it("greets the person, and offers to protect a secret", async () => {
    const { getLocation } = await renderPage();
    expect(screen.getByRole("heading", { level: 1, name: "Hello, alba" })).toBeVisible();
    await waitFor(() => {
      expect(screen.getByRole("link", { name: "Protect a secret" })).toHaveAttribute("href", "/welcome-backup");
    });
    await userEvent.click(screen.getByRole("link", { name: "Protect a secret" }));
    expect(getLocation()).toBe("/welcome-backup");
  });

  it("links to a form that redirects a first secret, until the vault's state is known", async () => {
    const routes = { "/add-secret": () => import("../add/AddSecretPage.tsx") };
    const { getLocation } = await renderPage({}, { path: "/add-secret?guided", routes });
    await waitFor(() => {
      expect(getLocation()).toBe("/welcome-backup");
    });
    const pendingVault: FakeVault = {
      ...createFakeVault({}),
      refresh: () => new Promise(() => undefined),
      getState: () => unknownState,
    };
    await renderApp(<HomePage />, { vault: pendingVault, path: "/home", routePattern: "/home" });
    expect(screen.getByRole("link", { name: "Protect a secret" })).toHaveAttribute("href", "/add-secret?guided");
  });

  it("links to the one-page form once there is a secret", async () => {
    await renderPage({ secrets: [{ title: "Keys", content: "x" }] });
    await screen.findByRole("list", { name: "Recent" });
    expect(screen.getByRole("link", { name: "Protect a secret" })).toHaveAttribute("href", "/add-secret");
  });

  it("explains the product for an empty account", async () => {
    await renderPage();
    expect(await screen.findByRole("heading", { name: "How it works" })).toBeVisible();
    await expectAccessible();
  });

  it("shows favourites and recent secrets, and links to all", async () => {
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

  it("loads the account in parallel with the secrets", async () => {
    const http = createFakeHttpClient({});
    const pendingVault: FakeVault = {
      ...createFakeVault({}),
      refresh: () => new Promise(() => undefined),
      getState: () => unknownState,
    };
    await renderApp(<HomePage />, { vault: pendingVault, http, path: "/home", routePattern: "/home" });
    expect(await screen.findByText("Loading your secrets")).toBeInTheDocument();
    expect(http.calls.map(({ path }) => path)).toEqual(["/user/me"]);
  });

  it("explains the product before the vault runs, when the service counts no secret", async () => {
    const pendingVault: FakeVault = {
      ...createFakeVault({}),
      refresh: () => new Promise(() => undefined),
      getState: () => unknownState,
    };
    const settings = { path: "/home", routePattern: "/home", vault: pendingVault };
    const countingService = (secrets: number) =>
      createFakeHttpClient({ "GET /user/me": () => createMe(null, false, secrets) });
    const { queryClient } = await renderApp(<HomePage />, { ...settings, http: countingService(0) });
    expect(await screen.findByRole("heading", { name: "How it works" })).toBeVisible();
    expect(screen.queryByText("Loading your secrets")).not.toBeInTheDocument();
    void queryClient.invalidateQueries({ refetchType: "none" }); // a secret was added
    await waitFor(() => {
      expect(screen.getByText("Loading your secrets")).toBeInTheDocument();
    });
    expect(screen.queryByRole("heading", { name: "How it works" })).not.toBeInTheDocument();
  });

  it("does not explain the product to an account that has secrets", async () => {
    const http = createFakeHttpClient({ "GET /user/me": () => createMe(null, false, 0) }); // counted before they came
    await renderPage({ secrets: [{ title: "Keys", content: "x" }] }, { http });
    expect(await screen.findByRole("list", { name: "Recent" })).toBeVisible();
    expect(screen.queryByRole("heading", { name: "How it works" })).not.toBeInTheDocument();
  });

  it("renders its lists only together with the notices above them", async () => {
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

  it("renders its lists once the notices above them have failed for the first time", async () => {
    const http = createFakeHttpClient({});
    const { queryClient } = await renderPage({ secrets: [{ title: "Keys", content: "x" }] }, { http });
    expect(await screen.findByRole("list", { name: "Recent" })).toBeVisible();
    await waitFor(() => {
      expect(queryClient.isFetching()).toBe(0);
    });
    expect(screen.getByRole("list", { name: "Recent" })).toBeVisible();
  });

  it("waits for all rows, because favourites may be anywhere among them", async () => {
    const fakeVault = createFakeVault({
      secrets: [
        { title: "Keys", content: "x", favorite: true },
        { title: "Letter", content: "x" },
      ],
      batchSize: 1,
    });
    let release: () => void = () => undefined;
    const releasePromise = new Promise<void>((resolve) => {
      release = resolve;
    });
    const list: FakeVault["list"] = async (options) => {
      const rows = await fakeVault.list(options);
      await releasePromise;
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

  it("keeps its main button when the secrets cannot be read", async () => {
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

  it("renders in Spanish and in the dark theme", async () => {
    await renderPage({}, { language: "es", theme: "dark" });
    expect(await screen.findByRole("heading", { name: "Cómo funciona" })).toBeVisible();
    await expectAccessible();
  });

  it.each([
    ["unlocked", true],
    ["locked", false],
  ])("shows a requested account reset on an %s device, and lets the person object", async (_description, unlocked) => {
    const { vault } = await renderPage({
      secrets: [{ title: "Keys", content: "x" }],
      unlocked,
      accountReset: "waiting",
    });
    expect(await screen.findByText("Someone asked to reset this account")).toBeVisible();
    expect(screen.getByRole("link", { name: "What this means" })).toHaveAttribute("href", "/start-anew");
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "This was not me: stop the reset" }));
    await waitFor(() => {
      expect(screen.queryByText("Someone asked to reset this account")).toBeNull();
    });
    expect((await vault.accountReset.status()).state).toBe("objected");
  });

  it("shows, on a device without the new keys, that the account was reset", async () => {
    await renderPage({ secrets: [{ title: "Keys", content: "x" }], unlocked: false, accountReset: "begun" });
    expect(await screen.findByText(/^This account was reset on 18 Nov 2026/)).toBeVisible();
    await expectAccessible();
  });

  it("shows why objecting failed", async () => {
    const { vault } = await renderPage({ secrets: [{ title: "Keys", content: "x" }], accountReset: "ready" });
    vault.failWith("accountReset.end", "offline");
    await userEvent.click(await screen.findByRole("button", { name: "This was not me: stop the reset" }));
    expect(await screen.findByText("This account can be reset now")).toBeVisible();
    await waitFor(() => {
      expect(screen.getAllByRole("alert").length).toBeGreaterThan(1);
    });
  });
});

const unknownState = { status: "unknown" } as const;

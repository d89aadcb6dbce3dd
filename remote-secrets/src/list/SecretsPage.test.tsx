import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import type { SecretRow } from "@relicario/shared/contract";
import {
  createFakeVault,
  expectAccessible,
  createPictureFile,
  renderApp,
  type FakeSecret,
  type FakeVault,
  type FakeVaultSettings,
  type RenderedApp,
  createOpenerHandle,
  wholeText,
} from "@relicario/shared/testing";
import { PortalError } from "@relicario/shared/errors";
import { secretKeys } from "../data/keys.ts";
import EditSecretPage from "../edit/EditSecretPage.tsx";
import SecretsPage from "./SecretsPage.tsx";

const sampleSecrets: readonly FakeSecret[] = [
  { title: "Cold wallet", content: "abandon ability", tags: ["family", "seed"] },
  { title: "House keys", content: "4711", favorite: true },
  { title: "Old letter", content: "dear", deleted: true },
];

/** Id of the fake vault's first secret. */
const firstSecretId = "01890a5d-ac96-7000-8000-000000000001";

async function renderPage(
  vaultSettings: FakeVaultSettings = { secrets: sampleSecrets },
  settings: Parameters<typeof renderApp>[1] = {},
) {
  const vault = createFakeVault(vaultSettings);
  const app = await renderApp(
    <main>
      <SecretsPage />
    </main>,
    { vault, path: "/secrets", routePattern: "/secrets", ...settings },
  );
  return { vault, ...app };
}
const getNames = () =>
  within(screen.getByRole("list", { name: "Secrets" }))
    .getAllByRole("link")
    .map((link) => link.textContent);

/** Opens a secret for editing, visits the list, leaves it, and returns to the edit page. */
async function editThenVisitList() {
  const vault = createFakeVault({ secrets: sampleSecrets });
  const secretId = (await vault.list()).find(({ label }) => label?.title === "Cold wallet")?.secretId ?? "";
  const editPath = `/edit-secret/${secretId}`;
  const { goTo } = await renderApp(<SecretsPage />, {
    vault,
    path: editPath,
    routePattern: "/secrets",
    routes: { "/edit-secret/:secretId": () => Promise.resolve({ default: EditSecretPage }) },
  });
  await userEvent.click(await screen.findByRole("button", { name: "Open and change" }));
  await userEvent.upload(await screen.findByLabelText("Choose a picture"), createPictureFile("garden"));
  await userEvent.click(screen.getByRole("button", { name: "Open" }));
  expect(await screen.findByRole("textbox", { name: "Your secret" })).toHaveValue("abandon ability");
  await goTo("/secrets");
  expect(await screen.findByText("2 secrets")).toBeVisible();
  await goTo("/elsewhere");
  await goTo(editPath);
}

const getSavedListState = ({ queryClient, portal }: Pick<RenderedApp, "queryClient" | "portal">) =>
  queryClient.getQueryData(secretKeys.savedListState(portal.user.userId));

describe("SecretsPage", () => {
  it("lists secrets, newest first, with the total", async () => {
    await renderPage();
    expect(await screen.findByText("2 secrets")).toBeVisible();
    expect(getNames()).toEqual(["House keys", "Cold wallet"]);
    expect(screen.queryByText("Old letter")).not.toBeInTheDocument();
    await expectAccessible();
  });

  it("searches while typing, and says if nothing is found", async () => {
    await renderPage();
    const search = await screen.findByRole("searchbox", { name: "Search titles, tags and file names" });
    await userEvent.type(search, "family");
    await waitFor(() => {
      expect(getNames()).toEqual(["Cold wallet"]);
    });
    expect(screen.getByText("1 of 2")).toBeVisible();
    await userEvent.type(search, "x");
    expect(await screen.findByRole("heading", { name: "Nothing found" })).toBeVisible();
  });

  it("locks on request, and hides all titles", async () => {
    await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "Lock" }));
    expect(await screen.findByText("This device is locked")).toBeVisible();
    expect(screen.queryByText("Cold wallet")).not.toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Lock" })).not.toBeInTheDocument();
  });

  it("links a secret to its recovery", async () => {
    const { getLocation } = await renderPage();
    await userEvent.click(await screen.findByRole("link", { name: "Cold wallet" }));
    expect(getLocation()).toMatch(/^\/provide-image-recovery\?secret=[0-9a-f-]{36}$/);
  });

  it("stars at once, and removes the star if the service fails", async () => {
    const { vault } = await renderPage();
    const star = await screen.findByRole("button", { name: "Favourite: Cold wallet" });
    expect(star).toHaveAttribute("aria-pressed", "false");
    await userEvent.click(star);
    expect(star).toHaveAttribute("aria-pressed", "true");
    vault.failWith("setFavorite", "service_unavailable");
    await userEvent.click(star);
    expect(await screen.findByRole("alert")).toHaveTextContent("The service is not responding");
    expect(star).toHaveAttribute("aria-pressed", "true");
  });

  it("warns how many shares end when a secret goes to the trash", async () => {
    const liveShares = ["one", "two"].map((shareId) => ({ shareId, secretId: firstSecretId }));
    const { record } = await renderPage(
      {
        secrets: sampleSecrets,
        shares: [
          ...liveShares,
          { shareId: "other", secretId: "other" },
          { shareId: "over", secretId: firstSecretId, revokedAt: "2026-11-20T10:00:00.000Z" },
        ],
      },
      { confirmAnswer: false },
    );
    await userEvent.click(await screen.findByRole("button", { name: "More for Cold wallet" }));
    await userEvent.click(screen.getByRole("menuitem", { name: "Move to trash" }));
    expect(record.confirms[0]?.description).toContain("2 people or links will lose access.");
  });

  it("moves a secret to the trash after a confirmation, and restores it", async () => {
    const { record } = await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "More for Cold wallet" }));
    await userEvent.click(screen.getByRole("menuitem", { name: "Move to trash" }));
    await waitFor(() => {
      expect(getNames()).toEqual(["House keys"]);
    });
    expect(record.confirms[0]?.description).toContain("30 days");
    expect(record.notices.at(-1)).toEqual({ tone: "success", text: "Moved to the trash." });

    await userEvent.click(screen.getByRole("button", { name: "Trash (2)" }));
    const trash = screen.getByRole("list", { name: "Trash" });
    expect(within(trash).getByRole("link", { name: "Cold wallet" })).toBeVisible();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "More for Cold wallet" }));
    await userEvent.click(screen.getByRole("menuitem", { name: "Restore" }));
    await waitFor(() => {
      expect(record.notices.at(-1)).toEqual({ tone: "success", text: "Restored." });
    });
    await userEvent.click(screen.getByRole("button", { name: "Back to your secrets" }));
    await waitFor(() => {
      expect(getNames()).toContain("Cold wallet");
    });
  });

  it("moves nothing to the trash if the person declines", async () => {
    const { vault } = await renderPage({ secrets: sampleSecrets }, { confirmAnswer: false });
    await userEvent.click(await screen.findByRole("button", { name: "More for Cold wallet" }));
    await userEvent.click(screen.getByRole("menuitem", { name: "Move to trash" }));
    expect(vault.calls).not.toContain("trash");
    expect(getNames()).toContain("Cold wallet");
  });

  it("shows locked rows without titles, and offers to unlock", async () => {
    const { getLocation } = await renderPage({ secrets: sampleSecrets, unlocked: false });
    expect(await screen.findAllByRole("link", { name: /^Locked secret of / })).toHaveLength(2);
    expect(screen.queryByText("Cold wallet")).not.toBeInTheDocument();
    expect(screen.queryByRole("searchbox")).not.toBeInTheDocument();
    await expectAccessible();
    await userEvent.click(screen.getByRole("link", { name: "Unlock with your picture" }));
    expect(getLocation()).toBe("/provide-image-recovery?then=%2Fsecrets");
  });

  it("shows titles once the vault is unlocked, and drops them on lock", async () => {
    const { vault, record, queryClient } = await renderPage({ secrets: sampleSecrets, unlocked: false });
    await screen.findAllByRole("link", { name: /^Locked secret of / });
    await act(() => vault.unlock(createOpenerHandle(createPictureFile("garden"))));
    expect(await screen.findByRole("link", { name: "Cold wallet" })).toBeVisible();

    await act(async () => {
      for (const listener of record.lockListeners) await listener("lock");
      await vault.lock();
    });
    expect(await screen.findAllByRole("link", { name: /^Locked secret of / })).toHaveLength(2);
    expect(
      JSON.stringify(
        queryClient
          .getQueryCache()
          .getAll()
          .map((query) => query.state.data),
      ),
    ).not.toContain("Cold wallet");
  });

  it("explains what to do without secrets", async () => {
    await renderPage({});
    expect(await screen.findByRole("heading", { name: "You have no secrets yet" })).toBeVisible();
    expect(screen.getByRole("link", { name: "Protect your first secret" })).toHaveAttribute("href", "/add-secret");
    await expectAccessible();
  });

  it("shows a failure, and retries", async () => {
    const vault = createFakeVault({ secrets: sampleSecrets });
    vault.failWith("list", "service_unavailable");
    await renderApp(
      <main>
        <SecretsPage />
      </main>,
      { vault },
    );
    expect(await screen.findByRole("alert")).toHaveTextContent("The service is not responding");
    await expectAccessible();
    vault.failWith("list", null);
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByRole("link", { name: "Cold wallet" })).toBeVisible();
  });

  it.each(["offline", "service_unavailable", "timed_out"] as const)(
    "keeps the rows, and can be locked, when a refetch fails with %s",
    async (code) => {
      const { vault, queryClient } = await renderPage();
      await screen.findByRole("link", { name: "Cold wallet" });
      vault.failWith("list", code);
      await act(() => queryClient.refetchQueries({ queryKey: ["secrets"] }));
      expect(await screen.findByRole("alert")).toBeVisible();
      expect(getNames()).toContain("Cold wallet");
      expect(screen.getByRole("button", { name: "Lock" })).toBeVisible();
      vault.failWith("list", null);
      await userEvent.click(screen.getByRole("button", { name: "Try again" }));
      await waitFor(() => {
        expect(screen.queryByRole("alert")).not.toBeInTheDocument();
      });
    },
  );

  it("hides the previous rows if a refetch fails verification", async () => {
    const { vault, queryClient } = await renderPage();
    await screen.findByRole("link", { name: "Cold wallet" });
    vault.failWith("list", "older_state");
    await act(() => queryClient.refetchQueries({ queryKey: ["secrets"] }));
    expect(await screen.findByRole("alert")).toBeVisible();
    expect(screen.queryByRole("link", { name: "Cold wallet" })).not.toBeInTheDocument();
  });

  it("accepts an older state only after a confirmation", async () => {
    const acceptSpy = jest.fn(() => Promise.resolve());
    const fakeVault = createFakeVault({ secrets: sampleSecrets });
    fakeVault.failWith("list", "older_state");
    const { record } = await renderApp(<SecretsPage />, { vault: { ...fakeVault, acceptOlderState: acceptSpy } });
    await userEvent.click(await screen.findByRole("button", { name: "Use the older version" }));
    expect(record.confirms).toHaveLength(1);
    expect(acceptSpy).toHaveBeenCalledTimes(1);
  });

  it("shows that the vault did not load", async () => {
    await renderApp(<SecretsPage />, { vault: Promise.reject(new PortalError("vault_unavailable")) });
    expect(await screen.findByRole("alert")).toHaveTextContent("did not load");
  });

  it("announces that it is loading", async () => {
    await renderApp(
      <main>
        <SecretsPage />
      </main>,
      { vault: new Promise(() => undefined) },
    );
    expect(screen.getByRole("status")).toHaveTextContent("Loading your secrets");
    await expectAccessible();
  });

  it.each(["light", "dark"] as const)("fits long texts in the %s theme and in Spanish", async (theme) => {
    const longTitle = "W".repeat(200);
    await renderPage(
      {
        secrets: [
          {
            title: longTitle,
            content: "x",
            tags: Array.from({ length: 32 }, (_, index) => `${String(index)}${"t".repeat(38)}`),
          },
        ],
      },
      { language: "es", theme },
    );
    expect(await screen.findByRole("link", { name: longTitle })).toBeVisible();
    expect(screen.getByText("1 secreto")).toBeVisible();
    await expectAccessible();
  });

  it("shows titles as text, never as markup", async () => {
    await renderPage({ secrets: [{ title: "<img src=x onerror=alert(1)>", content: "x", tags: ["<b>bold</b>"] }] });
    expect(await screen.findByRole("link", { name: "<img src=x onerror=alert(1)>" })).toBeVisible();
    expect(screen.getByText("<b>bold</b>")).toBeVisible();
  });

  it("neither translates nor reorders a title", async () => {
    await renderPage({ secrets: [{ title: "deed \u202efdp.exe", content: "x" }] });
    const link = await screen.findByRole("link", { name: "deed fdp.exe" });
    expect(link.querySelector('bdi[translate="no"]')).toHaveTextContent("deed fdp.exe");
  });

  describe("filters and sort order", () => {
    const mixedVault: FakeVaultSettings = {
      images: [
        { name: "Garden", picture: "garden" },
        { name: "Sea", picture: "sea" },
      ],
      secrets: [
        { title: "alpha", content: "x", tags: ["home", "old"] },
        { title: "Zebra", content: "xxxx", contentKind: "seed", favorite: true },
        { title: "Film", content: "xx", contentKind: "file", name: "film.mp4", tags: ["home"] },
      ],
    };
    async function openFilter(settings: FakeVaultSettings = mixedVault) {
      const rendered = await renderPage(settings);
      await userEvent.click(await screen.findByRole("button", { name: /^Filter/ }));
      return rendered;
    }
    const select = (label: string, choice: string) =>
      userEvent.selectOptions(screen.getByRole("combobox", { name: label }), choice);

    it("narrow the list to shared secrets, which are marked", async () => {
      await openFilter({ secrets: sampleSecrets, shares: [{ shareId: "one", secretId: firstSecretId }] });
      expect(await screen.findByText("Shared")).toBeVisible();
      await userEvent.click(screen.getByRole("switch", { name: "Shared only" }));
      expect(getNames()).toEqual(["Cold wallet"]);
      await expectAccessible();
    });

    it("narrow the list by kind, tags and star, and show how many are set", async () => {
      await openFilter();
      await select("Kind", "Files");
      expect(getNames()).toEqual(["Film"]);
      expect(screen.getByText("1 of 3")).toBeVisible();
      await select("Kind", "All kinds");
      await select("Tag", "home");
      expect(getNames()).toEqual(["Film", "alpha"]);
      await select("Tag", "old");
      expect(getNames()).toEqual(["alpha"]);
      expect(screen.getByRole("button", { name: "Filter (2)" })).toHaveAttribute("aria-expanded", "true");
      await expectAccessible();
      await userEvent.click(screen.getByRole("button", { name: "Remove the tag old" }));
      expect(getNames()).toEqual(["Film", "alpha"]);
      await userEvent.click(screen.getByRole("switch", { name: "Favourites only" }));
      expect(screen.getByRole("heading", { name: "Nothing found" })).toBeVisible();
      await userEvent.click(screen.getByRole("button", { name: "Clear filters" }));
      expect(getNames()).toEqual(["Film", "Zebra", "alpha"]);
    });

    it("sort by title, age and size", async () => {
      await openFilter();
      await select("Sort", "By title");
      expect(getNames()).toEqual(["alpha", "Film", "Zebra"]);
      await select("Sort", "Oldest");
      expect(getNames()).toEqual(["alpha", "Zebra", "Film"]);
      await select("Sort", "Largest");
      expect(getNames()).toEqual(["Zebra", "Film", "alpha"]);
    });

    it("keep the chosen tags across visits", async () => {
      const { goTo, ...app } = await openFilter();
      await select("Tag", "old");
      expect(getSavedListState(app)).toMatchObject({ categories: ["old"] });
      await goTo("/elsewhere");
      await goTo("/secrets");
      await waitFor(() => {
        expect(getNames()).toEqual(["alpha"]);
      });
    });
  });

  describe("after a change on the screen before", () => {
    /** Opens the list again, while `readRows` stands for the vault's next reading. */
    async function changeThenVisitList(readRows: (vault: FakeVault) => Promise<readonly SecretRow[]>) {
      const vault = createFakeVault({ secrets: sampleSecrets });
      let hasChanged = false;
      const list: FakeVault["list"] = (options) => (hasChanged ? readRows(vault) : vault.list(options));
      const { goTo, queryClient, portal } = await renderPage({}, { vault: { ...vault, list } });
      expect(await screen.findByText("2 secrets")).toBeVisible();
      await goTo("/elsewhere");
      await vault.trash(firstSecretId);
      hasChanged = true;
      await act(() => queryClient.invalidateQueries({ queryKey: secretKeys.all(portal.user.userId) }));
      await goTo("/secrets");
    }

    it("waits for the rows, so that none moves later", async () => {
      let read: () => void = () => undefined;
      const reading = new Promise<void>((resolve) => (read = resolve));
      await changeThenVisitList((vault) => reading.then(() => vault.list()));
      expect(await screen.findByText("Loading your secrets")).toBeVisible();
      expect(screen.queryByText("House keys")).not.toBeInTheDocument();
      read();
      expect(await screen.findByText("1 secret")).toBeVisible();
    });

    it("shows the previous rows when they cannot be read", async () => {
      await changeThenVisitList(() => Promise.reject(new PortalError("offline")));
      expect(await screen.findByText("2 secrets")).toBeVisible();
    });
  });

  it("drops the saved tags and row at a lock", async () => {
    const { vault, record, goTo, ...app } = await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "Filter" }));
    await userEvent.selectOptions(screen.getByRole("combobox", { name: "Tag" }), "seed");
    await userEvent.click(screen.getByRole("link", { name: "Cold wallet" }));
    await goTo("/secrets");
    expect(await screen.findByRole("button", { name: "Filter (1)" })).toBeVisible();
    expect(getSavedListState(app)).toEqual({
      categories: ["seed"],
      selectedSecret: (await vault.list()).find(({ label }) => label?.title === "Cold wallet")?.secretId,
    });
    await act(async () => {
      for (const listener of record.lockListeners) await listener("lock");
      await vault.lock();
    });
    expect(await screen.findAllByRole("link", { name: /^Locked secret of / })).toHaveLength(2);
    expect(getSavedListState(app)).toBeUndefined();
  });

  describe("selected rows", () => {
    async function startSelecting(settings: FakeVaultSettings = { secrets: sampleSecrets }) {
      const rendered = await renderPage(settings);
      await userEvent.click(await screen.findByRole("button", { name: "Select" }));
      return rendered;
    }
    const getSelectionBar = () => within(screen.getByRole("group", { name: "Selected secrets" }));

    it("are starred together", async () => {
      const { vault } = await startSelecting();
      expect(getSelectionBar().getByRole("button", { name: "Add to favourites" })).toBeDisabled();
      await userEvent.click(screen.getByRole("checkbox", { name: "Select Cold wallet" }));
      expect(getSelectionBar().getByText("1 selected")).toBeVisible();
      await expectAccessible();
      await userEvent.click(getSelectionBar().getByRole("button", { name: "Select all" }));
      await userEvent.click(getSelectionBar().getByRole("button", { name: "Add to favourites" }));
      await waitFor(async () => {
        expect(
          (await vault.list()).filter(({ deletedAt }) => deletedAt === null).every(({ favorite }) => favorite),
        ).toBe(true);
      });
      expect(getSelectionBar().getByRole("button", { name: "Remove from favourites" })).toBeEnabled();
    });

    it("go to the trash after one confirmation", async () => {
      const { record } = await startSelecting();
      await userEvent.click(getSelectionBar().getByRole("button", { name: "Select all" }));
      await userEvent.click(getSelectionBar().getByRole("button", { name: "Move to trash" }));
      expect(await screen.findByText("0 secrets")).toBeVisible();
      expect(record.confirms).toHaveLength(1);
      expect(record.confirms[0]?.title).toContain("2 secrets");
      expect(screen.queryByRole("group", { name: "Selected secrets" })).not.toBeInTheDocument();
    });

    it("do not include hidden rows", async () => {
      await startSelecting();
      await userEvent.click(getSelectionBar().getByRole("button", { name: "Select all" }));
      await userEvent.type(screen.getByRole("searchbox"), "keys");
      expect(await screen.findByText("1 selected")).toBeVisible();
    });

    it("are cleared by Escape", async () => {
      await startSelecting();
      await userEvent.click(screen.getByRole("checkbox", { name: "Select Cold wallet" }));
      await userEvent.keyboard("{Escape}");
      expect(screen.queryByRole("checkbox")).not.toBeInTheDocument();
      expect(screen.getByRole("button", { name: "Select" })).toBeVisible();
    });
  });

  describe("the trash", () => {
    const vaultWithTrash: FakeVaultSettings = {
      secrets: [
        { title: "Kept", content: "x" },
        { title: "Old letter", content: "dear", deleted: true },
        { title: "Old code", content: "1", deleted: true },
      ],
    };
    const openTrash = async () => userEvent.click(await screen.findByRole("button", { name: "Trash (2)" }));
    const getPurgeDialog = () => within(screen.getByRole("alertdialog"));

    it("is emptied after a confirmation that lists every title", async () => {
      const { vault, record } = await renderPage(vaultWithTrash);
      await openTrash();
      await userEvent.click(screen.getByRole("button", { name: "Empty the trash" }));
      expect(
        getPurgeDialog()
          .getAllByRole("listitem")
          .map((link) => link.textContent),
      ).toEqual(["Old code", "Old letter"]);
      expect(getPurgeDialog().getByRole("button", { name: "Keep" })).toHaveFocus();
      await expectAccessible();
      await userEvent.click(getPurgeDialog().getByRole("button", { name: "Delete 2 for good" }));
      expect(await screen.findByRole("heading", { name: "The trash is empty" })).toBeVisible();
      expect(vault.calls.filter((call) => call === "purge")).toHaveLength(1);
      expect(record.notices.at(-1)).toEqual({ tone: "success", text: "2 secrets deleted for good." });
      expect((await vault.list()).map(({ label }) => label?.title)).toEqual(["Kept"]);
    });

    it("stays unchanged if the person declines, or after a failure", async () => {
      const { vault } = await renderPage(vaultWithTrash);
      await openTrash();
      await userEvent.click(screen.getByRole("button", { name: "More for Old code" }));
      await userEvent.click(screen.getByRole("menuitem", { name: "Delete for good" }));
      await userEvent.click(getPurgeDialog().getByRole("button", { name: "Keep" }));
      expect(vault.calls).not.toContain("purge");
      vault.failWith("purge", "state_conflict");
      await userEvent.click(screen.getByRole("button", { name: "Empty the trash" }));
      await userEvent.click(getPurgeDialog().getByRole("button", { name: "Delete 2 for good" }));
      expect(await screen.findByRole("alert")).toBeVisible();
      expect(await vault.list()).toHaveLength(3);
    });

    it("offers no purge on a locked device", async () => {
      await renderPage({ ...vaultWithTrash, unlocked: false });
      await openTrash();
      expect(screen.queryByRole("button", { name: "Empty the trash" })).not.toBeInTheDocument();
      await userEvent.click(screen.getAllByRole("button", { name: /^More for Locked secret/ })[0] ?? document.body);
      expect(screen.getByRole("menuitem", { name: "Restore" })).toBeVisible();
      expect(screen.queryByRole("menuitem", { name: "Delete for good" })).not.toBeInTheDocument();
    });
  });

  describe("a link that carries a recoverId", () => {
    afterEach(() => {
      sessionStorage.clear();
    });

    it("also clears the recovered secret when the list is left", async () => {
      sessionStorage.setItem("recoverId", "id");
      await editThenVisitList();
      expect(sessionStorage.getItem("recoverId")).toBeNull();
      expect(await screen.findByRole("button", { name: "Open and change" })).toBeVisible();
      expect(screen.queryByDisplayValue("abandon ability")).not.toBeInTheDocument();
    });

    it("offers to recover that secret, and is removed when the list is left", async () => {
      const vault = createFakeVault({ secrets: sampleSecrets });
      const secretId = (await vault.list()).find(({ label }) => label?.title === "Cold wallet")?.secretId ?? "";
      sessionStorage.setItem("recoverId", secretId);
      const { getLocation } = await renderApp(<SecretsPage />, { vault, path: "/secrets", routePattern: "/secrets" });
      expect(await screen.findByText(wholeText("Do you want to open “Cold wallet”?"))).toBeVisible();
      await userEvent.click(screen.getByRole("button", { name: "Open" }));
      expect(getLocation()).toBe(`/provide-image-recovery?secret=${secretId}`);
      expect(sessionStorage.getItem("recoverId")).toBeNull();
    });
  });

  it("clears the edited secret and its image when the list is left", async () => {
    await editThenVisitList();
    expect(await screen.findByRole("button", { name: "Open and change" })).toBeVisible();
    expect(screen.queryByDisplayValue("abandon ability")).not.toBeInTheDocument();
  });

  it("renders only the visible rows, with the total for screen readers", async () => {
    await renderPage({
      secrets: Array.from({ length: 300 }, (_, index) => ({ title: `Letter ${String(index)}`, content: "x" })),
    });
    expect(await screen.findByText("300 secrets")).toBeVisible();
    const rows = within(screen.getByRole("list", { name: "Secrets" })).getAllByRole("listitem");
    expect(rows.length).toBeLessThan(60);
    expect(rows[0]).toHaveAttribute("aria-setsize", "300");
  });

  it("shows rows while others are still being opened", async () => {
    const fakeVault = createFakeVault({ secrets: sampleSecrets, batchSize: 1 });
    let release: () => void = () => undefined;
    const releasePromise = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slowVault = {
      ...fakeVault,
      list: async (options?: Parameters<typeof fakeVault.list>[0]) => {
        const rows = await fakeVault.list({
          ...options,
          onRows: (batch, progress) => {
            if (progress.opened === 2) options?.onRows?.(batch, progress);
          },
        });
        await releasePromise;
        return rows;
      },
    };
    await renderApp(<SecretsPage />, { vault: slowVault });
    expect(await screen.findByRole("progressbar", { name: "Opening the titles of your secrets" })).toBeVisible();
    expect(getNames()).toEqual(["House keys"]);
    expect(screen.queryByText("1 secret")).not.toBeInTheDocument(); // the progress replaces the total
    release();
    await waitFor(() => {
      expect(getNames()).toEqual(["House keys", "Cold wallet"]);
    });
    expect(screen.queryByRole("progressbar")).not.toBeInTheDocument();
    expect(screen.getByText("2 secrets")).toBeVisible();
  });

  it("shows no progress if all rows arrive in one batch", async () => {
    const fakeVault = createFakeVault({ secrets: sampleSecrets });
    let release: () => void = () => undefined;
    const releasePromise = new Promise<void>((resolve) => {
      release = resolve;
    });
    const list: typeof fakeVault.list = async (options) => {
      const rows = await fakeVault.list(options);
      await releasePromise;
      return rows;
    };
    await renderApp(<SecretsPage />, { vault: { ...fakeVault, list } });
    expect(await screen.findByText("Loading your secrets")).toBeInTheDocument();
    expect(screen.queryByRole("progressbar")).not.toBeInTheDocument();
    release();
    expect(await screen.findByText("2 secrets")).toBeVisible();
  });

  it.each(["uploads", "shares"] as const)(
    "waits for %s, whose arrival would move the rows, but not for its retry",
    async (source) => {
      const fakeVault = createFakeVault({ secrets: sampleSecrets });
      let rejectLoading: (error: PortalError) => void = () => undefined;
      const releasePromise = new Promise<never>((_resolve, reject) => {
        rejectLoading = reject;
      });
      await renderApp(<SecretsPage />, {
        vault: {
          ...fakeVault,
          ...(source === "uploads"
            ? { listUploads: () => releasePromise }
            : { shares: { ...fakeVault.shares, list: () => releasePromise } }),
        },
      });
      expect(await screen.findByText("Loading your secrets")).toBeInTheDocument();
      expect(screen.queryByRole("list", { name: "Secrets" })).not.toBeInTheDocument();
      rejectLoading(new PortalError("service_unavailable"));
      expect(await screen.findByText("2 secrets")).toBeVisible();
    },
  );

  it("saves which row was opened", async () => {
    const { vault, ...app } = await renderPage();
    await userEvent.click(await screen.findByRole("link", { name: "Cold wallet" }));
    const chosenRow = (await vault.list()).find(({ label }) => label?.title === "Cold wallet");
    expect(getSavedListState(app)).toMatchObject({ selectedSecret: chosenRow?.secretId });
  });
});

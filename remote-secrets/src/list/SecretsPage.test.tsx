import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import {
  createFakeVault,
  expectAccessible,
  picture,
  renderApp,
  type FakeSecret,
  type FakeVaultSettings,
  type RenderedApp,
  shownImage,
} from "@relicario/shared/testing";
import { PortalError } from "@relicario/shared/errors";
import { secretKeys } from "../data/keys.ts";
import EditSecretPage from "../edit/EditSecretPage.tsx";
import SecretsPage from "./SecretsPage.tsx";

const some: readonly FakeSecret[] = [
  { title: "Cold wallet", content: "abandon ability", tags: ["family", "seed"] },
  { title: "House keys", content: "4711", favorite: true },
  { title: "Old letter", content: "dear", deleted: true },
];

/** The fake vault's id of its first secret. */
const firstId = "01890a5d-ac96-7000-8000-000000000001";

async function draw(
  vaultSettings: FakeVaultSettings = { secrets: some },
  settings: Parameters<typeof renderApp>[1] = {},
) {
  const vault = createFakeVault(vaultSettings);
  const app = await renderApp(
    <main>
      <SecretsPage />
    </main>,
    { vault, path: "/secrets", route: "/secrets", ...settings },
  );
  return { vault, ...app };
}
const names = () =>
  within(screen.getByRole("list", { name: "Secrets" }))
    .getAllByRole("link")
    .map((each) => each.textContent);

/**
 * Opens the content of a secret to edit it, goes to the list and leaves that, and comes back to the
 * edit page.
 */
async function editThenVisitList() {
  const vault = createFakeVault({ secrets: some });
  const secretId = (await vault.list()).find(({ label }) => label?.title === "Cold wallet")?.secretId ?? "";
  const editPath = `/edit-secret/${secretId}`;
  const { goTo } = await renderApp(<SecretsPage />, {
    vault,
    path: editPath,
    route: "/secrets",
    routes: { "/edit-secret/:secretId": () => Promise.resolve({ default: EditSecretPage }) },
  });
  await userEvent.click(await screen.findByRole("button", { name: "Open and change" }));
  await userEvent.upload(screen.getByLabelText("Choose a picture"), picture("garden"));
  await userEvent.click(screen.getByRole("button", { name: "Open" }));
  expect(await screen.findByRole("textbox", { name: "Your secret" })).toHaveValue("abandon ability");
  await goTo("/secrets");
  expect(await screen.findByText("2 secrets")).toBeVisible();
  await goTo("/elsewhere");
  await goTo(editPath);
}

const memoryOf = ({ queryClient, portal }: Pick<RenderedApp, "queryClient" | "portal">) =>
  queryClient.getQueryData(secretKeys.listMemory(portal.user.userId));

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

  it("says before the trash how many shares end with it", async () => {
    const sharing = ["one", "two"].map((shareId) => ({ shareId, secretId: firstId }));
    const { record } = await draw(
      {
        secrets: some,
        shares: [
          ...sharing,
          { shareId: "other", secretId: "other" },
          { shareId: "over", secretId: firstId, revokedAt: "2026-11-20T10:00:00.000Z" },
        ],
      },
      { answer: false },
    );
    await userEvent.click(await screen.findByRole("button", { name: "More for Cold wallet" }));
    await userEvent.click(screen.getByRole("menuitem", { name: "Move to trash" }));
    expect(record.confirms[0]?.description).toContain("2 people or links that can open it lose that at once.");
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
    await waitFor(() => {
      expect(record.notices.at(-1)).toEqual({ tone: "success", text: "Back among your secrets." });
    });
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
    await act(() => vault.unlock(shownImage(picture("garden"))));
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
          .map((each) => each.state.data),
      ),
    ).not.toContain("Cold wallet");
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

  it.each(["offline", "service_unavailable", "timed_out"] as const)(
    "keeps the rows in sight, and can be locked, when reading them again ends in %s",
    async (code) => {
      const { vault, queryClient } = await draw();
      await screen.findByRole("link", { name: "Cold wallet" });
      vault.failWith("list", code);
      await act(() => queryClient.refetchQueries({ queryKey: ["secrets"] }));
      expect(await screen.findByRole("alert")).toBeVisible();
      expect(names()).toContain("Cold wallet");
      expect(screen.getByRole("button", { name: "Lock" })).toBeVisible();
      vault.failWith("list", null);
      await userEvent.click(screen.getByRole("button", { name: "Try again" }));
      await waitFor(() => {
        expect(screen.queryByRole("alert")).not.toBeInTheDocument();
      });
    },
  );

  it("shows no row of before when what was read again cannot be believed", async () => {
    const { vault, queryClient } = await draw();
    await screen.findByRole("link", { name: "Cold wallet" });
    vault.failWith("list", "older_state");
    await act(() => queryClient.refetchQueries({ queryKey: ["secrets"] }));
    expect(await screen.findByRole("alert")).toBeVisible();
    expect(screen.queryByRole("link", { name: "Cold wallet" })).not.toBeInTheDocument();
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
    await draw(
      {
        secrets: [
          {
            title: long,
            content: "x",
            tags: Array.from({ length: 32 }, (_, index) => `${String(index)}${"t".repeat(38)}`),
          },
        ],
      },
      { language: "es", theme },
    );
    expect(await screen.findByRole("link", { name: long })).toBeVisible();
    expect(screen.getByText("1 secreto")).toBeVisible();
    await expectAccessible();
  });

  it("shows titles as text, never as markup", async () => {
    await draw({ secrets: [{ title: "<img src=x onerror=alert(1)>", content: "x", tags: ["<b>bold</b>"] }] });
    expect(await screen.findByRole("link", { name: "<img src=x onerror=alert(1)>" })).toBeVisible();
    expect(screen.getByText("<b>bold</b>")).toBeVisible();
  });

  describe("filters and order", () => {
    const mixed: FakeVaultSettings = {
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
    async function openFilter(settings: FakeVaultSettings = mixed) {
      const drawn = await draw(settings);
      await userEvent.click(await screen.findByRole("button", { name: /^Filter/ }));
      return drawn;
    }
    const select = (label: string, choice: string) =>
      userEvent.selectOptions(screen.getByRole("combobox", { name: label }), choice);

    it("narrow to what is shared, which is marked", async () => {
      await openFilter({ secrets: some, shares: [{ shareId: "one", secretId: firstId }] });
      expect(await screen.findByText("Shared")).toBeVisible();
      await userEvent.click(screen.getByRole("switch", { name: "Shared only" }));
      expect(names()).toEqual(["Cold wallet"]);
      await expectAccessible();
    });

    it("narrow by kind, tags and star, and say how many are set", async () => {
      await openFilter();
      await select("Kind", "Files");
      expect(names()).toEqual(["Film"]);
      expect(screen.getByText("1 of 3")).toBeVisible();
      await select("Kind", "All kinds");
      await select("Tag", "home");
      expect(names()).toEqual(["Film", "alpha"]);
      await select("Tag", "old");
      expect(names()).toEqual(["alpha"]);
      expect(screen.getByRole("button", { name: "Filter (2)" })).toHaveAttribute("aria-expanded", "true");
      await expectAccessible();
      await userEvent.click(screen.getByRole("button", { name: "Remove the tag old" }));
      expect(names()).toEqual(["Film", "alpha"]);
      await userEvent.click(screen.getByRole("switch", { name: "Favourites only" }));
      expect(screen.getByRole("heading", { name: "Nothing found" })).toBeVisible();
      await userEvent.click(screen.getByRole("button", { name: "Clear filters" }));
      expect(names()).toEqual(["Film", "Zebra", "alpha"]);
    });

    it("order by title, age and size", async () => {
      await openFilter();
      await select("Order", "By title");
      expect(names()).toEqual(["alpha", "Film", "Zebra"]);
      await select("Order", "Changed first");
      expect(names()).toEqual(["alpha", "Zebra", "Film"]);
      await select("Order", "Largest first");
      expect(names()).toEqual(["Zebra", "Film", "alpha"]);
    });

    it("keep the chosen tags as the categories, after a visit elsewhere too", async () => {
      const { goTo, ...app } = await openFilter();
      await select("Tag", "old");
      expect(memoryOf(app)).toMatchObject({ categories: ["old"] });
      await goTo("/elsewhere");
      await goTo("/secrets");
      await waitFor(() => {
        expect(names()).toEqual(["alpha"]);
      });
    });
  });

  it("forgets the tags and the row that was chosen when the portal locks", async () => {
    const { vault, record, goTo, ...app } = await draw();
    await userEvent.click(await screen.findByRole("button", { name: "Filter" }));
    await userEvent.selectOptions(screen.getByRole("combobox", { name: "Tag" }), "seed");
    await userEvent.click(screen.getByRole("link", { name: "Cold wallet" }));
    await goTo("/secrets");
    expect(await screen.findByRole("button", { name: "Filter (1)" })).toBeVisible();
    expect(memoryOf(app)).toEqual({
      categories: ["seed"],
      selectedSecret: (await vault.list()).find(({ label }) => label?.title === "Cold wallet")?.secretId,
    });
    await act(async () => {
      for (const listener of record.lockListeners) await listener("lock");
      await vault.lock();
    });
    expect(await screen.findAllByRole("link", { name: /^Locked secret of / })).toHaveLength(2);
    expect(memoryOf(app)).toBeUndefined();
  });

  describe("several at once", () => {
    async function begin(settings: FakeVaultSettings = { secrets: some }) {
      const drawn = await draw(settings);
      await userEvent.click(await screen.findByRole("button", { name: "Select" }));
      return drawn;
    }
    const bar = () => within(screen.getByRole("group", { name: "Selected secrets" }));

    it("are starred together", async () => {
      const { vault } = await begin();
      expect(bar().getByRole("button", { name: "Add to favourites" })).toBeDisabled();
      await userEvent.click(screen.getByRole("checkbox", { name: "Select Cold wallet" }));
      expect(bar().getByText("1 selected")).toBeVisible();
      await expectAccessible();
      await userEvent.click(bar().getByRole("button", { name: "Select all" }));
      await userEvent.click(bar().getByRole("button", { name: "Add to favourites" }));
      await waitFor(async () => {
        expect(
          (await vault.list()).filter(({ deletedAt }) => deletedAt === null).every(({ favorite }) => favorite),
        ).toBe(true);
      });
      expect(bar().getByRole("button", { name: "Remove from favourites" })).toBeEnabled();
    });

    it("go to the trash after one question", async () => {
      const { record } = await begin();
      await userEvent.click(bar().getByRole("button", { name: "Select all" }));
      await userEvent.click(bar().getByRole("button", { name: "Move to trash" }));
      expect(await screen.findByText("0 secrets")).toBeVisible();
      expect(record.confirms).toHaveLength(1);
      expect(record.confirms[0]?.title).toContain("2 secrets");
      expect(screen.queryByRole("group", { name: "Selected secrets" })).not.toBeInTheDocument();
    });

    it("leave out what is no longer shown", async () => {
      await begin();
      await userEvent.click(bar().getByRole("button", { name: "Select all" }));
      await userEvent.type(screen.getByRole("searchbox"), "keys");
      expect(await screen.findByText("1 selected")).toBeVisible();
    });

    it("end with Escape", async () => {
      await begin();
      await userEvent.click(screen.getByRole("checkbox", { name: "Select Cold wallet" }));
      await userEvent.keyboard("{Escape}");
      expect(screen.queryByRole("checkbox")).not.toBeInTheDocument();
      expect(screen.getByRole("button", { name: "Select" })).toBeVisible();
    });
  });

  describe("the trash", () => {
    const trashed: FakeVaultSettings = {
      secrets: [
        { title: "Kept", content: "x" },
        { title: "Old letter", content: "dear", deleted: true },
        { title: "Old code", content: "1", deleted: true },
      ],
    };
    const goThere = async () => userEvent.click(await screen.findByRole("button", { name: "Trash (2)" }));
    const question = () => within(screen.getByRole("alertdialog"));

    it("is emptied after a question that shows every title", async () => {
      const { vault, record } = await draw(trashed);
      await goThere();
      await userEvent.click(screen.getByRole("button", { name: "Empty the trash" }));
      expect(
        question()
          .getAllByRole("listitem")
          .map((each) => each.textContent),
      ).toEqual(["Old code", "Old letter"]);
      expect(question().getByRole("button", { name: "Keep" })).toHaveFocus();
      await expectAccessible();
      await userEvent.click(question().getByRole("button", { name: "Delete 2 for good" }));
      expect(await screen.findByRole("heading", { name: "The trash is empty" })).toBeVisible();
      expect(vault.calls.filter((call) => call === "purge")).toHaveLength(1);
      expect(record.notices.at(-1)).toEqual({ tone: "success", text: "2 secrets deleted for good." });
      expect((await vault.list()).map(({ label }) => label?.title)).toEqual(["Kept"]);
    });

    it("keeps everything when the person says no, or it fails", async () => {
      const { vault } = await draw(trashed);
      await goThere();
      await userEvent.click(screen.getByRole("button", { name: "More for Old code" }));
      await userEvent.click(screen.getByRole("menuitem", { name: "Delete for good" }));
      await userEvent.click(question().getByRole("button", { name: "Keep" }));
      expect(vault.calls).not.toContain("purge");
      vault.failWith("purge", "state_conflict");
      await userEvent.click(screen.getByRole("button", { name: "Empty the trash" }));
      await userEvent.click(question().getByRole("button", { name: "Delete 2 for good" }));
      expect(await screen.findByRole("alert")).toBeVisible();
      expect(await vault.list()).toHaveLength(3);
    });

    it("deletes nothing for good on a locked device", async () => {
      await draw({ ...trashed, unlocked: false });
      await goThere();
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

    it("clears the recovered secret too when the list is left", async () => {
      sessionStorage.setItem("recoverId", "id");
      await editThenVisitList();
      expect(sessionStorage.getItem("recoverId")).toBeNull();
      expect(await screen.findByRole("button", { name: "Open and change" })).toBeVisible();
      expect(screen.queryByDisplayValue("abandon ability")).not.toBeInTheDocument();
    });

    it("offers to recover that secret, and is forgotten when the list is left", async () => {
      const vault = createFakeVault({ secrets: some });
      const wanted = (await vault.list()).find(({ label }) => label?.title === "Cold wallet")?.secretId ?? "";
      sessionStorage.setItem("recoverId", wanted);
      const { location } = await renderApp(<SecretsPage />, { vault, path: "/secrets", route: "/secrets" });
      expect(await screen.findByText("“Cold wallet” is to be recovered.")).toBeVisible();
      await userEvent.click(screen.getByRole("button", { name: "Recover it" }));
      expect(location()).toBe(`/provide-image-recovery?secret=${wanted}`);
      expect(sessionStorage.getItem("recoverId")).toBeNull();
    });
  });

  it("clears the secret being edited and its image when it is left", async () => {
    await editThenVisitList();
    expect(await screen.findByRole("button", { name: "Open and change" })).toBeVisible();
    expect(screen.queryByDisplayValue("abandon ability")).not.toBeInTheDocument();
  });

  it("draws the rows in sight alone, and says how many there are", async () => {
    await draw({
      secrets: Array.from({ length: 300 }, (_, index) => ({ title: `Letter ${String(index)}`, content: "x" })),
    });
    expect(await screen.findByText("300 secrets")).toBeVisible();
    const rows = within(screen.getByRole("list", { name: "Secrets" })).getAllByRole("listitem");
    expect(rows.length).toBeLessThan(60);
    expect(rows[0]).toHaveAttribute("aria-setsize", "300");
  });

  it("shows rows while the rest is still opening", async () => {
    const fake = createFakeVault({ secrets: some, batch: 1 });
    let end: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      end = resolve;
    });
    const slow = {
      ...fake,
      list: async (options?: Parameters<typeof fake.list>[0]) => {
        const rows = await fake.list({
          ...options,
          onRows: (batch, progress) => {
            if (progress.opened === 2) options?.onRows?.(batch, progress);
          },
        });
        await held;
        return rows;
      },
    };
    await renderApp(<SecretsPage />, { vault: slow });
    expect(await screen.findByRole("progressbar", { name: "Opening the names of your secrets" })).toBeVisible();
    expect(names()).toEqual(["House keys"]);
    expect(screen.queryByText("1 secret")).not.toBeInTheDocument(); // its place is taken
    end();
    await waitFor(() => {
      expect(names()).toEqual(["House keys", "Cold wallet"]);
    });
    expect(screen.queryByRole("progressbar")).not.toBeInTheDocument();
    expect(screen.getByText("2 secrets")).toBeVisible();
  });

  it("draws rows that are opened all at once with their answer, and no progress before it", async () => {
    const fake = createFakeVault({ secrets: some });
    let end: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      end = resolve;
    });
    const list: typeof fake.list = async (options) => {
      const rows = await fake.list(options);
      await held;
      return rows;
    };
    await renderApp(<SecretsPage />, { vault: { ...fake, list } });
    expect(await screen.findByText("Loading your secrets")).toBeInTheDocument();
    expect(screen.queryByRole("progressbar")).not.toBeInTheDocument();
    end();
    expect(await screen.findByText("2 secrets")).toBeVisible();
  });

  it.each(["uploads", "shares"] as const)(
    "draws no row before %s, which would move it, and does not wait for a second try",
    async (what) => {
      const fake = createFakeVault({ secrets: some });
      let fail: (error: PortalError) => void = () => undefined;
      const held = new Promise<never>((_resolve, reject) => {
        fail = reject;
      });
      await renderApp(<SecretsPage />, {
        vault: {
          ...fake,
          ...(what === "uploads" ? { uploads: () => held } : { shares: { ...fake.shares, all: () => held } }),
        },
      });
      expect(await screen.findByText("Loading your secrets")).toBeInTheDocument();
      expect(screen.queryByRole("list", { name: "Secrets" })).not.toBeInTheDocument();
      fail(new PortalError("service_unavailable"));
      expect(await screen.findByText("2 secrets")).toBeVisible();
    },
  );

  it("remembers which row was chosen", async () => {
    const { vault, ...app } = await draw();
    await userEvent.click(await screen.findByRole("link", { name: "Cold wallet" }));
    const chosen = (await vault.list()).find(({ label }) => label?.title === "Cold wallet");
    expect(memoryOf(app)).toMatchObject({ selectedSecret: chosen?.secretId });
  });
});

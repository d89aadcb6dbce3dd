import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { stringifyRecord } from "@relicario/shared/api";
import {
  createFakeVault,
  expectAccessible,
  createPictureFile,
  renderApp,
  type FakeSecret,
  type FakeVault,
  createOpenerHandle,
} from "@relicario/shared/testing";
import EditSecretPage from "./EditSecretPage.tsx";

const wallet: FakeSecret = { title: "Wallet", content: "abandon ability", tags: ["family"] };

async function renderPage(
  vault: FakeVault = createFakeVault({ secrets: [wallet] }),
  settings: Parameters<typeof renderApp>[1] = {},
) {
  const secretId = (await vault.list())[0]?.secretId ?? "";
  const app = await renderApp(
    <main>
      <EditSecretPage />
    </main>,
    { vault, path: `/edit-secret/${secretId}`, routePattern: "/edit-secret/:secretId", ...settings },
  );
  return { vault, secretId, ...app };
}
const findTitleField = () => screen.findByRole("textbox", { name: "Title" });
const save = () => userEvent.click(screen.getByRole("button", { name: "Save changes" }));
async function openContent(text = "garden") {
  await userEvent.click(await screen.findByRole("button", { name: "Open and change" }));
  await userEvent.upload(await screen.findByLabelText("Choose a picture"), createPictureFile(text));
  await userEvent.click(screen.getByRole("button", { name: "Open" }));
}
async function replaceText(name: string, text: string) {
  const field = screen.getByRole("textbox", { name });
  await userEvent.clear(field);
  await userEvent.click(field);
  await userEvent.paste(text);
}
const getLabel = async (vault: FakeVault) => (await vault.list())[0]?.label;
const getRow = async (vault: FakeVault) => (await vault.list())[0];

describe("EditSecretPage", () => {
  it("warns about live shares, and links to them", async () => {
    const vault = createFakeVault({
      secrets: [wallet],
      shares: [{ shareId: "one", secretId: "01890a5d-ac96-7000-8000-000000000001" }],
    });
    const { secretId } = await renderPage(vault);
    expect(await screen.findByText(/^You share this secret with one person or link\./)).toBeVisible();
    for (const name of ["Share", "Go to its shares"])
      expect(screen.getByRole("link", { name })).toHaveAttribute("href", `/share/${secretId}`);
    await expectAccessible();
  });

  it("shows title and tags at first, and does not open the content", async () => {
    await renderPage();
    expect(await findTitleField()).toHaveValue("Wallet");
    expect(screen.getByText("family")).toBeVisible();
    expect(screen.queryByRole("textbox", { name: "Your secret" })).not.toBeInTheDocument();
    expect(screen.getByRole("radio", { name: "No change" })).toBeChecked();
    await expectAccessible();
  });

  it("redirects to the list if the URL names no secret", async () => {
    const { getLocation } = await renderPage(undefined, { path: "/edit-secret", routePattern: "/edit-secret" });
    await waitFor(() => {
      expect(getLocation()).toBe("/secrets");
    });
  });

  it("changes the title without an opener and without a new version", async () => {
    const { vault, getLocation } = await renderPage();
    await findTitleField();
    await replaceText("Title", "Cold wallet");
    await save();
    await waitFor(() => {
      expect(getLocation()).toBe("/secrets");
    });
    expect(await getRow(vault)).toMatchObject({ version: 1, label: { title: "Cold wallet", tags: ["family"] } });
  });

  it("opens the content with its picture, and saves an edit as a new version", async () => {
    const fakeVault = createFakeVault({ secrets: [wallet] });
    const update = jest.fn(fakeVault.update);
    const { vault, secretId, getLocation } = await renderPage({ ...fakeVault, update });
    await openContent();
    expect(await screen.findByRole("textbox", { name: "Your secret" })).toHaveValue("abandon ability");
    await replaceText("Your secret", "abandon able");
    await save();
    await waitFor(() => {
      expect(getLocation()).toBe("/secrets");
    });
    expect(await getRow(vault)).toMatchObject({ version: 2, label: { title: "Wallet", size: 12 } });
    expect(update).toHaveBeenCalledTimes(1);
    expect(update).toHaveBeenCalledWith(
      secretId,
      expect.objectContaining({ baseVersion: 1, content: expect.objectContaining({ contentKind: "text" }) }),
      expect.anything(),
    );
  });

  describe("of a record", () => {
    const createRecordVault = (content: string): FakeVault =>
      createFakeVault({
        secrets: [{ title: "Mail", content, contentKind: "record", name: "record.json", mime: "application/json" }],
      });
    const record = stringifyRecord([
      { label: "User name", value: "ana", kind: "text" },
      { label: "Password", value: "old", kind: "secret" },
    ]);

    it("opens its fields, and saves a changed field as a new version", async () => {
      const { vault, secretId, getLocation } = await renderPage(createRecordVault(record));
      await openContent();
      const password = within(await screen.findByRole("group", { name: "Field 2" })).getByLabelText("Value");
      expect(password).toHaveValue("old");
      await expectAccessible();
      await userEvent.clear(password);
      await userEvent.type(password, "new");
      await save();
      await waitFor(() => {
        expect(getLocation()).toBe("/secrets");
      });
      expect(await getRow(vault)).toMatchObject({ version: 2, label: { contentKind: "record", name: "record.json" } });
      const text = await vault.openText(secretId, createOpenerHandle(createPictureFile("garden")));
      expect(text).toBe(record.replace("old", "new"));
    });

    it("saves nothing if its fields were opened but not changed", async () => {
      await renderPage(createRecordVault(record));
      await openContent();
      await screen.findByRole("group", { name: "Field 2" });
      await save();
      expect(await screen.findByText("Nothing was changed, so there is nothing to save.")).toBeVisible();
    });

    it("that cannot be parsed is edited as plain text", async () => {
      await renderPage(createRecordVault("broken {"));
      await openContent();
      expect(await screen.findByText(/^This record can't be read/)).toBeVisible();
      expect(screen.getByRole("textbox", { name: "Your secret" })).toHaveValue("broken {");
    });
  });

  it("rejects a wrong picture, and accepts the next one", async () => {
    await renderPage();
    await openContent("market");
    expect(await screen.findByRole("alert")).toHaveTextContent("This picture does not open it");
    await userEvent.upload(screen.getByLabelText("Choose a picture"), createPictureFile("garden"));
    await userEvent.click(screen.getByRole("button", { name: "Open" }));
    expect(await screen.findByRole("textbox", { name: "Your secret" })).toHaveValue("abandon ability");
  });

  it("replaces the content without opening it", async () => {
    const { vault, getLocation } = await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "Replace" }));
    await userEvent.click(screen.getByRole("textbox", { name: "Your secret" }));
    await userEvent.paste("new words");
    await save();
    await waitFor(() => {
      expect(getLocation()).toBe("/secrets");
    });
    expect(vault.calls).not.toContain("openSecret");
    expect(await getRow(vault)).toMatchObject({ version: 2 });
  });

  it("replaces a file", async () => {
    const vault = createFakeVault({
      secrets: [{ title: "Scan", content: "%PDF", contentKind: "file", name: "old.pdf", mime: "application/pdf" }],
    });
    await renderPage(vault);
    await userEvent.click(await screen.findByRole("button", { name: "Replace" }));
    await userEvent.upload(
      screen.getByLabelText("File to protect"),
      new File(["%PDF-2"], "new.pdf", { type: "application/pdf" }),
    );
    await save();
    await waitFor(async () => {
      expect(await getLabel(vault)).toMatchObject({ title: "Scan", name: "new.pdf", contentKind: "file" });
    });
  });

  it("saves nothing if nothing changed", async () => {
    const { vault } = await renderPage();
    await openContent();
    await screen.findByRole("textbox", { name: "Your secret" });
    await save();
    expect(await screen.findByText("Nothing was changed, so there is nothing to save.")).toBeVisible();
    expect(vault.calls).not.toContain("update");
  });

  it("can go back to keeping the stored content", async () => {
    const { vault, getLocation } = await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "Replace" }));
    await userEvent.click(screen.getByRole("button", { name: "Leave the content as it is" }));
    await replaceText("Title", "Renamed");
    await save();
    await waitFor(() => {
      expect(getLocation()).toBe("/secrets");
    });
    expect(await getRow(vault)).toMatchObject({ version: 1, label: { title: "Renamed" } });
  });

  it("requires opening the content before the images can change", async () => {
    const { vault } = await renderPage();
    await userEvent.click(await screen.findByRole("radio", { name: "A new picture" }));
    await userEvent.upload(screen.getByLabelText("Choose a picture"), createPictureFile("market"));
    await save();
    expect(await screen.findByText("To change what opens it, first open or replace its content above.")).toBeVisible();
    expect(vault.calls).not.toContain("update");
  });

  describe("when another device saved first", () => {
    async function createConflict() {
      const rendered = await renderPage();
      await openContent();
      await screen.findByRole("textbox", { name: "Your secret" });
      await replaceText("Your secret", "mine");
      rendered.vault.saveElsewhere(rendered.secretId, { title: "Theirs", content: "theirs" });
      await save();
      expect(await screen.findByRole("heading", { name: "Another device saved first" })).toBeVisible();
      return rendered;
    }
    const getMineRegion = () => screen.getByRole("region", { name: "What you were about to save" });
    const getTheirsRegion = () => screen.getByRole("region", { name: "What is saved now" });

    it("shows both versions, opening the other one with the same picture", async () => {
      await createConflict();
      expect(within(getMineRegion()).getByText("mine")).toBeVisible();
      expect(within(getMineRegion()).getByText("mine")).toHaveAttribute("translate", "no");
      expect(within(getTheirsRegion()).getByText("Theirs")).toBeVisible();
      await userEvent.click(screen.getByRole("button", { name: "Show it" }));
      await userEvent.click(await within(getTheirsRegion()).findByRole("button", { name: "Show" }));
      expect(await within(getTheirsRegion()).findByText("theirs")).toBeVisible();
      expect(screen.getByRole("textbox", { name: "Your secret" })).toHaveValue("mine");
      await expectAccessible();
    });

    it("can save the person's version as the newest, with the other version in the history", async () => {
      const { vault, secretId, getLocation } = await createConflict();
      await userEvent.click(screen.getByRole("button", { name: "Save mine" }));
      await waitFor(() => {
        expect(getLocation()).toBe("/secrets");
      });
      expect(await getRow(vault)).toMatchObject({ version: 3, label: { title: "Theirs", size: 4 } });
      expect(await vault.listVersions(secretId)).toHaveLength(3);
    });

    it("can save the person's version as a new secret", async () => {
      const { vault, getLocation } = await createConflict();
      await userEvent.click(screen.getByRole("button", { name: "Save mine as another secret" }));
      await waitFor(() => {
        expect(getLocation()).toBe("/secrets");
      });
      expect((await vault.list()).map(({ version, label }) => [version, label?.title])).toEqual([
        [2, "Theirs"],
        [1, "Wallet"],
      ]);
    });

    it("can keep the other device's version", async () => {
      const { vault, getLocation } = await createConflict();
      await userEvent.click(screen.getByRole("button", { name: "Keep what is saved" }));
      await waitFor(() => {
        expect(getLocation()).toBe("/secrets");
      });
      expect(await getRow(vault)).toMatchObject({ version: 2, label: { title: "Theirs" } });
    });
  });

  describe("when another device deleted the secret", () => {
    async function deleteMeanwhile() {
      const rendered = await renderPage();
      await userEvent.click(await screen.findByRole("button", { name: "Replace" }));
      await userEvent.click(screen.getByRole("textbox", { name: "Your secret" }));
      await userEvent.paste("mine");
      await rendered.vault.trash(rendered.secretId);
      await rendered.vault.purge([rendered.secretId]);
      await save();
      expect(await screen.findByText("This secret was deleted")).toBeVisible();
      return rendered;
    }

    it("keeps the input", async () => {
      await deleteMeanwhile();
      expect(screen.getByRole("textbox", { name: "Your secret" })).toHaveValue("mine");
      expect(screen.queryByRole("heading", { name: "This secret is not here" })).not.toBeInTheDocument();
      await expectAccessible();
    });

    it("can save the input as a new secret", async () => {
      const { vault, getLocation } = await deleteMeanwhile();
      await userEvent.click(screen.getByRole("button", { name: "Save mine as another secret" }));
      await waitFor(() => {
        expect(getLocation()).toBe("/secrets");
      });
      expect(await getLabel(vault)).toMatchObject({ title: "Wallet", size: 4 });
    });
  });

  it("keeps the input when the list can no longer be read", async () => {
    const { vault } = await renderPage();
    await findTitleField();
    await replaceText("Title", "Cold wallet");
    for (const method of ["update", "list", "refresh"] as const) vault.failWith(method, "service_unavailable");
    await save();
    await waitFor(() => {
      expect(screen.getAllByRole("alert").length).toBeGreaterThan(0);
    });
    expect(await findTitleField()).toHaveValue("Cold wallet");
    for (const method of ["update", "list", "refresh"] as const) vault.failWith(method, null);
    await save();
    await waitFor(async () => {
      expect(await getLabel(vault)).toMatchObject({ title: "Cold wallet" });
    });
  });

  it("keeps the input when the other version cannot be read, and shows the conflict on the next save", async () => {
    const { vault, secretId } = await renderPage();
    await findTitleField();
    await replaceText("Title", "Mine");
    vault.saveElsewhere(secretId, { title: "Theirs" });
    vault.failWith("list", "offline");
    await save();
    await waitFor(() => {
      expect(screen.getAllByRole("alert").length).toBeGreaterThan(0);
    });
    expect(await findTitleField()).toHaveValue("Mine");
    vault.failWith("list", null);
    await save();
    expect(await screen.findByRole("heading", { name: "Another device saved first" })).toBeVisible();
  });

  it("keeps the input when saving fails", async () => {
    const { vault } = await renderPage();
    await findTitleField();
    await replaceText("Title", "Cold wallet");
    vault.failWith("update", "service_unavailable");
    await save();
    expect(await screen.findByRole("alert")).toHaveTextContent("The service is not responding");
    expect(await findTitleField()).toHaveValue("Cold wallet");
  });

  it("offers to remove versions if there is no room for another one, and keeps the input", async () => {
    const { vault, secretId, getLocation } = await renderPage(
      createFakeVault({ secrets: [{ ...wallet, formerContents: ["first", "second"] }] }),
    );
    await openContent();
    await screen.findByRole("textbox", { name: "Your secret" });
    await replaceText("Your secret", "abandon able");
    vault.failWith("update", "too_many_versions");
    await save();
    expect(await screen.findByRole("alert")).toHaveTextContent(
      "This secret already has the maximum number of earlier versions",
    );
    vault.failWith("update", null);
    const panel = await screen.findByRole("group", { name: "Delete versions" });
    await userEvent.click(await within(panel).findByRole("checkbox", { name: /^Version 1 ·/ }));
    await expectAccessible();
    await userEvent.click(within(panel).getByRole("button", { name: "Delete the chosen versions" }));
    await waitFor(async () => {
      expect((await vault.listVersions(secretId)).map(({ dropped }) => dropped)).toEqual([false, false, true]);
    });
    await waitFor(() => {
      expect(screen.queryByRole("alert")).not.toBeInTheDocument();
    });
    expect(screen.getByRole("textbox", { name: "Your secret" })).toHaveValue("abandon able");
    await save();
    await waitFor(() => {
      expect(getLocation()).toBe("/secrets");
    });
    expect(await getRow(vault)).toMatchObject({ version: 4 });
  });

  it("asks to unlock on a locked device, and returns afterwards", async () => {
    const { secretId } = await renderPage(createFakeVault({ secrets: [wallet], unlocked: false }));
    expect(await screen.findByRole("link", { name: "Unlock with your picture" })).toHaveAttribute(
      "href",
      `/provide-image-recovery?then=%2Fedit-secret%2F${secretId}`,
    );
    await expectAccessible();
  });

  it("says that a secret is in the trash or missing", async () => {
    const trashedPage = await renderPage(createFakeVault({ secrets: [{ ...wallet, deleted: true }] }));
    expect(await screen.findByRole("heading", { name: "This secret is in the trash" })).toBeVisible();
    trashedPage.unmount();
    await renderPage(createFakeVault({ secrets: [wallet] }), { path: "/edit-secret/0189-unknown" });
    expect(await screen.findByRole("heading", { name: "This secret is not here" })).toBeVisible();
  });

  it("opens the content with the way to open that is kept open, and otherwise says why it asks", async () => {
    const vault = createFakeVault({ secrets: [wallet] });
    await vault.unlock(createOpenerHandle(createPictureFile("garden")));
    await renderPage(vault);
    await userEvent.click(await screen.findByRole("button", { name: "Open and change" }));
    expect(await screen.findByRole("textbox", { name: "Your secret" })).toHaveValue("abandon ability");
    await userEvent.click(screen.getByRole("button", { name: "Leave the content as it is" }));
    vault.keepOpen.set("every_time");
    await userEvent.click(await screen.findByRole("button", { name: "Open and change" }));
    const prompt = await screen.findByRole("group", { name: "Show one way to open the content." });
    expect(within(prompt).getByText("You changed how long a way to open stays. Show one again.")).toBeVisible();
    await userEvent.click(within(prompt).getByRole("button", { name: "Open" }));
    expect(within(prompt).getByText("Choose a picture, a recovery code or a passkey first.")).toBeVisible();
    await expectAccessible();
  });

  it("clears the edited secret and its image when the page is left", async () => {
    const { vault, secretId, goTo, getLocation } = await renderPage();
    vault.keepOpen.set("every_time");
    await openContent();
    await screen.findByRole("textbox", { name: "Your secret" });
    await goTo("/home");
    await waitFor(() => {
      expect(getLocation()).toBe("/home");
    });
    await goTo(`/edit-secret/${secretId}`);
    expect(await screen.findByRole("button", { name: "Open and change" })).toBeVisible();
    expect(screen.queryByDisplayValue("abandon ability")).not.toBeInTheDocument();

    // A leftover opener would open the other version without a question.
    await replaceText("Title", "Mine");
    vault.saveElsewhere(secretId, { content: "theirs" });
    await save();
    await userEvent.click(await screen.findByRole("button", { name: "Show it" }));
    expect(await screen.findByLabelText("Choose a picture")).toBeInTheDocument();
    expect(screen.queryByText("theirs")).not.toBeInTheDocument();
  });

  it("drops the edit at a lock", async () => {
    const { vault, record } = await renderPage();
    await openContent();
    await screen.findByRole("textbox", { name: "Your secret" });
    await act(async () => {
      for (const listener of record.lockListeners) await listener("lock");
      await vault.lock();
    });
    expect(await screen.findByRole("link", { name: "Unlock with your picture" })).toBeVisible();
    expect(screen.queryByDisplayValue("abandon ability")).not.toBeInTheDocument();
    await act(() => vault.unlock(createOpenerHandle(createPictureFile("garden"))));
    expect(await screen.findByRole("button", { name: "Open and change" })).toBeVisible();
    expect(screen.queryByDisplayValue("abandon ability")).not.toBeInTheDocument();
  });

  it("renders in Spanish and in the dark theme", async () => {
    await renderPage(createFakeVault({ secrets: [wallet] }), { language: "es", theme: "dark" });
    expect(await screen.findByRole("textbox", { name: "Título" })).toHaveValue("Wallet");
    await expectAccessible();
  });
});

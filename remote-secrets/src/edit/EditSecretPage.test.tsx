import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

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
    { vault, path: `/edit-secret/${secretId}`, route: "/edit-secret/:secretId", ...settings },
  );
  return { vault, secretId, ...app };
}
const findTitleField = () => screen.findByRole("textbox", { name: "Title" });
const save = () => userEvent.click(screen.getByRole("button", { name: "Save changes" }));
async function openContent(text = "garden") {
  await userEvent.click(await screen.findByRole("button", { name: "Open and change" }));
  await userEvent.upload(screen.getByLabelText("Choose a picture"), createPictureFile(text));
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
  it("says that others keep seeing what was shared, and leads to sharing", async () => {
    const vault = createFakeVault({
      secrets: [wallet],
      shares: [{ shareId: "one", secretId: "01890a5d-ac96-7000-8000-000000000001" }],
    });
    const { secretId } = await renderPage(vault);
    expect(await screen.findByText(/^One person or link can open this secret\./)).toBeVisible();
    for (const name of ["Share", "Go to its shares"])
      expect(screen.getByRole("link", { name })).toHaveAttribute("href", `/share/${secretId}`);
    await expectAccessible();
  });

  it("begins with the title and tags, and with the content left sealed", async () => {
    await renderPage();
    expect(await findTitleField()).toHaveValue("Wallet");
    expect(screen.getByText("family")).toBeVisible();
    expect(screen.queryByRole("textbox", { name: "Your secret" })).not.toBeInTheDocument();
    expect(screen.getByRole("radio", { name: "As it is" })).toBeChecked();
    await expectAccessible();
  });

  it("leads to the list to choose from when the address names no secret", async () => {
    const { location } = await renderPage(undefined, { path: "/edit-secret", route: "/edit-secret" });
    await waitFor(() => {
      expect(location()).toBe("/secrets");
    });
  });

  it("changes the title without a picture and without a new version", async () => {
    const { vault, location } = await renderPage();
    await findTitleField();
    await replaceText("Title", "Cold wallet");
    await save();
    await waitFor(() => {
      expect(location()).toBe("/secrets");
    });
    expect(await getRow(vault)).toMatchObject({ version: 1, label: { title: "Cold wallet", tags: ["family"] } });
  });

  it("opens the content with its picture, and saves what was changed as a new version", async () => {
    const fakeVault = createFakeVault({ secrets: [wallet] });
    const update = jest.fn(fakeVault.update);
    const { vault, secretId, location } = await renderPage({ ...fakeVault, update });
    await openContent();
    expect(await screen.findByRole("textbox", { name: "Your secret" })).toHaveValue("abandon ability");
    await replaceText("Your secret", "abandon able");
    await save();
    await waitFor(() => {
      expect(location()).toBe("/secrets");
    });
    expect(await getRow(vault)).toMatchObject({ version: 2, label: { title: "Wallet", size: 12 } });
    expect(update).toHaveBeenCalledTimes(1);
    expect(update).toHaveBeenCalledWith(
      secretId,
      expect.objectContaining({ baseVersion: 1, content: expect.objectContaining({ contentKind: "text" }) }),
      expect.anything(),
    );
  });

  it("says kindly that a picture does not open it, and takes the next one", async () => {
    await renderPage();
    await openContent("market");
    expect(await screen.findByRole("alert")).toHaveTextContent("This picture does not open it");
    await userEvent.upload(screen.getByLabelText("Choose a picture"), createPictureFile("garden"));
    await userEvent.click(screen.getByRole("button", { name: "Open" }));
    expect(await screen.findByRole("textbox", { name: "Your secret" })).toHaveValue("abandon ability");
  });

  it("replaces content that nobody looked at", async () => {
    const { vault, location } = await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "Replace" }));
    await userEvent.click(screen.getByRole("textbox", { name: "Your secret" }));
    await userEvent.paste("new words");
    await save();
    await waitFor(() => {
      expect(location()).toBe("/secrets");
    });
    expect(vault.calls).not.toContain("openSecret");
    expect(await getRow(vault)).toMatchObject({ version: 2 });
  });

  it("replaces a file by another one", async () => {
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

  it("says that nothing was changed, and saves nothing", async () => {
    const { vault } = await renderPage();
    await openContent();
    await screen.findByRole("textbox", { name: "Your secret" });
    await save();
    expect(await screen.findByText("Nothing was changed, so there is nothing to save.")).toBeVisible();
    expect(vault.calls).not.toContain("update");
  });

  it("leaves the content alone again when asked", async () => {
    const { vault, location } = await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "Replace" }));
    await userEvent.click(screen.getByRole("button", { name: "Leave the content as it is" }));
    await replaceText("Title", "Renamed");
    await save();
    await waitFor(() => {
      expect(location()).toBe("/secrets");
    });
    expect(await getRow(vault)).toMatchObject({ version: 1, label: { title: "Renamed" } });
  });

  it("asks for the content before another image can be given", async () => {
    const { vault } = await renderPage();
    await userEvent.click(await screen.findByRole("radio", { name: "A new image" }));
    await userEvent.upload(screen.getByLabelText("Choose a picture"), createPictureFile("market"));
    await save();
    expect(await screen.findByText("To change what opens it, open or replace its content above first.")).toBeVisible();
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

    it("shows both versions, the other one opened with the same picture", async () => {
      await createConflict();
      expect(within(getMineRegion()).getByText("mine")).toBeVisible();
      expect(within(getTheirsRegion()).getByText("Theirs")).toBeVisible();
      await userEvent.click(screen.getByRole("button", { name: "Show it" }));
      expect(await within(getTheirsRegion()).findByText("theirs")).toBeVisible();
      expect(screen.getByRole("textbox", { name: "Your secret" })).toHaveValue("mine");
      await expectAccessible();
    });

    it("saves mine on top of theirs, which stays in the history", async () => {
      const { vault, secretId, location } = await createConflict();
      await userEvent.click(screen.getByRole("button", { name: "Save mine" }));
      await waitFor(() => {
        expect(location()).toBe("/secrets");
      });
      expect(await getRow(vault)).toMatchObject({ version: 3, label: { title: "Theirs", size: 4 } });
      expect(await vault.listVersions(secretId)).toHaveLength(3);
    });

    it("keeps mine as a secret of its own", async () => {
      const { vault, location } = await createConflict();
      await userEvent.click(screen.getByRole("button", { name: "Keep mine as another secret" }));
      await waitFor(() => {
        expect(location()).toBe("/secrets");
      });
      expect((await vault.list()).map(({ version, label }) => [version, label?.title])).toEqual([
        [2, "Theirs"],
        [1, "Wallet"],
      ]);
    });

    it("keeps what is saved", async () => {
      const { vault, location } = await createConflict();
      await userEvent.click(screen.getByRole("button", { name: "Keep what is saved" }));
      await waitFor(() => {
        expect(location()).toBe("/secrets");
      });
      expect(await getRow(vault)).toMatchObject({ version: 2, label: { title: "Theirs" } });
    });
  });

  describe("when another device deleted it meanwhile", () => {
    async function deleteMeanwhile() {
      const rendered = await renderPage();
      await userEvent.click(await screen.findByRole("button", { name: "Replace" }));
      await userEvent.click(screen.getByRole("textbox", { name: "Your secret" }));
      await userEvent.paste("mine");
      await rendered.vault.trash(rendered.secretId);
      await rendered.vault.purge([rendered.secretId]);
      await save();
      expect(await screen.findByText("This secret was deleted meanwhile")).toBeVisible();
      return rendered;
    }

    it("leaves what was typed where it is", async () => {
      await deleteMeanwhile();
      expect(screen.getByRole("textbox", { name: "Your secret" })).toHaveValue("mine");
      expect(screen.queryByRole("heading", { name: "This secret is not here" })).not.toBeInTheDocument();
      await expectAccessible();
    });

    it("keeps it as a secret of its own", async () => {
      const { vault, location } = await deleteMeanwhile();
      await userEvent.click(screen.getByRole("button", { name: "Keep mine as another secret" }));
      await waitFor(() => {
        expect(location()).toBe("/secrets");
      });
      expect(await getLabel(vault)).toMatchObject({ title: "Wallet", size: 4 });
    });
  });

  it("keeps what was typed when the list can no longer be read", async () => {
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

  it("keeps what was typed when what another device saved cannot be read, and shows it the next time", async () => {
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

  it("keeps what was typed when saving fails", async () => {
    const { vault } = await renderPage();
    await findTitleField();
    await replaceText("Title", "Cold wallet");
    vault.failWith("update", "service_unavailable");
    await save();
    expect(await screen.findByRole("alert")).toHaveTextContent("The service does not answer");
    expect(await findTitleField()).toHaveValue("Cold wallet");
  });

  it("says that there is no room for another version, lets some be removed, and keeps what was typed", async () => {
    const { vault, secretId, location } = await renderPage(
      createFakeVault({ secrets: [{ ...wallet, formerContents: ["first", "second"] }] }),
    );
    await openContent();
    await screen.findByRole("textbox", { name: "Your secret" });
    await replaceText("Your secret", "abandon able");
    vault.failWith("update", "too_many_versions");
    await save();
    expect(await screen.findByRole("alert")).toHaveTextContent("This secret has as many former versions as are kept");
    vault.failWith("update", null);
    const panel = await screen.findByRole("group", { name: "Remove versions" });
    await userEvent.click(await within(panel).findByRole("checkbox", { name: /^Version 1,/ }));
    await expectAccessible();
    await userEvent.click(within(panel).getByRole("button", { name: "Remove what is chosen" }));
    await waitFor(async () => {
      expect((await vault.listVersions(secretId)).map(({ dropped }) => dropped)).toEqual([false, false, true]);
    });
    await waitFor(() => {
      expect(screen.queryByRole("alert")).not.toBeInTheDocument();
    });
    expect(screen.getByRole("textbox", { name: "Your secret" })).toHaveValue("abandon able");
    await save();
    await waitFor(() => {
      expect(location()).toBe("/secrets");
    });
    expect(await getRow(vault)).toMatchObject({ version: 4 });
  });

  it("unlocks first on a locked device, and comes back", async () => {
    const { secretId } = await renderPage(createFakeVault({ secrets: [wallet], unlocked: false }));
    expect(await screen.findByRole("link", { name: "Unlock with your picture" })).toHaveAttribute(
      "href",
      `/provide-image-recovery?then=%2Fedit-secret%2F${secretId}`,
    );
    await expectAccessible();
  });

  it("says that a secret is in the trash, or not here", async () => {
    const trashedPage = await renderPage(createFakeVault({ secrets: [{ ...wallet, deleted: true }] }));
    expect(await screen.findByRole("heading", { name: "This secret is in the trash" })).toBeVisible();
    trashedPage.unmount();
    await renderPage(createFakeVault({ secrets: [wallet] }), { path: "/edit-secret/0189-unknown" });
    expect(await screen.findByRole("heading", { name: "This secret is not here" })).toBeVisible();
  });

  it("clears the secret being edited and its image when it is left", async () => {
    const { vault, secretId, goTo, location } = await renderPage();
    await openContent();
    await screen.findByRole("textbox", { name: "Your secret" });
    await goTo("/home");
    await waitFor(() => {
      expect(location()).toBe("/home");
    });
    await goTo(`/edit-secret/${secretId}`);
    expect(await screen.findByRole("button", { name: "Open and change" })).toBeVisible();
    expect(screen.queryByDisplayValue("abandon ability")).not.toBeInTheDocument();

    // With the picture of before, the other device's content would open without asking.
    await replaceText("Title", "Mine");
    vault.saveElsewhere(secretId, { content: "theirs" });
    await save();
    await userEvent.click(await screen.findByRole("button", { name: "Show it" }));
    expect(await screen.findByLabelText("Choose a picture")).toBeInTheDocument();
    expect(screen.queryByText("theirs")).not.toBeInTheDocument();
  });

  it("drops everything when the portal locks", async () => {
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

  it("is whole in Spanish and in the dark", async () => {
    await renderPage(createFakeVault({ secrets: [wallet] }), { language: "es", theme: "dark" });
    expect(await screen.findByRole("textbox", { name: "Título" })).toHaveValue("Wallet");
    await expectAccessible();
  });
});

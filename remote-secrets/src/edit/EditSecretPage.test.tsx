import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import {
  createFakeVault,
  expectAccessible,
  picture,
  renderApp,
  type FakeSecret,
  type FakeVault,
  shownImage,
} from "@relicario/shared/testing";
import EditSecretPage from "./EditSecretPage.tsx";

const wallet: FakeSecret = { title: "Wallet", content: "abandon ability", tags: ["family"] };

async function draw(
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
const title = () => screen.findByRole("textbox", { name: "Title" });
const save = () => userEvent.click(screen.getByRole("button", { name: "Save changes" }));
async function openContent(text = "garden") {
  await userEvent.click(await screen.findByRole("button", { name: "Open and change" }));
  await userEvent.upload(screen.getByLabelText("Choose a picture"), picture(text));
  await userEvent.click(screen.getByRole("button", { name: "Open" }));
}
async function retype(name: string, text: string) {
  const field = screen.getByRole("textbox", { name });
  await userEvent.clear(field);
  await userEvent.click(field);
  await userEvent.paste(text);
}
const labelOf = async (vault: FakeVault) => (await vault.list())[0]?.label;
const rowOf = async (vault: FakeVault) => (await vault.list())[0];

describe("EditSecretPage", () => {
  it("says that others keep seeing what was shared, and leads to sharing", async () => {
    const vault = createFakeVault({
      secrets: [wallet],
      shares: [{ shareId: "one", secretId: "01890a5d-ac96-7000-8000-000000000001" }],
    });
    const { secretId } = await draw(vault);
    expect(await screen.findByText(/^One person or link can open this secret\./)).toBeVisible();
    for (const name of ["Share", "Go to its shares"])
      expect(screen.getByRole("link", { name })).toHaveAttribute("href", `/share/${secretId}`);
    await expectAccessible();
  });

  it("begins with the title and tags, and with the content left sealed", async () => {
    await draw();
    expect(await title()).toHaveValue("Wallet");
    expect(screen.getByText("family")).toBeVisible();
    expect(screen.queryByRole("textbox", { name: "Your secret" })).not.toBeInTheDocument();
    expect(screen.getByRole("radio", { name: "As it is" })).toBeChecked();
    await expectAccessible();
  });

  it("leads to the list to choose from when the address names no secret", async () => {
    const { location } = await draw(undefined, { path: "/edit-secret", route: "/edit-secret" });
    await waitFor(() => {
      expect(location()).toBe("/secrets");
    });
  });

  it("changes the title without a picture and without a new version", async () => {
    const { vault, location } = await draw();
    await title();
    await retype("Title", "Cold wallet");
    await save();
    await waitFor(() => {
      expect(location()).toBe("/secrets");
    });
    expect(await rowOf(vault)).toMatchObject({ version: 1, label: { title: "Cold wallet", tags: ["family"] } });
  });

  it("opens the content with its picture, and saves what was changed as a new version", async () => {
    const fake = createFakeVault({ secrets: [wallet] });
    const update = jest.fn(fake.update);
    const { vault, secretId, location } = await draw({ ...fake, update });
    await openContent();
    expect(await screen.findByRole("textbox", { name: "Your secret" })).toHaveValue("abandon ability");
    await retype("Your secret", "abandon able");
    await save();
    await waitFor(() => {
      expect(location()).toBe("/secrets");
    });
    expect(await rowOf(vault)).toMatchObject({ version: 2, label: { title: "Wallet", size: 12 } });
    expect(update).toHaveBeenCalledTimes(1);
    expect(update).toHaveBeenCalledWith(
      secretId,
      expect.objectContaining({ baseVersion: 1, content: expect.objectContaining({ contentKind: "text" }) }),
      expect.anything(),
    );
  });

  it("says kindly that a picture does not open it, and takes the next one", async () => {
    await draw();
    await openContent("market");
    expect(await screen.findByRole("alert")).toHaveTextContent("This picture does not open it");
    await userEvent.upload(screen.getByLabelText("Choose a picture"), picture("garden"));
    await userEvent.click(screen.getByRole("button", { name: "Open" }));
    expect(await screen.findByRole("textbox", { name: "Your secret" })).toHaveValue("abandon ability");
  });

  it("replaces content that nobody looked at", async () => {
    const { vault, location } = await draw();
    await userEvent.click(await screen.findByRole("button", { name: "Replace" }));
    await userEvent.click(screen.getByRole("textbox", { name: "Your secret" }));
    await userEvent.paste("new words");
    await save();
    await waitFor(() => {
      expect(location()).toBe("/secrets");
    });
    expect(vault.calls).not.toContain("recover");
    expect(await rowOf(vault)).toMatchObject({ version: 2 });
  });

  it("replaces a file by another one", async () => {
    const vault = createFakeVault({
      secrets: [{ title: "Scan", content: "%PDF", contentKind: "file", name: "old.pdf", mime: "application/pdf" }],
    });
    await draw(vault);
    await userEvent.click(await screen.findByRole("button", { name: "Replace" }));
    await userEvent.upload(
      screen.getByLabelText("File to protect"),
      new File(["%PDF-2"], "new.pdf", { type: "application/pdf" }),
    );
    await save();
    await waitFor(async () => {
      expect(await labelOf(vault)).toMatchObject({ title: "Scan", name: "new.pdf", contentKind: "file" });
    });
  });

  it("says that nothing was changed, and saves nothing", async () => {
    const { vault } = await draw();
    await openContent();
    await screen.findByRole("textbox", { name: "Your secret" });
    await save();
    expect(await screen.findByText("Nothing was changed, so there is nothing to save.")).toBeVisible();
    expect(vault.calls).not.toContain("update");
  });

  it("leaves the content alone again when asked", async () => {
    const { vault, location } = await draw();
    await userEvent.click(await screen.findByRole("button", { name: "Replace" }));
    await userEvent.click(screen.getByRole("button", { name: "Leave the content as it is" }));
    await retype("Title", "Renamed");
    await save();
    await waitFor(() => {
      expect(location()).toBe("/secrets");
    });
    expect(await rowOf(vault)).toMatchObject({ version: 1, label: { title: "Renamed" } });
  });

  it("asks for the content before another image can be given", async () => {
    const { vault } = await draw();
    await userEvent.click(await screen.findByRole("radio", { name: "A new image" }));
    await userEvent.upload(screen.getByLabelText("Choose a picture"), picture("market"));
    await save();
    expect(await screen.findByText("To change what opens it, open or replace its content above first.")).toBeVisible();
    expect(vault.calls).not.toContain("update");
  });

  describe("when another device saved first", () => {
    async function conflict() {
      const drawn = await draw();
      await openContent();
      await screen.findByRole("textbox", { name: "Your secret" });
      await retype("Your secret", "mine");
      drawn.vault.saveElsewhere(drawn.secretId, { title: "Theirs", content: "theirs" });
      await save();
      expect(await screen.findByRole("heading", { name: "Another device saved first" })).toBeVisible();
      return drawn;
    }
    const mine = () => screen.getByRole("region", { name: "What you were about to save" });
    const theirs = () => screen.getByRole("region", { name: "What is saved now" });

    it("shows both versions, the other one opened with the same picture", async () => {
      await conflict();
      expect(within(mine()).getByText("mine")).toBeVisible();
      expect(within(theirs()).getByText("Theirs")).toBeVisible();
      await userEvent.click(screen.getByRole("button", { name: "Show it" }));
      expect(await within(theirs()).findByText("theirs")).toBeVisible();
      expect(screen.getByRole("textbox", { name: "Your secret" })).toHaveValue("mine");
      await expectAccessible();
    });

    it("saves mine on top of theirs, which stays in the history", async () => {
      const { vault, secretId, location } = await conflict();
      await userEvent.click(screen.getByRole("button", { name: "Save mine" }));
      await waitFor(() => {
        expect(location()).toBe("/secrets");
      });
      expect(await rowOf(vault)).toMatchObject({ version: 3, label: { title: "Theirs", size: 4 } });
      expect(await vault.history(secretId)).toHaveLength(3);
    });

    it("keeps mine as a secret of its own", async () => {
      const { vault, location } = await conflict();
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
      const { vault, location } = await conflict();
      await userEvent.click(screen.getByRole("button", { name: "Keep what is saved" }));
      await waitFor(() => {
        expect(location()).toBe("/secrets");
      });
      expect(await rowOf(vault)).toMatchObject({ version: 2, label: { title: "Theirs" } });
    });
  });

  describe("when another device deleted it meanwhile", () => {
    async function deleted() {
      const drawn = await draw();
      await userEvent.click(await screen.findByRole("button", { name: "Replace" }));
      await userEvent.click(screen.getByRole("textbox", { name: "Your secret" }));
      await userEvent.paste("mine");
      await drawn.vault.trash(drawn.secretId);
      await drawn.vault.purge([drawn.secretId]);
      await save();
      expect(await screen.findByText("This secret was deleted meanwhile")).toBeVisible();
      return drawn;
    }

    it("leaves what was typed where it is", async () => {
      await deleted();
      expect(screen.getByRole("textbox", { name: "Your secret" })).toHaveValue("mine");
      expect(screen.queryByRole("heading", { name: "This secret is not here" })).not.toBeInTheDocument();
      await expectAccessible();
    });

    it("keeps it as a secret of its own", async () => {
      const { vault, location } = await deleted();
      await userEvent.click(screen.getByRole("button", { name: "Keep mine as another secret" }));
      await waitFor(() => {
        expect(location()).toBe("/secrets");
      });
      expect(await labelOf(vault)).toMatchObject({ title: "Wallet", size: 4 });
    });
  });

  it("keeps what was typed when the list can no longer be read", async () => {
    const { vault } = await draw();
    await title();
    await retype("Title", "Cold wallet");
    for (const member of ["update", "list", "refresh"] as const) vault.failWith(member, "service_unavailable");
    await save();
    await waitFor(() => {
      expect(screen.getAllByRole("alert").length).toBeGreaterThan(0);
    });
    expect(await title()).toHaveValue("Cold wallet");
    for (const member of ["update", "list", "refresh"] as const) vault.failWith(member, null);
    await save();
    await waitFor(async () => {
      expect(await labelOf(vault)).toMatchObject({ title: "Cold wallet" });
    });
  });

  it("keeps what was typed when what another device saved cannot be read, and shows it the next time", async () => {
    const { vault, secretId } = await draw();
    await title();
    await retype("Title", "Mine");
    vault.saveElsewhere(secretId, { title: "Theirs" });
    vault.failWith("list", "offline");
    await save();
    await waitFor(() => {
      expect(screen.getAllByRole("alert").length).toBeGreaterThan(0);
    });
    expect(await title()).toHaveValue("Mine");
    vault.failWith("list", null);
    await save();
    expect(await screen.findByRole("heading", { name: "Another device saved first" })).toBeVisible();
  });

  it("keeps what was typed when saving fails", async () => {
    const { vault } = await draw();
    await title();
    await retype("Title", "Cold wallet");
    vault.failWith("update", "service_unavailable");
    await save();
    expect(await screen.findByRole("alert")).toHaveTextContent("The service does not answer");
    expect(await title()).toHaveValue("Cold wallet");
  });

  it("says that there is no room for another version, lets some be removed, and keeps what was typed", async () => {
    const { vault, secretId, location } = await draw(
      createFakeVault({ secrets: [{ ...wallet, former: ["first", "second"] }] }),
    );
    await openContent();
    await screen.findByRole("textbox", { name: "Your secret" });
    await retype("Your secret", "abandon able");
    vault.failWith("update", "too_many_versions");
    await save();
    expect(await screen.findByRole("alert")).toHaveTextContent("This secret has as many former versions as are kept");
    vault.failWith("update", null);
    const panel = await screen.findByRole("group", { name: "Remove versions" });
    await userEvent.click(await within(panel).findByRole("checkbox", { name: /^Version 1,/ }));
    await expectAccessible();
    await userEvent.click(within(panel).getByRole("button", { name: "Remove what is chosen" }));
    await waitFor(async () => {
      expect((await vault.history(secretId)).map(({ dropped }) => dropped)).toEqual([false, false, true]);
    });
    await waitFor(() => {
      expect(screen.queryByRole("alert")).not.toBeInTheDocument();
    });
    expect(screen.getByRole("textbox", { name: "Your secret" })).toHaveValue("abandon able");
    await save();
    await waitFor(() => {
      expect(location()).toBe("/secrets");
    });
    expect(await rowOf(vault)).toMatchObject({ version: 4 });
  });

  it("unlocks first on a locked device, and comes back", async () => {
    const { secretId } = await draw(createFakeVault({ secrets: [wallet], unlocked: false }));
    expect(await screen.findByRole("link", { name: "Unlock with your picture" })).toHaveAttribute(
      "href",
      `/provide-image-recovery?then=%2Fedit-secret%2F${secretId}`,
    );
    await expectAccessible();
  });

  it("says that a secret is in the trash, or not here", async () => {
    const trashed = await draw(createFakeVault({ secrets: [{ ...wallet, deleted: true }] }));
    expect(await screen.findByRole("heading", { name: "This secret is in the trash" })).toBeVisible();
    trashed.unmount();
    await draw(createFakeVault({ secrets: [wallet] }), { path: "/edit-secret/0189-unknown" });
    expect(await screen.findByRole("heading", { name: "This secret is not here" })).toBeVisible();
  });

  it("clears the secret being edited and its image when it is left", async () => {
    const { vault, secretId, goTo, location } = await draw();
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
    await retype("Title", "Mine");
    vault.saveElsewhere(secretId, { content: "theirs" });
    await save();
    await userEvent.click(await screen.findByRole("button", { name: "Show it" }));
    expect(await screen.findByLabelText("Choose a picture")).toBeInTheDocument();
    expect(screen.queryByText("theirs")).not.toBeInTheDocument();
  });

  it("drops everything when the portal locks", async () => {
    const { vault, record } = await draw();
    await openContent();
    await screen.findByRole("textbox", { name: "Your secret" });
    await act(async () => {
      for (const listener of record.lockListeners) await listener("lock");
      await vault.lock();
    });
    expect(await screen.findByRole("link", { name: "Unlock with your picture" })).toBeVisible();
    expect(screen.queryByDisplayValue("abandon ability")).not.toBeInTheDocument();
    await act(() => vault.unlock(shownImage(picture("garden"))));
    expect(await screen.findByRole("button", { name: "Open and change" })).toBeVisible();
    expect(screen.queryByDisplayValue("abandon ability")).not.toBeInTheDocument();
  });

  it("is whole in Spanish and in the dark", async () => {
    await draw(createFakeVault({ secrets: [wallet] }), { language: "es", theme: "dark" });
    expect(await screen.findByRole("textbox", { name: "Título" })).toHaveValue("Wallet");
    await expectAccessible();
  });
});

import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import {
  createFakeHttpClient,
  createFakeVault,
  createFakeVisitor,
  expectAccessible,
  createPictureFile,
  renderApp,
  type FakePerson,
  type FakeLinkedShare,
  type FakeVaultSettings,
} from "@relicario/shared/testing";
import { PortalError } from "@relicario/shared/errors";
import remote from "../remote.tsx";

const shareId = "abcdefghijklmnopqrstuA";
const phrase = "the key is under the mat";
const anonymousUser = { userId: "", userName: "", contactEmail: null };

async function renderPage(
  share: FakeLinkedShare | undefined,
  { path = `/shared/${shareId}`, ...settings }: Parameters<typeof renderApp>[1] = {},
) {
  const visitor = createFakeVisitor(share === undefined ? {} : { share });
  const app = await renderApp(null, {
    visitor,
    routes: remote.routes,
    route: "/elsewhere",
    path,
    user: anonymousUser,
    ...settings,
  });
  return { ...app, visitor };
}

const textShare: FakeLinkedShare = { title: "Door", content: phrase, from: "bruno", viewsLeft: 3 };
const clickOpen = async () => userEvent.click(await screen.findByRole("button", { name: "Open" }));
const choosePicture = (name: string) =>
  userEvent.upload(screen.getByLabelText("Choose a picture"), createPictureFile(name));

describe("a link to something shared", () => {
  it.each([
    ["en", "light"],
    ["es", "dark"],
  ] as const)("is looked at first, and opens nothing before a button (%s, %s)", async (language, theme) => {
    const { visitor } = await renderPage({ ...textShare, password: "p", picture: "garden" }, { language, theme });
    expect(await screen.findByText("bruno")).toBeVisible();
    expect(screen.getByText("3")).toBeVisible();
    await expectAccessible();
    expect(visitor.calls).toEqual(["previewShare"]);
  });

  it("shows a text that is hidden until asked for", async () => {
    await renderPage(textShare);
    await clickOpen();
    expect(await screen.findByRole("heading", { level: 1, name: "Door" })).toBeVisible();
    expect(screen.getByText("Says to be from bruno")).toBeVisible();
    expect(screen.queryByText(phrase)).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Show" }));
    expect(screen.getByText(phrase)).toBeVisible();
    await expectAccessible();
  });

  it("moves the focus to what was opened, by keyboard alone", async () => {
    await renderPage(textShare);
    const button = await screen.findByRole("button", { name: "Open" });
    button.focus();
    await userEvent.keyboard("{Enter}");
    expect(await screen.findByRole("group", { name: "Door" })).toHaveFocus();
  });

  it("saves a file of any size, and never shows it", async () => {
    URL.createObjectURL = () => "blob:test/1";
    URL.revokeObjectURL = () => undefined;
    const clickSpy = jest.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(() => undefined);
    await renderPage({ ...textShare, contentKind: "file", name: "film.mp4", large: true });
    await clickOpen();
    await userEvent.click(await screen.findByRole("button", { name: "Download the file" }));
    expect(await screen.findByText("Saved. Every byte of it was checked.")).toBeVisible();
    expect(clickSpy).toHaveBeenCalledTimes(1);
    clickSpy.mockRestore();
  });

  it("takes a password as it is typed, and says how many tries are left after a wrong one", async () => {
    await renderPage({ ...textShare, password: " Four words " });
    await clickOpen();
    expect(await screen.findByText("Type the password first.")).toBeVisible();
    await userEvent.type(screen.getByLabelText("Password"), "Four words");
    await clickOpen();
    expect(
      await screen.findByText("That is not the password. 9 tries are left, then it closes for good."),
    ).toBeVisible();
    await expectAccessible();
    await userEvent.clear(screen.getByLabelText("Password"));
    await userEvent.type(screen.getByLabelText("Password"), " Four words ");
    await clickOpen();
    expect(await screen.findByRole("heading", { level: 1, name: "Door" })).toBeVisible();
  });

  it("asks for a picture, says of a wrong one that it costs nothing, and takes the next", async () => {
    const { visitor } = await renderPage({ ...textShare, picture: "garden" });
    await clickOpen();
    expect(await screen.findByText("Choose the picture first.")).toBeVisible();
    expect(visitor.calls).not.toContain("openShare");
    await choosePicture("lake");
    await clickOpen();
    expect(await screen.findByText(/^This picture does not open it. Nothing was counted./)).toBeVisible();
    await choosePicture("garden");
    await clickOpen();
    expect(await screen.findByRole("heading", { level: 1, name: "Door" })).toBeVisible();
  });

  it.each([
    ["unknown, expired, used up or revoked", undefined, "This can't be opened"],
    ["without its key", "link_incomplete", "Open the link again"],
  ] as const)("says what to do when it is %s", async (_, code, title) => {
    const visitor = createFakeVisitor();
    if (code !== undefined) visitor.failWith("previewShare", code);
    await renderPage(undefined, { visitor });
    expect(await screen.findByRole("heading", { name: title })).toBeVisible();
    expect(screen.queryByRole("button", { name: "Open" })).not.toBeInTheDocument();
    await expectAccessible();
  });

  it("names the possible reasons together", async () => {
    await renderPage(undefined);
    await screen.findByRole("heading", { name: "This can't be opened" });
    expect(screen.getAllByRole("listitem")).toHaveLength(6);
  });

  it("says the same when it ends between the look and the button", async () => {
    const { visitor } = await renderPage(textShare);
    await screen.findByRole("button", { name: "Open" });
    visitor.endShare();
    await clickOpen();
    expect(await screen.findByRole("heading", { name: "This can't be opened" })).toBeVisible();
  });

  it("asks nobody about an address that is no share", async () => {
    const { visitor } = await renderPage(textShare, { path: "/shared/..%2fsecrets" });
    expect(await screen.findByRole("heading", { name: "This can't be opened" })).toBeVisible();
    expect(visitor.calls).toEqual([]);
  });

  it("can be tried again when the service does not answer, or the visitor does not load", async () => {
    const visitor = createFakeVisitor({ share: textShare });
    visitor.failWith("previewShare", "service_unavailable");
    await renderPage(undefined, { visitor });
    const retryButton = await screen.findByRole("button", { name: "Try again" });
    visitor.failWith("previewShare", null);
    await userEvent.click(retryButton);
    expect(await screen.findByRole("button", { name: "Open" })).toBeVisible();
  });

  it("says so when the visitor does not load", async () => {
    await renderPage(undefined, { visitor: Promise.reject(new PortalError("vault_unavailable")) });
    expect(await screen.findByRole("alert")).toBeVisible();
    expect(screen.getByRole("button", { name: "Try again" })).toBeVisible();
  });

  it("is put away by a lock, also while it is open", async () => {
    const { record } = await renderPage(textShare);
    await clickOpen();
    await userEvent.click(await screen.findByRole("button", { name: "Show" }));
    await act(async () => {
      for (const listener of [...record.lockListeners]) await listener("lock");
    });
    expect(screen.getByRole("heading", { name: "It is closed" })).toBeVisible();
    expect(screen.queryByText(phrase)).not.toBeInTheDocument();
    await expectAccessible();
  });

  it("is put away when the person says so, and its page leaves nothing behind", async () => {
    const { record, unmount } = await renderPage(textShare);
    await clickOpen();
    await userEvent.click(await screen.findByRole("button", { name: "Close" }));
    expect(screen.getByRole("heading", { name: "It is closed" })).toBeVisible();
    unmount();
    expect(record.lockListeners.size).toBe(0);
  });

  it("is reported by its id alone", async () => {
    const http = createFakeHttpClient({ "POST /reports/share": () => null });
    await renderPage(textShare, { http });
    await userEvent.click(await screen.findByRole("button", { name: "Report this link" }));
    await expectAccessible();
    await userEvent.click(screen.getByRole("radio", { name: /I did not want it/ }));
    await userEvent.type(screen.getByLabelText(/What the operator should know/), "spam");
    await userEvent.click(screen.getByRole("button", { name: "Send the report" }));
    expect(await screen.findByText("Sent. Thank you for telling.")).toBeVisible();
    expect(http.calls.map(({ method, path, body }) => ({ method, path, body }))).toEqual([
      { method: "POST", path: "/reports/share", body: { share_id: shareId, reason: "unwanted", message: "spam" } },
    ]);
  });

  it("says when a report does not arrive", async () => {
    const http = createFakeHttpClient();
    http.failWith("too_many_requests");
    await renderPage(textShare, { http });
    await userEvent.click(await screen.findByRole("button", { name: "Report this link" }));
    await userEvent.click(screen.getByRole("button", { name: "Send the report" }));
    expect(await screen.findByRole("alert")).toBeVisible();
  });
});

describe("keeping what was shared", () => {
  const createSignedInSettings = (vault: FakeVaultSettings) => {
    const ownVault = createFakeVault(vault);
    return {
      ownVault,
      settings: {
        vault: ownVault,
        user: { userId: "01890a5d-ac96-7000-8000-00000000a11c", userName: "alba", contactEmail: null },
        path: `/p-shared/${shareId}`,
      },
    };
  };
  const listTitles = async (vault: ReturnType<typeof createFakeVault>) =>
    (await vault.list()).map(({ label }) => label?.title);

  it("is offered to nobody without an account, who is invited", async () => {
    await renderPage(textShare);
    await clickOpen();
    expect(await screen.findByText("Keep secrets of your own here")).toBeVisible();
    expect(screen.queryByRole("button", { name: "Keep it among my secrets" })).not.toBeInTheDocument();
  });

  it("protects it as one's own with the pictures in use", async () => {
    const { ownVault, settings } = createSignedInSettings({ secrets: [{ title: "Mine", content: "x" }] });
    await renderPage({ ...textShare, audience: "signed_in" }, settings);
    await clickOpen();
    await userEvent.click(await screen.findByRole("button", { name: "Keep it among my secrets" }));
    await userEvent.click(await screen.findByRole("button", { name: "Keep it now" }));
    expect(await screen.findByText("Kept. It is among your secrets now.")).toBeVisible();
    expect(await listTitles(ownVault)).toEqual(["Mine", "Door"]);
    await expectAccessible();
  });

  it("asks a locked vault for a picture first", async () => {
    const { ownVault, settings } = createSignedInSettings({
      secrets: [{ title: "Mine", content: "x" }],
      unlocked: false,
    });
    await renderPage({ ...textShare, audience: "signed_in" }, settings);
    await clickOpen();
    await userEvent.click(await screen.findByRole("button", { name: "Keep it among my secrets" }));
    await screen.findByText(/Your secrets are locked here/);
    await choosePicture("garden");
    await userEvent.click(screen.getByRole("button", { name: "Keep it with this picture" }));
    expect(await screen.findByText("Kept. It is among your secrets now.")).toBeVisible();
    expect(await listTitles(ownVault)).toEqual(["Mine", "Door"]);
  });

  it("makes the first secret of an empty account, after the sentence that only the person can answer", async () => {
    const { ownVault, settings } = createSignedInSettings({});
    await renderPage({ ...textShare, audience: "signed_in" }, settings);
    await clickOpen();
    await userEvent.click(await screen.findByRole("button", { name: "Keep it among my secrets" }));
    expect(await screen.findByText("You have protected nothing here yet")).toBeVisible();
    await choosePicture("garden");
    await userEvent.click(screen.getByRole("button", { name: "Keep it with this picture" }));
    expect(await screen.findByText("Kept. It is among your secrets now.")).toBeVisible();
    expect(await listTitles(ownVault)).toEqual(["Door"]);
    const question = await screen.findByRole("region", { name: "Whose device is this?" });
    await expectAccessible();
    await userEvent.click(within(question).getByRole("button", { name: "My own device" }));
    await waitFor(() => {
      expect(question).not.toBeInTheDocument();
    });
    expect(ownVault.getState()).toEqual({ status: "unlocked", device: "own" });
  });

  it("keeps what came without a title under the words that stand in its place", async () => {
    const { ownVault, settings } = createSignedInSettings({ secrets: [{ title: "Mine", content: "x" }] });
    await renderPage({ ...textShare, title: " ", audience: "signed_in" }, settings);
    await clickOpen();
    await userEvent.click(await screen.findByRole("button", { name: "Keep it among my secrets" }));
    await userEvent.click(await screen.findByRole("button", { name: "Keep it now" }));
    expect(await screen.findByText("Kept. It is among your secrets now.")).toBeVisible();
    expect(await listTitles(ownVault)).toEqual(["Mine", "A secret for you"]);
  });

  it("says why it could not be kept, and what was opened stays", async () => {
    const { ownVault, settings } = createSignedInSettings({ secrets: [{ title: "Mine", content: "x" }] });
    ownVault.failWith("protect", "quota_exceeded");
    await renderPage({ ...textShare, audience: "signed_in" }, settings);
    await clickOpen();
    await userEvent.click(await screen.findByRole("button", { name: "Keep it among my secrets" }));
    await userEvent.click(await screen.findByRole("button", { name: "Keep it now" }));
    expect(await screen.findByRole("alert")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Show" }));
    expect(screen.getByText(phrase)).toBeVisible();
  });
});

describe("a share for one person", () => {
  const renderPersonShare = async (
    person: Omit<FakePerson, "userName"> = {},
    vaultSettings: FakeVaultSettings = {},
  ) => {
    const vault = createFakeVault({
      secrets: [{ title: "Mine", content: "x" }],
      people: [{ userName: "bruno", ...person }],
      received: [{ title: "Door", content: phrase, from: "bruno", viewsLeft: 2 }],
      ...vaultSettings,
    });
    const [row] = await vault.received.list({ includeEnded: true });
    const id = row?.shareId ?? "";
    const app = await renderPage(
      { ...textShare, audience: "person" },
      {
        vault,
        path: `/p-shared/${id}`,
        user: { userId: "01890a5d-ac96-7000-8000-00000000a11c", userName: "alba", contactEmail: null },
      },
    );
    return { ...app, vault };
  };
  /** No sender is judged before something was shown that opens the account. */
  const openWithGarden = async () => {
    await clickOpen();
    await screen.findByText(/Show one of your own pictures/);
    await choosePicture("garden");
    await clickOpen();
  };

  it("opens with one of one's own pictures, from somebody who is known", async () => {
    const { vault } = await renderPersonShare({ trust: "compared" });
    await openWithGarden();
    expect(await screen.findByRole("heading", { level: 1, name: "Door" })).toBeVisible();
    expect(screen.getByText("Signed with the keys that you compared with them.")).toBeVisible();
    expect(screen.queryByRole("button", { name: "Report this link" })).not.toBeInTheDocument();
    await expectAccessible();
    expect((await vault.received.list())[0]?.viewsLeft).toBe(1);
  });

  it("stops at somebody unknown with their words, and opens when they are accepted", async () => {
    const { vault } = await renderPersonShare();
    await clickOpen();
    await choosePicture("garden");
    await clickOpen();
    expect(await screen.findByText("You don't know bruno yet")).toBeVisible();
    expect(screen.getByText("north-bruno")).toBeVisible();
    expect((await vault.received.list())[0]?.openedAt).toBeNull();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Accept and open" }));
    expect(await screen.findByRole("heading", { level: 1, name: "Door" })).toBeVisible();
    expect((await vault.people.find("bruno")).trust).toBe("known");
  });

  it("can be left, or its sender blocked, without opening", async () => {
    const { vault } = await renderPersonShare();
    await clickOpen();
    await choosePicture("garden");
    await clickOpen();
    await userEvent.click(await screen.findByRole("button", { name: "Not now" }));
    expect(await screen.findByRole("button", { name: "Open" })).toBeVisible();
    await clickOpen();
    await userEvent.click(await screen.findByRole("button", { name: "Block" }));
    expect(await screen.findByText("bruno is blocked")).toBeVisible();
    expect((await vault.people.find("bruno")).blocked).toBe(true);
    expect((await vault.received.list())[0]?.openedAt).toBeNull();
  });

  it("stops loudly when the keys changed, with both sets of words, until the new ones are trusted", async () => {
    const { vault } = await renderPersonShare({ trust: "changed" });
    await openWithGarden();
    expect(await screen.findByRole("alert")).toHaveTextContent("The keys of bruno are not the ones that you know");
    expect(screen.getByText("before")).toBeVisible();
    expect(screen.getByText("today")).toBeVisible();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "I compared them: trust the new keys" }));
    expect(await screen.findByRole("heading", { level: 1, name: "Door" })).toBeVisible();
    expect((await vault.people.find("bruno")).trust).toBe("known");
  });

  it("stops when a known account has another name, until that is taken", async () => {
    const { vault } = await renderPersonShare({ trust: "changed", formerName: "bea" });
    await openWithGarden();
    expect(await screen.findByRole("alert")).toHaveTextContent("You know this account as bea");
    expect(screen.queryByRole("list", { name: "New words" })).not.toBeInTheDocument();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "I asked: use the new name" }));
    expect(await screen.findByRole("heading", { level: 1, name: "Door" })).toBeVisible();
    expect(await vault.people.find("bruno")).toMatchObject({ trust: "known", formerName: null });
  });

  it("blocks the account whose words were shown, whoever has the name by then", async () => {
    const { vault } = await renderPersonShare({ trust: "changed" });
    await openWithGarden();
    vault.failWith("people.find", "not_found");
    await userEvent.click(await screen.findByRole("button", { name: "Block" }));
    expect(await screen.findByText("bruno is blocked")).toBeVisible();
    expect((await vault.received.list())[0]?.from.blocked).toBe(true);
  });

  it("opens nothing of somebody who is blocked, until they are not", async () => {
    await renderPersonShare({ trust: "known", blocked: true });
    await openWithGarden();
    expect(await screen.findByText("bruno is blocked")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Unblock and continue" }));
    expect(await screen.findByRole("heading", { level: 1, name: "Door" })).toBeVisible();
  });

  it("asks to unlock first, and comes back", async () => {
    const { location } = await renderPersonShare({}, { unlocked: false });
    const unlock = await screen.findByRole("link", { name: "Unlock" });
    expect(unlock).toHaveAttribute("href", `/provide-image-recovery?then=${encodeURIComponent(location())}`);
  });

  it("says that it can't be opened when it ended", async () => {
    await renderPersonShare(
      { trust: "known" },
      { received: [{ title: "Door", content: phrase, from: "bruno", available: false }] },
    );
    await clickOpen();
    await choosePicture("garden");
    await clickOpen();
    expect(await screen.findByRole("heading", { name: "This can't be opened" })).toBeVisible();
  });
});

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
  wholeText,
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
    routePattern: "/elsewhere",
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

describe("a shared link", () => {
  it.each([
    ["en", "light"],
    ["es", "dark"],
  ] as const)("is previewed at first, and opens only after a press of the button (%s, %s)", async (language, theme) => {
    const { visitor } = await renderPage({ ...textShare, password: "p", picture: "garden" }, { language, theme });
    expect((await screen.findAllByText("bruno"))[0]).toBeVisible();
    expect(screen.getByText("3")).toBeVisible();
    await expectAccessible();
    expect(visitor.calls).toEqual(["previewShare"]);
  });

  it("shows the content by the vault's own view", async () => {
    await renderPage(textShare);
    await clickOpen();
    expect(await screen.findByRole("heading", { level: 1, name: "Door" })).toBeVisible();
    expect(screen.getByText(wholeText("Apparently from bruno"))).toBeVisible();
    expect(screen.queryByText(phrase)).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Show" }));
    expect(screen.getByText(phrase)).toBeVisible();
    await expectAccessible();
  });

  it("moves the focus to the opened content if it was opened by keyboard", async () => {
    await renderPage(textShare);
    const button = await screen.findByRole("button", { name: "Open" });
    button.focus();
    await userEvent.keyboard("{Enter}");
    expect(await screen.findByRole("group", { name: "Door" })).toHaveFocus();
  });

  it("uses the password exactly as typed, and shows the remaining tries after a wrong password", async () => {
    await renderPage({ ...textShare, password: " Four words " });
    await clickOpen();
    expect(await screen.findByText("Enter the password first.")).toBeVisible();
    await userEvent.type(screen.getByLabelText("Password"), "Four words");
    await clickOpen();
    expect(
      await screen.findByText("Wrong password. 9 tries left; after that it can't be opened any more."),
    ).toBeVisible();
    await expectAccessible();
    await userEvent.clear(screen.getByLabelText("Password"));
    await userEvent.type(screen.getByLabelText("Password"), " Four words ");
    await clickOpen();
    expect(await screen.findByRole("heading", { level: 1, name: "Door" })).toBeVisible();
  });

  it("asks for a picture, rejects a wrong one without counting it, and accepts the next", async () => {
    const { visitor } = await renderPage({ ...textShare, picture: "garden" });
    await clickOpen();
    expect(await screen.findByText("Choose the picture first.")).toBeVisible();
    expect(visitor.calls).not.toContain("openShare");
    await choosePicture("lake");
    await clickOpen();
    expect(await screen.findByText(/^This picture does not open it, and the attempt does not count./)).toBeVisible();
    await choosePicture("garden");
    await clickOpen();
    expect(await screen.findByRole("heading", { level: 1, name: "Door" })).toBeVisible();
  });

  it.each([
    ["unknown, expired, used up or revoked", undefined, "This can't be opened"],
    ["without its key", "link_incomplete", "Open the link again"],
  ] as const)("says what to do with a link that is %s", async (_, code, title) => {
    const visitor = createFakeVisitor();
    if (code !== undefined) visitor.failWith("previewShare", code);
    await renderPage(undefined, { visitor });
    expect(await screen.findByRole("heading", { name: title })).toBeVisible();
    expect(screen.queryByRole("button", { name: "Open" })).not.toBeInTheDocument();
    await expectAccessible();
  });

  it("lists all possible reasons why it is unavailable", async () => {
    await renderPage(undefined);
    await screen.findByRole("heading", { name: "This can't be opened" });
    expect(screen.getAllByRole("listitem")).toHaveLength(6);
  });

  it("lists the same reasons if the share ends after the preview", async () => {
    const { visitor } = await renderPage(textShare);
    await screen.findByRole("button", { name: "Open" });
    visitor.endShare();
    await clickOpen();
    expect(await screen.findByRole("heading", { name: "This can't be opened" })).toBeVisible();
  });

  it("makes no call for a malformed share id", async () => {
    const { visitor } = await renderPage(textShare, { path: "/shared/..%2fsecrets" });
    expect(await screen.findByRole("heading", { name: "This can't be opened" })).toBeVisible();
    expect(visitor.calls).toEqual([]);
  });

  it("can be retried if the service does not respond", async () => {
    const visitor = createFakeVisitor({ share: textShare });
    visitor.failWith("previewShare", "service_unavailable");
    await renderPage(undefined, { visitor });
    const retryButton = await screen.findByRole("button", { name: "Try again" });
    visitor.failWith("previewShare", null);
    await userEvent.click(retryButton);
    expect(await screen.findByRole("button", { name: "Open" })).toBeVisible();
  });

  it("can be retried if the visitor does not load", async () => {
    await renderPage(undefined, { visitor: Promise.reject(new PortalError("vault_unavailable")) });
    expect(await screen.findByRole("alert")).toBeVisible();
    expect(screen.getByRole("button", { name: "Try again" })).toBeVisible();
  });

  it("is wiped at a lock", async () => {
    const { record } = await renderPage(textShare);
    await clickOpen();
    await userEvent.click(await screen.findByRole("button", { name: "Show" }));
    await act(async () => {
      for (const listener of [...record.lockListeners]) await listener("lock");
    });
    expect(screen.getByRole("heading", { name: "Closed" })).toBeVisible();
    expect(screen.queryByText(phrase)).not.toBeInTheDocument();
    await expectAccessible();
  });

  it("is wiped on close, and leaves no listener behind", async () => {
    const { record, unmount } = await renderPage(textShare);
    await clickOpen();
    await userEvent.click(await screen.findByRole("button", { name: "Close" }));
    expect(screen.getByRole("heading", { name: "Closed" })).toBeVisible();
    unmount();
    expect(record.lockListeners.size).toBe(0);
  });

  it("is reported only by its id", async () => {
    const http = createFakeHttpClient({ "POST /reports/share": () => null });
    await renderPage(textShare, { http });
    await userEvent.click(await screen.findByRole("button", { name: "Report this link" }));
    await expectAccessible();
    await userEvent.click(screen.getByRole("radio", { name: /I did not want it/ }));
    await userEvent.type(screen.getByLabelText(/^Your message/), "spam");
    await userEvent.click(screen.getByRole("button", { name: "Send report" }));
    expect(await screen.findByText("Sent. Thanks for letting us know.")).toBeVisible();
    expect(http.calls.map(({ method, path, body }) => ({ method, path, body }))).toEqual([
      { method: "POST", path: "/reports/share", body: { share_id: shareId, reason: "unwanted", message: "spam" } },
    ]);
  });

  it("shows that a report failed", async () => {
    const http = createFakeHttpClient();
    http.failWith("too_many_requests");
    await renderPage(textShare, { http });
    await userEvent.click(await screen.findByRole("button", { name: "Report this link" }));
    await userEvent.click(screen.getByRole("button", { name: "Send report" }));
    expect(await screen.findByRole("alert")).toBeVisible();
  });
});

describe("protecting a received share", () => {
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

  it("is not offered to a visitor without an account, who gets an invitation", async () => {
    await renderPage(textShare);
    await clickOpen();
    expect(await screen.findByText("Protect your own secrets here")).toBeVisible();
    expect(screen.queryByRole("button", { name: "Protect as my secret" })).not.toBeInTheDocument();
  });

  it("protects the content with the images in use", async () => {
    const { ownVault, settings } = createSignedInSettings({ secrets: [{ title: "Mine", content: "x" }] });
    await renderPage({ ...textShare, audience: "signed_in" }, settings);
    await clickOpen();
    await userEvent.click(await screen.findByRole("button", { name: "Protect as my secret" }));
    await userEvent.click(await screen.findByRole("button", { name: "Protect" }));
    expect(await screen.findByText("Protected. It is now one of your secrets.")).toBeVisible();
    expect(await listTitles(ownVault)).toEqual(["Mine", "Door"]);
    await expectAccessible();
  });

  it("asks for a picture if the vault is locked", async () => {
    const { ownVault, settings } = createSignedInSettings({
      secrets: [{ title: "Mine", content: "x" }],
      unlocked: false,
    });
    await renderPage({ ...textShare, audience: "signed_in" }, settings);
    await clickOpen();
    await userEvent.click(await screen.findByRole("button", { name: "Protect as my secret" }));
    await screen.findByText(/Your secrets are locked on this device/);
    await choosePicture("garden");
    await userEvent.click(screen.getByRole("button", { name: "Protect with this picture" }));
    expect(await screen.findByText("Protected. It is now one of your secrets.")).toBeVisible();
    expect(await listTitles(ownVault)).toEqual(["Mine", "Door"]);
  });

  it("creates the first secret of an empty account, then asks whose device this is", async () => {
    const { ownVault, settings } = createSignedInSettings({});
    await renderPage({ ...textShare, audience: "signed_in" }, settings);
    await clickOpen();
    await userEvent.click(await screen.findByRole("button", { name: "Protect as my secret" }));
    expect(await screen.findByText("You have no secrets here yet")).toBeVisible();
    await choosePicture("garden");
    await userEvent.click(screen.getByRole("button", { name: "Protect with this picture" }));
    expect(await screen.findByText("Protected. It is now one of your secrets.")).toBeVisible();
    expect(await listTitles(ownVault)).toEqual(["Door"]);
    const question = await screen.findByRole("region", { name: "Whose device is this?" });
    await expectAccessible();
    await userEvent.click(within(question).getByRole("button", { name: "My own device" }));
    await waitFor(() => {
      expect(question).not.toBeInTheDocument();
    });
    expect(ownVault.getState()).toEqual({ status: "unlocked", device: "own" });
  });

  it("uses the displayed title for a share without a title", async () => {
    const { ownVault, settings } = createSignedInSettings({ secrets: [{ title: "Mine", content: "x" }] });
    await renderPage({ ...textShare, title: " ", audience: "signed_in" }, settings);
    await clickOpen();
    await userEvent.click(await screen.findByRole("button", { name: "Protect as my secret" }));
    await userEvent.click(await screen.findByRole("button", { name: "Protect" }));
    expect(await screen.findByText("Protected. It is now one of your secrets.")).toBeVisible();
    expect(await listTitles(ownVault)).toEqual(["Mine", "A secret for you"]);
  });

  it("shows a failure, and keeps the opened content", async () => {
    const { ownVault, settings } = createSignedInSettings({ secrets: [{ title: "Mine", content: "x" }] });
    ownVault.failWith("protectOpened", "quota_exceeded");
    await renderPage({ ...textShare, audience: "signed_in" }, settings);
    await clickOpen();
    await userEvent.click(await screen.findByRole("button", { name: "Protect as my secret" }));
    await userEvent.click(await screen.findByRole("button", { name: "Protect" }));
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
  /** The decision about a sender comes after an opener was presented. */
  const openWithGarden = async () => {
    await clickOpen();
    await screen.findByText(/Choose one of your own pictures/);
    await choosePicture("garden");
    await clickOpen();
  };

  it("opens with one's own picture from a known sender", async () => {
    const { vault } = await renderPersonShare({ trust: "compared" });
    await openWithGarden();
    expect(await screen.findByRole("heading", { level: 1, name: "Door" })).toBeVisible();
    expect(screen.getByText("Signed with the keys whose words you compared with them.")).toBeVisible();
    expect(screen.queryByRole("button", { name: "Report this link" })).not.toBeInTheDocument();
    await expectAccessible();
    expect((await vault.received.list())[0]?.viewsLeft).toBe(1);
  });

  it("shows the safety words of an unknown sender, and opens once the sender is accepted", async () => {
    const { vault } = await renderPersonShare();
    await clickOpen();
    await choosePicture("garden");
    await clickOpen();
    expect(await screen.findByText(wholeText("bruno is sharing with you directly for the first time"))).toBeVisible();
    expect(screen.getByText("north-bruno")).toBeVisible();
    expect((await vault.received.list())[0]?.openedAt).toBeNull();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Accept and open" }));
    expect(await screen.findByRole("heading", { level: 1, name: "Door" })).toBeVisible();
    expect((await vault.people.find("bruno")).trust).toBe("known");
  });

  it("can be dismissed, or its sender blocked, without being opened", async () => {
    const { vault } = await renderPersonShare();
    await clickOpen();
    await choosePicture("garden");
    await clickOpen();
    await userEvent.click(await screen.findByRole("button", { name: "Not now" }));
    expect(await screen.findByRole("button", { name: "Open" })).toBeVisible();
    await clickOpen();
    await userEvent.click(await screen.findByRole("button", { name: "Block" }));
    expect(await screen.findByText(wholeText("You blocked bruno"))).toBeVisible();
    expect((await vault.people.find("bruno")).blocked).toBe(true);
    expect((await vault.received.list())[0]?.openedAt).toBeNull();
  });

  it("shows old and new words of changed keys, and opens once the new keys are trusted", async () => {
    const { vault } = await renderPersonShare({ trust: "changed" });
    await openWithGarden();
    expect(await screen.findByRole("alert")).toHaveTextContent("The keys of bruno have changed");
    expect(screen.getByText("before")).toBeVisible();
    expect(screen.getByText("today")).toBeVisible();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "I compared them: use the new keys" }));
    expect(await screen.findByRole("heading", { level: 1, name: "Door" })).toBeVisible();
    expect((await vault.people.find("bruno")).trust).toBe("known");
  });

  it("shows a changed name, and opens once the name is accepted", async () => {
    const { vault } = await renderPersonShare({ trust: "changed", formerName: "bea" });
    await openWithGarden();
    expect(await screen.findByRole("alert")).toHaveTextContent("This account used to be bea");
    expect(screen.queryByRole("list", { name: "New words" })).not.toBeInTheDocument();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "I asked: use the new name" }));
    expect(await screen.findByRole("heading", { level: 1, name: "Door" })).toBeVisible();
    expect(await vault.people.find("bruno")).toMatchObject({ trust: "known", formerName: null });
  });

  it("blocks the account whose words were shown, even if its name has moved", async () => {
    const { vault } = await renderPersonShare({ trust: "changed" });
    await openWithGarden();
    vault.failWith("people.find", "not_found");
    await userEvent.click(await screen.findByRole("button", { name: "Block" }));
    expect(await screen.findByText(wholeText("You blocked bruno"))).toBeVisible();
    expect((await vault.received.list())[0]?.from.blocked).toBe(true);
  });

  it("does not open if the sender is blocked, until the sender is unblocked", async () => {
    await renderPersonShare({ trust: "known", blocked: true });
    await openWithGarden();
    expect(await screen.findByText(wholeText("You blocked bruno"))).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Unblock and continue" }));
    expect(await screen.findByRole("heading", { level: 1, name: "Door" })).toBeVisible();
  });

  it("asks to unlock a locked device, and returns to the share afterwards", async () => {
    const { getLocation } = await renderPersonShare({}, { unlocked: false });
    const unlock = await screen.findByRole("link", { name: "Unlock" });
    expect(unlock).toHaveAttribute("href", `/provide-image-recovery?then=${encodeURIComponent(getLocation())}`);
  });

  it("says that it can no longer be opened after it has ended", async () => {
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

import "fake-indexeddb/auto";

import { moveToTrash } from "../operations/favorite-and-trash.ts";
import { protect } from "../operations/protect.ts";
import { openSmallSecret } from "../operations/open-secret.ts";
import { setDeviceKind } from "../operations/set-device-kind.ts";
import { update } from "../operations/update.ts";
import { findPerson, listPeople, readOwnWords, setBlocked, setCompared } from "../people/people.ts";
import { openReceived, listReceivedShares } from "../received/received-shares.ts";
import { revokeShare, updateShareContent } from "../shares/change-shares.ts";
import { createShare, type CreatedShare, type NewShareRequest } from "../shares/create-share.ts";
import { listSharesOfSecret } from "../shares/list-shares.ts";
import { inspectShare, openShare } from "../shares/open-link.ts";
import { fakePicture } from "../testing/fake-engine.ts";
import { makeShareRequest } from "../testing/sharing-world.ts";
import { makePicture, textSecret } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";
import type { ServicePerson } from "./service-world.ts";
import { dayMs } from "./service/service-under-test.ts";
import { errorWithCode, decodeContent, listTitles, withServiceWorld } from "./service-harness.ts";

const world = withServiceWorld();
const noCredentials = { password: null, picture: null };
const shareUnavailable = errorWithCode("share_unavailable");

let ada: ServicePerson;
let vault: VaultSession;
let secretId: string;
beforeAll(async () => {
  ada = await world().signUp();
  vault = await ada.open();
  ({ secretId } = await protect(vault, textSecret("The door", makePicture("market"), "under the mat"), {}));
  await setDeviceKind(vault, "own");
});

/**
 * Shares a secret. A link's share opens with the secret's picture; a share with a person has an
 * empty link.
 */
async function shareSecret(
  request: Partial<NewShareRequest> = {},
  id = secretId,
): Promise<CreatedShare & { readonly link: string }> {
  const created = await createShare(vault, makeShareRequest(id, request), makePicture("market"), {});
  return { ...created, link: created.link ?? "" };
}

const countViews = async (shareId: string): Promise<number | undefined> =>
  (await listSharesOfSecret(vault, secretId, { includeEnded: true })).find((candidate) => candidate.shareId === shareId)
    ?.views;

describe("a public link", () => {
  it("is previewed without using a view, opens once, and is then refused", async () => {
    const { shareId, link } = await shareSecret({ maxViews: 1 });
    for (let attempt = 0; attempt < 2; attempt++)
      await expect(inspectShare(await world().visit(link), shareId)).resolves.toMatchObject({
        audience: "public",
        from: { userName: ada.userName },
        hasPassword: false,
        hasPicture: false,
        viewsLeft: 1,
      });
    const visitor = await world().visit(link);
    const opened = await openShare(visitor, shareId, noCredentials);
    expect(opened).toMatchObject({
      title: "The door",
      contentKind: "text",
      name: "secret.txt",
      sender: { userName: ada.userName, trust: "says" },
    });
    expect(decodeContent(opened)).toBe("under the mat");
    await expect(openShare(visitor, shareId, noCredentials)).rejects.toEqual(shareUnavailable);
    await expect(inspectShare(await world().visit(link), shareId)).rejects.toEqual(shareUnavailable);
    expect(await countViews(shareId)).toBe(1);
  });

  it("needs its password: a wrong password counts as an attempt, the right password opens the link", async () => {
    const { shareId, link } = await shareSecret({ password: "four words made here" });
    const visitor = await world().visit(link);
    await expect(inspectShare(visitor, shareId)).resolves.toMatchObject({ hasPassword: true });
    await expect(openShare(visitor, shareId, { ...noCredentials, password: "four words made here " })).rejects.toEqual(
      errorWithCode("wrong_password", { tries_left: 9 }),
    );
    expect(
      decodeContent(await openShare(visitor, shareId, { ...noCredentials, password: "four words made here" })),
    ).toBe("under the mat");
    const sentBodies = JSON.stringify((await ada.httpOn()).bodies);
    for (const secret of ["four words", "under the mat", "The door", link.split("#s=")[1] ?? ""])
      expect(sentBodies).not.toContain(secret);
  });

  it("needs its picture: a wrong picture uses no view, a copy of the right picture opens the link", async () => {
    const { shareId, link } = await shareSecret({ picture: fakePicture("boat"), maxViews: 1 });
    const visitor = await world().visit(link);
    await expect(openShare(visitor, shareId, { ...noCredentials, picture: fakePicture("sunset") })).rejects.toEqual(
      errorWithCode("not_this_picture"),
    );
    expect(await countViews(shareId)).toBe(0);
    expect(
      decodeContent(await openShare(visitor, shareId, { ...noCredentials, picture: fakePicture("boat/small") })),
    ).toBe("under the mat");
  });

  it("after its revocation, stays open on pages where it is open already, and opens nowhere else", async () => {
    const { shareId, link } = await shareSecret();
    const opened = await openShare(await world().visit(link), shareId, noCredentials);
    const otherVisitor = await world().visit(link);
    await inspectShare(otherVisitor, shareId);
    await revokeShare(vault, shareId);
    expect(decodeContent(opened)).toBe("under the mat");
    await expect(openShare(otherVisitor, shareId, noCredentials)).rejects.toEqual(shareUnavailable);
    expect(
      (await listSharesOfSecret(vault, secretId, { includeEnded: true })).find(
        (candidate) => candidate.shareId === shareId,
      ),
    ).toMatchObject({ state: "revoked", discrepancy: null });
  });

  it("after its expiry, stays open on pages where it is open already, and opens nowhere else", async () => {
    const { shareId, link } = await shareSecret();
    const opened = await openShare(await world().visit(link), shareId, noCredentials);
    world().setClockOffset(7 * dayMs);
    expect(decodeContent(opened)).toBe("under the mat");
    await expect(openShare(await world().visit(link), shareId, noCredentials)).rejects.toEqual(shareUnavailable);
    await expect(inspectShare(await world().visit(link), shareId)).rejects.toEqual(shareUnavailable);
  });

  it("that never existed is refused like an ended link; trashing the secret ends the link", async () => {
    const unknownLink = `/shared/abcdefghijklmnopqrstuA#s=${"A".repeat(43)}`;
    await expect(inspectShare(await world().visit(unknownLink), "abcdefghijklmnopqrstuA")).rejects.toEqual(
      shareUnavailable,
    );
    const { secretId: otherId } = await protect(vault, textSecret("Other"), {});
    const { shareId, link } = await shareSecret({}, otherId);
    await moveToTrash(vault, otherId);
    await expect(inspectShare(await world().visit(link), shareId)).rejects.toEqual(shareUnavailable);
  });
});

describe("a link for signed-in people", () => {
  it("opens for a user who has just signed up, and who protects the content with another picture", async () => {
    const { shareId, link } = await shareSecret({ to: { audience: "signed_in" } });
    await expect(openShare(await world().visit(link), shareId, noCredentials)).rejects.toEqual(
      errorWithCode("unauthorized"),
    );
    const friend = await world().signUp();
    const opened = await openShare(await world().visit(link, friend), shareId, noCredentials);
    expect(decodeContent(opened)).toBe("under the mat");
    const friendsVault = await friend.open();
    expect(await listTitles(friendsVault)).toEqual([]);
    const { secretId: copyId } = await protect(
      friendsVault,
      { ...textSecret(opened.title, makePicture("harbour")), content: new Blob([opened.content ?? new Uint8Array()]) },
      {},
    );
    expect(await listTitles(friendsVault)).toEqual(["The door"]);
    expect(decodeContent(await openSmallSecret(friendsVault, copyId, makePicture("harbour"), {}))).toBe(
      "under the mat",
    );
    expect(await listReceivedShares(friendsVault)).toMatchObject([
      {
        shareId,
        audience: "signed_in",
        from: { userName: ada.userName },
        openedAt: expect.any(String) as string,
        available: true,
      },
    ]);
  });
});

describe("a share with one person", () => {
  it("is listed, opens after the sender is accepted, shows updates, and is refused after a block", async () => {
    const ben = await world().signUp();
    const bensVault = await ben.open();
    await protect(bensVault, textSecret("Ben's own", makePicture("harbour")), {});
    const { shareId } = await shareSecret({
      to: { audience: "person", person: await findPerson(vault, ben.userName) },
      maxViews: 5,
    });
    expect(await listReceivedShares(bensVault)).toMatchObject([
      {
        shareId,
        audience: "person",
        from: { userName: ada.userName, trust: "unknown", blocked: false },
        openedAt: null,
        viewsLeft: 5,
        available: true,
      },
    ]);
    await expect(inspectShare(await world().visit(null, await world().signUp()), shareId)).rejects.toEqual(
      shareUnavailable,
    );

    const reloadedVault = await ben.open("laptop", { locked: true });
    await expect(openReceived(reloadedVault, shareId, null)).rejects.toEqual(errorWithCode("vault_locked"));
    const { safetyWords } = await readOwnWords(vault);
    await expect(openReceived(reloadedVault, shareId, makePicture("harbour"))).rejects.toEqual(
      errorWithCode("person_unknown", { user_id: ada.userId, user_name: ada.userName, words: safetyWords }),
    );
    expect(await countViews(shareId)).toBe(0);
    const opened = await openReceived(bensVault, shareId, null, { acceptedWords: safetyWords });
    expect(decodeContent(opened)).toBe("under the mat");
    expect(opened).toMatchObject({
      title: "The door",
      sender: { userName: ada.userName, trust: "known", safetyWords },
    });
    expect(await listReceivedShares(bensVault)).toMatchObject([
      { openedAt: expect.any(String) as string, viewsLeft: 4, from: { trust: "known" } },
    ]);

    await update(vault, secretId, { baseVersion: 1, content: textSecret("The door", undefined, "in the garden") }, {});
    await updateShareContent(vault, shareId, makePicture("market"));
    expect(decodeContent(await openReceived(bensVault, shareId, null))).toBe("in the garden");

    await setCompared(bensVault, ada.userId, true);
    expect(await listPeople(bensVault)).toMatchObject([
      { userName: ada.userName, safetyWords, trust: "compared", blocked: false },
    ]);
    await setBlocked(bensVault, { userId: ada.userId, userName: ada.userName, safetyWords }, true);
    const views = await countViews(shareId);
    await expect(openReceived(bensVault, shareId, null)).rejects.toEqual(
      errorWithCode("person_blocked", { user_id: ada.userId, user_name: ada.userName, words: safetyWords }),
    );
    expect(await countViews(shareId)).toBe(views);
    await setBlocked(bensVault, { userId: ada.userId, userName: ada.userName, safetyWords }, false);
    await revokeShare(vault, shareId);
    await expect(openReceived(bensVault, shareId, null)).rejects.toEqual(shareUnavailable);
    expect(await listReceivedShares(bensVault)).toEqual([]);
    expect(await listReceivedShares(bensVault, { includeEnded: true })).toMatchObject([{ shareId, available: false }]);
  });
});

import "fake-indexeddb/auto";

import { trash } from "../acts/favorite-and-trash.ts";
import { protect } from "../acts/protect.ts";
import { recover } from "../acts/recover.ts";
import { answerDevice } from "../acts/unlock.ts";
import { update } from "../acts/update.ts";
import { findPerson, listPeople, ownWords, setBlocked, setCompared } from "../people/people.ts";
import { openReceived, receivedShares } from "../received/received-shares.ts";
import { revokeShare, updateShareContent } from "../shares/change-shares.ts";
import { createShare, type CreatedShare, type NewShareRequest } from "../shares/create-share.ts";
import { sharesOfSecret } from "../shares/list-shares.ts";
import { lookAtShare, openShare } from "../shares/open-link.ts";
import { fakePicture } from "../testing/fake-engine.ts";
import { aShare } from "../testing/sharing-world.ts";
import { shown, textSecret } from "../testing/world.ts";
import type { VaultContext } from "../vault-context.ts";
import type { PersonOfService } from "./service-world.ts";
import { day } from "./service/under-test.ts";
import { code, plain, titles, withServiceWorld } from "./story.ts";

const world = withServiceWorld();
const nothing = { password: null, picture: null };
const unavailable = code("share_unavailable");

let ada: PersonOfService;
let vault: VaultContext;
let secretId: string;
beforeAll(async () => {
  ada = await world().signUp();
  vault = await ada.open();
  ({ secretId } = await protect(vault, textSecret("The door", shown("market"), "under the mat"), {}));
  await answerDevice(vault, "own");
});

/** Shares it by the picture; a link is there for everybody but a person. */
async function share(
  request: Partial<NewShareRequest> = {},
  id = secretId,
): Promise<CreatedShare & { readonly link: string }> {
  const made = await createShare(vault, aShare(id, request), shown("market"), {});
  return { ...made, link: made.link ?? "" };
}

const viewsOf = async (shareId: string): Promise<number | undefined> =>
  (await sharesOfSecret(vault, secretId, { ended: true })).find((one) => one.shareId === shareId)?.views;

describe("a public link", () => {
  it("is looked at without cost, opens once for its one view, and then for nobody", async () => {
    const { shareId, link } = await share({ maxViews: 1 });
    for (let look = 0; look < 2; look++)
      await expect(lookAtShare(await world().visit(link), shareId)).resolves.toMatchObject({
        audience: "public",
        from: { userName: ada.userName },
        password: false,
        picture: false,
        viewsLeft: 1,
      });
    const visitor = await world().visit(link);
    const opened = await openShare(visitor, shareId, nothing);
    expect(opened).toMatchObject({
      title: "The door",
      contentKind: "text",
      name: "secret.txt",
      sender: { userName: ada.userName, standing: "says" },
    });
    expect(plain(opened)).toBe("under the mat");
    await expect(openShare(visitor, shareId, nothing)).rejects.toEqual(unavailable);
    await expect(lookAtShare(await world().visit(link), shareId)).rejects.toEqual(unavailable);
    expect(await viewsOf(shareId)).toBe(1);
  });

  it("takes a password into its key: a wrong one counts, the right one opens", async () => {
    const { shareId, link } = await share({ password: "four words made here" });
    const visitor = await world().visit(link);
    await expect(lookAtShare(visitor, shareId)).resolves.toMatchObject({ password: true });
    await expect(openShare(visitor, shareId, { ...nothing, password: "four words made here " })).rejects.toEqual(
      code("wrong_password", { tries_left: 9 }),
    );
    expect(plain(await openShare(visitor, shareId, { ...nothing, password: "four words made here" }))).toBe(
      "under the mat",
    );
    const sent = JSON.stringify((await ada.on()).bodies);
    for (const secret of ["four words", "under the mat", "The door", link.split("#s=")[1] ?? ""])
      expect(sent).not.toContain(secret);
  });

  it("takes a picture of its own: a wrong one costs nothing, a copy opens", async () => {
    const { shareId, link } = await share({ picture: fakePicture("boat"), maxViews: 1 });
    const visitor = await world().visit(link);
    await expect(openShare(visitor, shareId, { ...nothing, picture: fakePicture("sunset") })).rejects.toEqual(
      code("not_this_picture"),
    );
    expect(await viewsOf(shareId)).toBe(0);
    expect(plain(await openShare(visitor, shareId, { ...nothing, picture: fakePicture("boat/small") }))).toBe(
      "under the mat",
    );
  });

  it("that is taken back while it is open stays open there, and opens for nobody any more", async () => {
    const { shareId, link } = await share();
    const opened = await openShare(await world().visit(link), shareId, nothing);
    const other = await world().visit(link);
    await lookAtShare(other, shareId);
    await revokeShare(vault, shareId);
    expect(plain(opened)).toBe("under the mat");
    await expect(openShare(other, shareId, nothing)).rejects.toEqual(unavailable);
    expect(
      (await sharesOfSecret(vault, secretId, { ended: true })).find((one) => one.shareId === shareId),
    ).toMatchObject({ state: "revoked", doubt: null });
  });

  it("whose time is over while it is open opens for nobody any more", async () => {
    const { shareId, link } = await share();
    const opened = await openShare(await world().visit(link), shareId, nothing);
    world().goAhead(7 * day);
    expect(plain(opened)).toBe("under the mat");
    await expect(openShare(await world().visit(link), shareId, nothing)).rejects.toEqual(unavailable);
    await expect(lookAtShare(await world().visit(link), shareId)).rejects.toEqual(unavailable);
  });

  it("that never was says the same as one that ended, and its secret's trash ends it", async () => {
    const never = `/shared/abcdefghijklmnopqrstuA#s=${"A".repeat(43)}`;
    await expect(lookAtShare(await world().visit(never), "abcdefghijklmnopqrstuA")).rejects.toEqual(unavailable);
    const { secretId: other } = await protect(vault, textSecret("Other"), {});
    const { shareId, link } = await share({}, other);
    await trash(vault, other);
    await expect(lookAtShare(await world().visit(link), shareId)).rejects.toEqual(unavailable);
  });
});

describe("a link for signed-in people", () => {
  it("opens for somebody who signed up on the way, who keeps it with a picture of their own", async () => {
    const { shareId, link } = await share({ to: { audience: "signed_in" } });
    await expect(openShare(await world().visit(link), shareId, nothing)).rejects.toEqual(code("unauthorized"));
    const friend = await world().signUp();
    const opened = await openShare(await world().visit(link, friend), shareId, nothing);
    expect(plain(opened)).toBe("under the mat");
    const mailbox = await friend.open();
    expect(await titles(mailbox)).toEqual([]);
    const { secretId: kept } = await protect(
      mailbox,
      { ...textSecret(opened.title, shown("harbour")), content: new Blob([opened.content ?? new Uint8Array()]) },
      {},
    );
    expect(await titles(mailbox)).toEqual(["The door"]);
    expect(plain(await recover(mailbox, kept, shown("harbour"), {}))).toBe("under the mat");
    expect(await receivedShares(mailbox)).toMatchObject([
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
  it("is listed for them, opens once its sender is accepted, shows updates, and a block stops the next", async () => {
    const ben = await world().signUp();
    const bens = await ben.open();
    await protect(bens, textSecret("Ben's own", shown("harbour")), {});
    const { shareId } = await share({
      to: { audience: "person", person: await findPerson(vault, ben.userName) },
      maxViews: 5,
    });
    expect(await receivedShares(bens)).toMatchObject([
      {
        shareId,
        audience: "person",
        from: { userName: ada.userName, standing: "unknown", blocked: false },
        openedAt: null,
        viewsLeft: 5,
        available: true,
      },
    ]);
    await expect(lookAtShare(await world().visit(null, await world().signUp()), shareId)).rejects.toEqual(unavailable);

    const reloaded = await ben.open("laptop", { locked: true });
    await expect(openReceived(reloaded, shareId, null)).rejects.toEqual(code("vault_locked"));
    const { words } = await ownWords(vault);
    await expect(openReceived(reloaded, shareId, shown("harbour"))).rejects.toEqual(
      code("person_unknown", { user_id: ada.userId, user_name: ada.userName, words }),
    );
    expect(await viewsOf(shareId)).toBe(0);
    const opened = await openReceived(bens, shareId, null, { accept: words });
    expect(plain(opened)).toBe("under the mat");
    expect(opened).toMatchObject({ title: "The door", sender: { userName: ada.userName, standing: "known", words } });
    expect(await receivedShares(bens)).toMatchObject([
      { openedAt: expect.any(String) as string, viewsLeft: 4, from: { standing: "known" } },
    ]);

    await update(vault, secretId, { baseVersion: 1, content: textSecret("The door", undefined, "in the garden") }, {});
    await updateShareContent(vault, shareId, shown("market"));
    expect(plain(await openReceived(bens, shareId, null))).toBe("in the garden");

    await setCompared(bens, ada.userId, true);
    expect(await listPeople(bens)).toMatchObject([
      { userName: ada.userName, words, standing: "compared", blocked: false },
    ]);
    await setBlocked(bens, { userId: ada.userId, userName: ada.userName, words }, true);
    const views = await viewsOf(shareId);
    await expect(openReceived(bens, shareId, null)).rejects.toEqual(
      code("person_blocked", { user_id: ada.userId, user_name: ada.userName, words }),
    );
    expect(await viewsOf(shareId)).toBe(views);
    await setBlocked(bens, { userId: ada.userId, userName: ada.userName, words }, false);
    await revokeShare(vault, shareId);
    await expect(openReceived(bens, shareId, null)).rejects.toEqual(unavailable);
    expect(await receivedShares(bens)).toEqual([]);
    expect(await receivedShares(bens, { ended: true })).toMatchObject([{ shareId, available: false }]);
  });
});

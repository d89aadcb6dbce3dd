import { PortalError } from "@relicario/shared/errors";

import { update } from "../acts/update.ts";
import { findPerson, listPeople, ownWords, pinPerson, setBlocked, setCompared } from "../people/people.ts";
import { lookAtShare } from "../shares/open-link.ts";
import { updateShareContent } from "../shares/change-shares.ts";
import { byMarket, codeOf, createSharingWorld, textOf, type SharingWorld } from "../testing/sharing-world.ts";
import { shown } from "../testing/world.ts";
import { openReceived, receivedShares } from "./received-shares.ts";

let world: SharingWorld;
let shareId: string;
beforeEach(async () => {
  world = await createSharingWorld();
  shareId = await world.shareWithBen();
});

describe("what somebody shared with me", () => {
  it("is listed, and opens with my keys once its sender is accepted", async () => {
    const { bensVault } = world;
    await expect(receivedShares(bensVault)).resolves.toMatchObject([
      { shareId, from: { userName: "Ada", standing: "unknown", blocked: false }, openedAt: null, available: true },
    ]);
    const { words } = await ownWords(world.adasVault);
    await expect(openReceived(bensVault, shareId, null)).rejects.toMatchObject({
      code: "person_unknown",
      details: { user_id: world.adasVault.userId, user_name: "Ada", words },
    });
    expect(await codeOf(openReceived(bensVault, shareId, null, { accept: words.toReversed() }))).toBe("person_unknown");
    expect(world.stored(shareId).claims.size).toBe(0);
    const opened = await openReceived(bensVault, shareId, null, { accept: words });
    expect(opened).toMatchObject({
      title: "First",
      name: "secret.txt",
      sender: { userName: "Ada", standing: "known", words },
    });
    expect(textOf(opened.content)).toBe("content of First");
    await expect(listPeople(bensVault)).resolves.toMatchObject([{ userName: "Ada", words, standing: "known" }]);
    await expect(receivedShares(bensVault)).resolves.toMatchObject([{ from: { standing: "known" } }]);
  });

  it("takes an opener where none was shown since load or lock, and one view in all when the first try is lost", async () => {
    const again = await world.ben.open("phone");
    expect(await codeOf(openReceived(again, shareId, null))).toBe("vault_locked");
    let lost = 0;
    world.ben.service.answer = (call, answer) => {
      if (call === "POST /share/content" && lost++ === 0) throw new PortalError("offline");
      return answer;
    };
    expect(
      await codeOf(openReceived(again, shareId, shown("harbour"), { accept: (await ownWords(world.adasVault)).words })),
    ).toBe("offline");
    expect(textOf((await openReceived(again, shareId, null)).content)).toBe("content of First");
    expect(world.stored(shareId).claims.size).toBe(1);
  });

  it("shows an update to whoever has it, and nobody's who blocked the sender", async () => {
    const { adasVault, bensVault } = world;
    await pinPerson(bensVault, await findPerson(bensVault, "Ada"));
    await openReceived(bensVault, shareId, null);
    await update(adasVault, world.secretId, {
      baseVersion: 1,
      content: { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["new words"]) },
    });
    await updateShareContent(adasVault, shareId, byMarket);
    expect(textOf((await openReceived(bensVault, shareId, null)).content)).toBe("new words");
    const [{ userId, words } = { userId: "", words: [""] }] = await listPeople(bensVault);
    await setBlocked(bensVault, { userId, userName: "Ada", words }, true);
    const before = world.stored(shareId).claims.size;
    await expect(openReceived(bensVault, shareId, null)).rejects.toMatchObject({
      code: "person_blocked",
      details: { user_id: userId, user_name: "Ada", words },
    });
    expect(world.stored(shareId).claims.size).toBe(before);
  });

  it("can have its sender blocked who is not known yet, and unblocked", async () => {
    const { bensVault } = world;
    const { userName, words } = await ownWords(world.adasVault);
    const sender = { userId: world.adasVault.userId, userName, words };
    expect(await codeOf(setBlocked(bensVault, { ...sender, words: words.toReversed() }, true))).toBe("person_changed");
    expect(await codeOf(setBlocked(bensVault, sender, false))).toBe("not_found");
    await expect(listPeople(bensVault)).resolves.toEqual([]);
    await setBlocked(bensVault, sender, true);
    await expect(listPeople(bensVault)).resolves.toMatchObject([{ ...sender, blocked: true }]);
    await expect(receivedShares(bensVault)).resolves.toMatchObject([{ from: { blocked: true } }]);
    expect(await codeOf(openReceived(bensVault, shareId, null, { accept: words }))).toBe("person_blocked");
    expect(world.stored(shareId).claims.size).toBe(0);
    await setBlocked(bensVault, sender, false);
    expect(textOf((await openReceived(bensVault, shareId, null)).content)).toBe("content of First");
  });
});

describe("the address of a person's share", () => {
  it("says who sent it to the one that it is for, and opens nothing for others", async () => {
    await expect(lookAtShare(world.visit(null, world.ben), shareId)).resolves.toMatchObject({
      audience: "person",
      from: { userName: "Ada" },
    });
    const { link } = await world.share({});
    // in the tab of another link
    await expect(lookAtShare(world.visit(link, world.ben), shareId)).resolves.toMatchObject({ audience: "person" });
    expect(await codeOf(lookAtShare(world.visit(null, world.ada), shareId))).toBe("share_unavailable");
    expect(await codeOf(lookAtShare(world.visit(null), shareId))).toBe("link_incomplete");
    expect(world.stored(shareId).claims.size).toBe(0);
  });
});

describe("people", () => {
  it("are pinned with the first share, and marked as compared without an opener; `inner` is carried over byte for byte", async () => {
    const { adasVault, ada } = world;
    const ben = await findPerson(adasVault, "ben");
    expect(ben).toMatchObject({ userName: "ben", standing: "known", formerWords: null, blocked: false });
    expect(ben.words).toEqual((await ownWords(world.bensVault)).words);
    expect(ben.words).toHaveLength(8);
    const own = await ada.open();
    expect(own.accountKey).toBeNull();
    const again = await ada.open("desk");
    expect(await codeOf(setCompared(again, ben.userId, true))).toBe("vault_locked");
    await setCompared(adasVault, ben.userId, true);
    await expect(findPerson(adasVault, "Ben")).resolves.toMatchObject({ standing: "compared" });
    await expect(pinPerson(adasVault, ben)).resolves.toBeUndefined(); // the same keys stay compared
    await expect(listPeople(adasVault)).resolves.toMatchObject([{ standing: "compared" }]);
    expect(await codeOf(setBlocked(adasVault, { ...ben, userId: world.secretId }, true))).toBe("person_changed");
  });

  it("are not found under a name that nobody has, or that is none", async () => {
    for (const name of ["nobody", "../me", "ñandú"])
      expect(await codeOf(findPerson(world.adasVault, name))).toBe("not_found");
  });
});

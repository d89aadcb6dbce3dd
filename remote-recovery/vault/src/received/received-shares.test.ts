import { PortalError } from "@relicario/shared/errors";

import { update } from "../operations/update.ts";
import { findPerson, listPeople, readOwnWords, pinPerson, setBlocked, setCompared } from "../people/people.ts";
import { inspectShare } from "../shares/open-link.ts";
import { updateShareContent } from "../shares/change-shares.ts";
import {
  marketPicture,
  readErrorCode,
  createSharingWorld,
  decodeText,
  type SharingWorld,
} from "../testing/sharing-world.ts";
import { makePicture } from "../testing/world.ts";
import { openReceived, listReceivedShares } from "./received-shares.ts";

let world: SharingWorld;
let shareId: string;
beforeEach(async () => {
  world = await createSharingWorld();
  shareId = await world.shareWithBen();
});

describe("a received share", () => {
  it("is listed, and opens with the recipient's keys after its sender is accepted", async () => {
    const { bensVault } = world;
    await expect(listReceivedShares(bensVault)).resolves.toMatchObject([
      { shareId, from: { userName: "Ada", trust: "unknown", blocked: false }, openedAt: null, available: true },
    ]);
    const { safetyWords } = await readOwnWords(world.adasVault);
    await expect(openReceived(bensVault, shareId, null)).rejects.toMatchObject({
      code: "person_unknown",
      details: { user_id: world.adasVault.userId, user_name: "Ada", words: safetyWords },
    });
    expect(
      await readErrorCode(openReceived(bensVault, shareId, null, { acceptedWords: safetyWords.toReversed() })),
    ).toBe("person_unknown");
    expect(world.requireStoredShare(shareId).claims.size).toBe(0);
    const openedShare = await openReceived(bensVault, shareId, null, { acceptedWords: safetyWords });
    expect(openedShare).toMatchObject({
      title: "First",
      name: "secret.txt",
      sender: { userName: "Ada", trust: "known", safetyWords },
    });
    expect(decodeText(openedShare.content)).toBe("content of First");
    await expect(listPeople(bensVault)).resolves.toMatchObject([{ userName: "Ada", safetyWords, trust: "known" }]);
    await expect(listReceivedShares(bensVault)).resolves.toMatchObject([{ from: { trust: "known" } }]);
  });

  it("needs an opener if none was presented since load, and costs one view when an attempt is lost", async () => {
    const phone = await world.ben.open("phone");
    expect(await readErrorCode(openReceived(phone, shareId, null))).toBe("vault_locked");
    let failedCalls = 0;
    world.ben.service.transformResponse = (call, response) => {
      if (call === "POST /share/content" && failedCalls++ === 0) throw new PortalError("offline");
      return response;
    };
    expect(
      await readErrorCode(
        openReceived(phone, shareId, makePicture("harbour"), {
          acceptedWords: (await readOwnWords(world.adasVault)).safetyWords,
        }),
      ),
    ).toBe("offline");
    expect(decodeText((await openReceived(phone, shareId, null)).content)).toBe("content of First");
    expect(world.requireStoredShare(shareId).claims.size).toBe(1);
  });

  it("shows an update, and nothing after its sender is blocked", async () => {
    const { adasVault, bensVault } = world;
    await pinPerson(bensVault, await findPerson(bensVault, "Ada"));
    await openReceived(bensVault, shareId, null);
    await update(adasVault, world.secretId, {
      baseVersion: 1,
      content: { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["new words"]) },
    });
    await updateShareContent(adasVault, shareId, marketPicture);
    expect(decodeText((await openReceived(bensVault, shareId, null)).content)).toBe("new words");
    const [{ userId, safetyWords } = { userId: "", safetyWords: [""] }] = await listPeople(bensVault);
    await setBlocked(bensVault, { userId, userName: "Ada", safetyWords }, true);
    const claimCountBefore = world.requireStoredShare(shareId).claims.size;
    await expect(openReceived(bensVault, shareId, null)).rejects.toMatchObject({
      code: "person_blocked",
      details: { user_id: userId, user_name: "Ada", words: safetyWords },
    });
    expect(world.requireStoredShare(shareId).claims.size).toBe(claimCountBefore);
  });

  it("lets an unknown sender be blocked and unblocked", async () => {
    const { bensVault } = world;
    const { userName, safetyWords } = await readOwnWords(world.adasVault);
    const sender = { userId: world.adasVault.userId, userName, safetyWords };
    expect(await readErrorCode(setBlocked(bensVault, { ...sender, safetyWords: safetyWords.toReversed() }, true))).toBe(
      "person_changed",
    );
    expect(await readErrorCode(setBlocked(bensVault, sender, false))).toBe("not_found");
    await expect(listPeople(bensVault)).resolves.toEqual([]);
    await setBlocked(bensVault, sender, true);
    await expect(listPeople(bensVault)).resolves.toMatchObject([{ ...sender, blocked: true }]);
    await expect(listReceivedShares(bensVault)).resolves.toMatchObject([{ from: { blocked: true } }]);
    expect(await readErrorCode(openReceived(bensVault, shareId, null, { acceptedWords: safetyWords }))).toBe(
      "person_blocked",
    );
    expect(world.requireStoredShare(shareId).claims.size).toBe(0);
    await setBlocked(bensVault, sender, false);
    expect(decodeText((await openReceived(bensVault, shareId, null)).content)).toBe("content of First");
  });
});

describe("the URL of a person's share", () => {
  it("tells its recipient who sent the share, and tells others nothing", async () => {
    await expect(inspectShare(world.visit(null, world.ben), shareId)).resolves.toMatchObject({
      audience: "person",
      from: { userName: "Ada" },
    });
    const { link } = await world.share({});
    // in the tab of another link
    await expect(inspectShare(world.visit(link, world.ben), shareId)).resolves.toMatchObject({ audience: "person" });
    expect(await readErrorCode(inspectShare(world.visit(null, world.ada), shareId))).toBe("share_unavailable");
    expect(await readErrorCode(inspectShare(world.visit(null), shareId))).toBe("link_incomplete");
    expect(world.requireStoredShare(shareId).claims.size).toBe(0);
  });
});

describe("people", () => {
  it("are pinned with the first share, and marked as compared without an opener", async () => {
    const { adasVault, ada } = world;
    const ben = await findPerson(adasVault, "ben");
    expect(ben).toMatchObject({ userName: "ben", trust: "known", formerSafetyWords: null, blocked: false });
    expect(ben.safetyWords).toEqual((await readOwnWords(world.bensVault)).safetyWords);
    expect(ben.safetyWords).toHaveLength(8);
    const reloaded = await ada.open();
    expect(reloaded.accountKey).toBeNull();
    const desk = await ada.open("desk");
    expect(await readErrorCode(setCompared(desk, ben.userId, true))).toBe("vault_locked");
    await setCompared(adasVault, ben.userId, true);
    await expect(findPerson(adasVault, "Ben")).resolves.toMatchObject({ trust: "compared" });
    await expect(pinPerson(adasVault, ben)).resolves.toBeUndefined(); // the same keys stay compared
    await expect(listPeople(adasVault)).resolves.toMatchObject([{ trust: "compared" }]);
    expect(await readErrorCode(setBlocked(adasVault, { ...ben, userId: world.secretId }, true))).toBe("person_changed");
  });

  it("are not found under an unused or invalid name", async () => {
    for (const name of ["nobody", "../me", "ñandú"])
      expect(await readErrorCode(findPerson(world.adasVault, name))).toBe("not_found");
  });
});

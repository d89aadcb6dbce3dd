import { toB64u } from "@relicario/shared/api";

import { restore, trash } from "../acts/favorite-and-trash.ts";
import { purge } from "../acts/purge.ts";
import { update } from "../acts/update.ts";
import { removeVersions } from "../acts/versions.ts";
import { revokeShare, showShareLink, updateShareContent } from "../shares/change-shares.ts";
import { allShares, sharesOfSecret } from "../shares/list-shares.ts";
import { byMarket, codeOf, createSharingWorld, type SharingWorld } from "../testing/sharing-world.ts";

/*
 * What the service says of an account's shares against what the account signed: what is hidden,
 * revoked by nobody, still served, changed or made up is told with the share.
 */

let world: SharingWorld;
let shareId: string;
beforeEach(async () => {
  world = await createSharingWorld({ bensAccount: false });
  ({ shareId } = await world.share({ maxViews: 5 }));
});

const listed = (): ReturnType<typeof sharesOfSecret> =>
  sharesOfSecret(world.adasVault, world.secretId, { ended: true });

/** Changes what the service lists. */
function sayList(change: (shares: readonly Record<string, unknown>[]) => unknown[]): void {
  world.ada.service.answer = (call, answer) =>
    call.startsWith("GET /sharelist/")
      ? { shares: change((answer as { shares: Record<string, unknown>[] }).shares) }
      : answer;
}

describe("the list of shares", () => {
  it("is believed where it says what was signed", async () => {
    await expect(listed()).resolves.toMatchObject([
      { shareId, state: "live", doubt: null, views: 0, maxViews: 5, outdated: false },
    ]);
  });

  it.each<[string, (shares: readonly Record<string, unknown>[]) => unknown[], object]>([
    ["hides one", () => [], { doubt: "hidden" }],
    [
      "says that one is revoked that is not",
      (shares) => shares.map((share) => ({ ...share, end: "revoked" })),
      { doubt: "not_revoked_here" },
    ],
    [
      "says that it is expired before its time",
      (shares) => shares.map((share) => ({ ...share, end: "expired" })),
      { doubt: "changed" },
    ],
    [
      "serves it longer than was signed",
      (shares) => shares.map((share) => ({ ...share, expires_at: "2030-01-01T00:00:00.000Z" })),
      { doubt: "changed" },
    ],
    ["serves another version", (shares) => shares.map((share) => ({ ...share, version: 2 })), { doubt: "changed" }],
    [
      "gives another ticket for it",
      (shares) => shares.map((share) => ({ ...share, ticket_sha256: "A".repeat(43) })),
      { doubt: "changed" },
    ],
    [
      "serves it to others than was signed",
      (shares) => shares.map((share) => ({ ...share, audience: "signed_in" })),
      { doubt: "changed" },
    ],
  ])("is doubted where it %s", async (_what, change, expected) => {
    sayList(change);
    await expect(listed()).resolves.toMatchObject([{ shareId, ...expected }]);
  });

  it("is doubted once the ticket of a link was swapped, and its link is not shown again", async () => {
    world.stored(shareId).ticket = toB64u(new Uint8Array(400).fill(7));
    await expect(listed()).resolves.toMatchObject([{ shareId, doubt: "changed" }]);
    expect(await codeOf(showShareLink(world.adasVault, shareId, null))).toBe("decryption_failed");
  });

  it("is believed after an update, and doubted where the service goes on with the ticket from before it", async () => {
    const before = world.stored(shareId).ticket;
    await update(world.adasVault, world.secretId, {
      baseVersion: 1,
      content: { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["new words"]) },
    });
    await updateShareContent(world.adasVault, shareId, byMarket);
    await expect(listed()).resolves.toMatchObject([{ shareId, version: 2, doubt: null }]);
    world.stored(shareId).ticket = before;
    await expect(listed()).resolves.toMatchObject([{ shareId, doubt: "changed" }]);
  });

  it("is doubted where it names one that nobody signed", async () => {
    const made = "AAAAAAAAAAAAAAAAAAAAAA";
    sayList((shares) => [...shares, { ...shares[0], share_id: made }]);
    expect((await listed()).find((share) => share.shareId === made)).toMatchObject({ doubt: "unknown" });
  });

  it("is rid of what nobody signed when that is revoked", async () => {
    const made = "AAAAAAAAAAAAAAAAAAAAAA";
    world.sharing.shares.set(made, { ...world.stored(shareId), claims: new Set(), openedBy: new Set() });
    sayList((shares) => shares.map((share, index) => (index === 0 ? share : { ...share, share_id: made })));
    expect(
      (await sharesOfSecret(world.adasVault, world.secretId)).find((share) => share.shareId === made),
    ).toMatchObject({ state: "live", doubt: "unknown" });
    await revokeShare(world.adasVault, made);
    expect(world.stored(made).revoked).toBe(true);
    expect(world.stored(shareId).revoked).toBe(false);
    expect(await codeOf(revokeShare(world.adasVault, "../user/me"))).toBe("not_found");
  });

  it("is believed again once what the service ended by itself is revoked here, too", async () => {
    world.stored(shareId).revoked = true;
    await expect(listed()).resolves.toMatchObject([{ doubt: "not_revoked_here" }]);
    await revokeShare(world.adasVault, shareId);
    await expect(listed()).resolves.toMatchObject([{ state: "revoked", doubt: null }]);
  });

  it("is doubted where a revoked one is still served", async () => {
    await revokeShare(world.adasVault, shareId);
    await expect(listed()).resolves.toMatchObject([{ state: "revoked", doubt: null }]);
    world.stored(shareId).revoked = false;
    await expect(listed()).resolves.toMatchObject([{ state: "revoked", doubt: "still_served" }]);
  });

  it("is read a second time before it is doubted", async () => {
    let readings = 0;
    sayList((shares) => (readings++ === 0 ? [] : [...shares]));
    await expect(listed()).resolves.toMatchObject([{ doubt: null }]);
  });
});

describe("what ends a share", () => {
  it("is marked in the sealed document: the trash, for good", async () => {
    await trash(world.adasVault, world.secretId);
    const [mark] = await allShares(world.adasVault);
    expect(mark?.revokedAt).not.toBeNull();
    await expect(listed()).resolves.toMatchObject([{ state: "revoked", doubt: null }]);
    await restore(world.adasVault, world.secretId);
    await expect(listed()).resolves.toMatchObject([{ state: "revoked", doubt: null }]);
  });

  it("is no alarm after a locked device moved the secret to the trash, and back", async () => {
    const phone = await world.ada.open("phone");
    await trash(phone, world.secretId);
    expect(phone.keys).toBeNull();
    await expect(listed()).resolves.toMatchObject([{ state: "ended", doubt: null }]);
    await restore(phone, world.secretId);
    await expect(listed()).resolves.toMatchObject([{ state: "ended", doubt: null }]);
    await expect(sharesOfSecret(world.adasVault, world.secretId)).resolves.toEqual([]);
  });

  it("is marked by the unlocked device that takes the secret out of a trash without the mark", async () => {
    const phone = await world.ada.open("phone");
    await trash(phone, world.secretId);
    expect((await allShares(world.adasVault))[0]?.revokedAt).toBeNull();
    await restore(world.adasVault, world.secretId);
    expect((await allShares(world.adasVault))[0]?.revokedAt).not.toBeNull();
    await expect(listed()).resolves.toMatchObject([{ state: "revoked", doubt: null }]);
  });

  it("is not marked by a device that takes it out after another one did and shared it again", async () => {
    await trash(world.adasVault, world.secretId);
    await restore(world.adasVault, world.secretId);
    const { shareId: again } = await world.share({});
    await restore(world.adasVault, world.secretId);
    expect((await allShares(world.adasVault)).find((mark) => mark.shareId === again)?.revokedAt).toBeNull();
  });

  it("is marked in the same change that removes for good", async () => {
    await world.adasVault.service.trash(world.secretId); // another device did, without the mark
    await purge(world.adasVault, [world.secretId]);
    const [mark] = await allShares(world.adasVault);
    expect(mark?.revokedAt).not.toBeNull();
  });

  it("is marked for the removed version alone", async () => {
    await update(world.adasVault, world.secretId, {
      baseVersion: 1,
      content: { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["new words"]) },
    });
    const { shareId: newest } = await world.share({});
    await removeVersions(world.adasVault, world.secretId, [1]);
    const marks = await allShares(world.adasVault);
    expect(marks.find((mark) => mark.shareId === shareId)?.revokedAt).not.toBeNull();
    expect(marks.find((mark) => mark.shareId === newest)?.revokedAt).toBeNull();
  });
});

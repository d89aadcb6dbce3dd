import { toBase64url } from "@relicario/shared/api";

import { restore, trash } from "../operations/favorite-and-trash.ts";
import { purge } from "../operations/purge.ts";
import { update } from "../operations/update.ts";
import { removeVersions } from "../operations/versions.ts";
import { revokeShare, revealShareLink, updateShareContent } from "../shares/change-shares.ts";
import { listShares, listSharesOfSecret } from "../shares/list-shares.ts";
import { marketPicture, errorCodeOf, createSharingWorld, type SharingWorld } from "../testing/sharing-world.ts";

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

const readShares = (): ReturnType<typeof listSharesOfSecret> =>
  listSharesOfSecret(world.adasVault, world.secretId, { includeEnded: true });

/** Changes what the service lists. */
function alterShareList(change: (shares: readonly Record<string, unknown>[]) => unknown[]): void {
  world.ada.service.transformAnswer = (call, answer) =>
    call.startsWith("GET /sharelist/")
      ? { shares: change((answer as { shares: Record<string, unknown>[] }).shares) }
      : answer;
}

describe("the list of shares", () => {
  it("is believed where it says what was signed", async () => {
    await expect(readShares()).resolves.toMatchObject([
      { shareId, state: "live", discrepancy: null, views: 0, maxViews: 5, outdated: false },
    ]);
  });

  it.each<[string, (shares: readonly Record<string, unknown>[]) => unknown[], object]>([
    ["hides one", () => [], { discrepancy: "hidden" }],
    [
      "says that one is revoked that is not",
      (shares) => shares.map((share) => ({ ...share, end: "revoked" })),
      { discrepancy: "not_revoked_here" },
    ],
    [
      "says that it is expired before its time",
      (shares) => shares.map((share) => ({ ...share, end: "expired" })),
      { discrepancy: "changed" },
    ],
    [
      "serves it longer than was signed",
      (shares) => shares.map((share) => ({ ...share, expires_at: "2030-01-01T00:00:00.000Z" })),
      { discrepancy: "changed" },
    ],
    [
      "serves another version",
      (shares) => shares.map((share) => ({ ...share, version: 2 })),
      { discrepancy: "changed" },
    ],
    [
      "gives another ticket for it",
      (shares) => shares.map((share) => ({ ...share, ticket_sha256: "A".repeat(43) })),
      { discrepancy: "changed" },
    ],
    [
      "serves it to others than was signed",
      (shares) => shares.map((share) => ({ ...share, audience: "signed_in" })),
      { discrepancy: "changed" },
    ],
  ])("is doubted where it %s", async (_case, change, expected) => {
    alterShareList(change);
    await expect(readShares()).resolves.toMatchObject([{ shareId, ...expected }]);
  });

  it("is doubted once the ticket of a link was swapped, and its link is not shown again", async () => {
    world.stored(shareId).ticket = toBase64url(new Uint8Array(400).fill(7));
    await expect(readShares()).resolves.toMatchObject([{ shareId, discrepancy: "changed" }]);
    expect(await errorCodeOf(revealShareLink(world.adasVault, shareId, null))).toBe("decryption_failed");
  });

  it("is believed after an update, and doubted where the service goes on with the ticket from before it", async () => {
    const before = world.stored(shareId).ticket;
    await update(world.adasVault, world.secretId, {
      baseVersion: 1,
      content: { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["new words"]) },
    });
    await updateShareContent(world.adasVault, shareId, marketPicture);
    await expect(readShares()).resolves.toMatchObject([{ shareId, version: 2, discrepancy: null }]);
    world.stored(shareId).ticket = before;
    await expect(readShares()).resolves.toMatchObject([{ shareId, discrepancy: "changed" }]);
  });

  it("is doubted where it names one that nobody signed", async () => {
    const unknownId = "AAAAAAAAAAAAAAAAAAAAAA";
    alterShareList((shares) => [...shares, { ...shares[0], share_id: unknownId }]);
    expect((await readShares()).find((share) => share.shareId === unknownId)).toMatchObject({ discrepancy: "unknown" });
  });

  it("is rid of what nobody signed when that is revoked", async () => {
    const unknownId = "AAAAAAAAAAAAAAAAAAAAAA";
    world.sharing.shares.set(unknownId, { ...world.stored(shareId), claims: new Set(), openedBy: new Set() });
    alterShareList((shares) => shares.map((share, index) => (index === 0 ? share : { ...share, share_id: unknownId })));
    expect(
      (await listSharesOfSecret(world.adasVault, world.secretId)).find((share) => share.shareId === unknownId),
    ).toMatchObject({ state: "live", discrepancy: "unknown" });
    await revokeShare(world.adasVault, unknownId);
    expect(world.stored(unknownId).revoked).toBe(true);
    expect(world.stored(shareId).revoked).toBe(false);
    expect(await errorCodeOf(revokeShare(world.adasVault, "../user/me"))).toBe("not_found");
  });

  it("is believed again once what the service ended by itself is revoked here, too", async () => {
    world.stored(shareId).revoked = true;
    await expect(readShares()).resolves.toMatchObject([{ discrepancy: "not_revoked_here" }]);
    await revokeShare(world.adasVault, shareId);
    await expect(readShares()).resolves.toMatchObject([{ state: "revoked", discrepancy: null }]);
  });

  it("is doubted where a revoked one is still served", async () => {
    await revokeShare(world.adasVault, shareId);
    await expect(readShares()).resolves.toMatchObject([{ state: "revoked", discrepancy: null }]);
    world.stored(shareId).revoked = false;
    await expect(readShares()).resolves.toMatchObject([{ state: "revoked", discrepancy: "still_served" }]);
  });

  it("is read a second time before it is doubted", async () => {
    let readings = 0;
    alterShareList((shares) => (readings++ === 0 ? [] : [...shares]));
    await expect(readShares()).resolves.toMatchObject([{ discrepancy: null }]);
  });
});

describe("what ends a share", () => {
  it("is marked in the sealed document: the trash, for good", async () => {
    await trash(world.adasVault, world.secretId);
    const [summary] = await listShares(world.adasVault);
    expect(summary?.revokedAt).not.toBeNull();
    await expect(readShares()).resolves.toMatchObject([{ state: "revoked", discrepancy: null }]);
    await restore(world.adasVault, world.secretId);
    await expect(readShares()).resolves.toMatchObject([{ state: "revoked", discrepancy: null }]);
  });

  it("is no alarm after a locked device moved the secret to the trash, and back", async () => {
    const phone = await world.ada.open("phone");
    await trash(phone, world.secretId);
    expect(phone.keys).toBeNull();
    await expect(readShares()).resolves.toMatchObject([{ state: "ended", discrepancy: null }]);
    await restore(phone, world.secretId);
    await expect(readShares()).resolves.toMatchObject([{ state: "ended", discrepancy: null }]);
    await expect(listSharesOfSecret(world.adasVault, world.secretId)).resolves.toEqual([]);
  });

  it("is marked by the unlocked device that takes the secret out of a trash without the mark", async () => {
    const phone = await world.ada.open("phone");
    await trash(phone, world.secretId);
    expect((await listShares(world.adasVault))[0]?.revokedAt).toBeNull();
    await restore(world.adasVault, world.secretId);
    expect((await listShares(world.adasVault))[0]?.revokedAt).not.toBeNull();
    await expect(readShares()).resolves.toMatchObject([{ state: "revoked", discrepancy: null }]);
  });

  it("is not marked by a device that takes it out after another one did and shared it again", async () => {
    await trash(world.adasVault, world.secretId);
    await restore(world.adasVault, world.secretId);
    const { shareId: newShareId } = await world.share({});
    await restore(world.adasVault, world.secretId);
    expect((await listShares(world.adasVault)).find((summary) => summary.shareId === newShareId)?.revokedAt).toBeNull();
  });

  it("is marked in the same change that removes for good", async () => {
    await world.adasVault.service.trash(world.secretId); // another device did, without the mark
    await purge(world.adasVault, [world.secretId]);
    const [summary] = await listShares(world.adasVault);
    expect(summary?.revokedAt).not.toBeNull();
  });

  it("is marked for the removed version alone", async () => {
    await update(world.adasVault, world.secretId, {
      baseVersion: 1,
      content: { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["new words"]) },
    });
    const { shareId: newest } = await world.share({});
    await removeVersions(world.adasVault, world.secretId, [1]);
    const summaries = await listShares(world.adasVault);
    expect(summaries.find((summary) => summary.shareId === shareId)?.revokedAt).not.toBeNull();
    expect(summaries.find((summary) => summary.shareId === newest)?.revokedAt).toBeNull();
  });
});

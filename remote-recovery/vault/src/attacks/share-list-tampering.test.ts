import { toBase64url } from "@relicario/shared/api";

import { restoreFromTrash, moveToTrash } from "../operations/favorite-and-trash.ts";
import { purge } from "../operations/purge.ts";
import { update } from "../operations/update.ts";
import { removeVersions } from "../operations/versions.ts";
import { revokeShare, revealShareLink, updateShareContent } from "../shares/change-shares.ts";
import { listShares, listSharesOfSecret } from "../shares/list-shares.ts";
import { marketPicture, readErrorCode, createSharingWorld, type SharingWorld } from "../testing/sharing-world.ts";

/**
 * Attacker: the service. It hides a share, claims that it was revoked, still serves it after
 * revocation, or changes or invents it. The list shows each difference from what the account signed
 * as a discrepancy.
 */

let world: SharingWorld;
let shareId: string;
beforeEach(async () => {
  world = await createSharingWorld({ bensAccount: false });
  ({ shareId } = await world.share({ maxViews: 5 }));
});

const readShares = (): ReturnType<typeof listSharesOfSecret> =>
  listSharesOfSecret(world.adasVault, world.secretId, { includeEnded: true });

/** Changes the service's list of shares. */
function alterShareList(change: (shares: readonly Record<string, unknown>[]) => unknown[]): void {
  world.ada.service.transformResponse = (call, response) =>
    call.startsWith("GET /sharelist/")
      ? { ...(response as object), shares: change((response as { shares: Record<string, unknown>[] }).shares) }
      : response;
}

describe("the list of shares", () => {
  it("has no discrepancy if it matches what the account signed", async () => {
    await expect(readShares()).resolves.toMatchObject([
      { shareId, state: "live", discrepancy: null, views: 0, maxViews: 5, outdated: false },
    ]);
  });

  it.each<[string, (shares: readonly Record<string, unknown>[]) => unknown[], object]>([
    ["hides a share", () => [], { discrepancy: "hidden" }],
    [
      "claims a false revocation",
      (shares) => shares.map((share) => ({ ...share, end: "revoked" })),
      { discrepancy: "not_revoked_here" },
    ],
    [
      "claims an early expiry",
      (shares) => shares.map((share) => ({ ...share, end: "expired" })),
      { discrepancy: "changed" },
    ],
    [
      "extends the expiry",
      (shares) => shares.map((share) => ({ ...share, expires_at: "2030-01-01T00:00:00.000Z" })),
      { discrepancy: "changed" },
    ],
    [
      "serves another version",
      (shares) => shares.map((share) => ({ ...share, version: 2 })),
      { discrepancy: "changed" },
    ],
    [
      "serves another ticket",
      (shares) => shares.map((share) => ({ ...share, ticket_sha256: "A".repeat(43) })),
      { discrepancy: "changed" },
    ],
    [
      "changes the audience",
      (shares) => shares.map((share) => ({ ...share, audience: "signed_in" })),
      { discrepancy: "changed" },
    ],
  ])("has a discrepancy if the service %s", async (_case, change, expected) => {
    alterShareList(change);
    await expect(readShares()).resolves.toMatchObject([{ shareId, ...expected }]);
  });

  it("has a discrepancy after the ticket of a link was swapped, and does not show the link again", async () => {
    world.requireStoredShare(shareId).ticket = toBase64url(new Uint8Array(400).fill(7));
    await expect(readShares()).resolves.toMatchObject([{ shareId, discrepancy: "changed" }]);
    expect(await readErrorCode(revealShareLink(world.adasVault, shareId, null))).toBe("decryption_failed");
  });

  it("has no discrepancy after an update, but has one if the service keeps the old ticket", async () => {
    const oldTicket = world.requireStoredShare(shareId).ticket;
    await update(world.adasVault, world.secretId, {
      baseVersion: 1,
      content: { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["new words"]) },
    });
    await updateShareContent(world.adasVault, shareId, marketPicture);
    await expect(readShares()).resolves.toMatchObject([{ shareId, version: 2, discrepancy: null }]);
    world.requireStoredShare(shareId).ticket = oldTicket;
    await expect(readShares()).resolves.toMatchObject([{ shareId, discrepancy: "changed" }]);
  });

  it("has a discrepancy if the service adds an unsigned share", async () => {
    const unknownId = "AAAAAAAAAAAAAAAAAAAAAA";
    alterShareList((shares) => [...shares, { ...shares[0], share_id: unknownId }]);
    expect((await readShares()).find((share) => share.shareId === unknownId)).toMatchObject({ discrepancy: "unknown" });
  });

  it("no longer contains an unsigned share after that share is revoked", async () => {
    const unknownId = "AAAAAAAAAAAAAAAAAAAAAA";
    world.sharing.shares.set(unknownId, {
      ...world.requireStoredShare(shareId),
      claims: new Set(),
      openedBy: new Set(),
    });
    alterShareList((shares) => shares.map((share, index) => (index === 0 ? share : { ...share, share_id: unknownId })));
    expect(
      (await listSharesOfSecret(world.adasVault, world.secretId)).find((share) => share.shareId === unknownId),
    ).toMatchObject({ state: "live", discrepancy: "unknown" });
    await revokeShare(world.adasVault, unknownId);
    expect(world.requireStoredShare(unknownId).revoked).toBe(true);
    expect(world.requireStoredShare(shareId).revoked).toBe(false);
    expect(await readErrorCode(revokeShare(world.adasVault, "../user/me"))).toBe("not_found");
  });

  it("has no discrepancy once a share that the service revoked is revoked here too", async () => {
    world.requireStoredShare(shareId).revoked = true;
    await expect(readShares()).resolves.toMatchObject([{ discrepancy: "not_revoked_here" }]);
    await revokeShare(world.adasVault, shareId);
    await expect(readShares()).resolves.toMatchObject([{ state: "revoked", discrepancy: null }]);
  });

  it("has a discrepancy if the service still serves a revoked share", async () => {
    await revokeShare(world.adasVault, shareId);
    await expect(readShares()).resolves.toMatchObject([{ state: "revoked", discrepancy: null }]);
    world.requireStoredShare(shareId).revoked = false;
    await expect(readShares()).resolves.toMatchObject([{ state: "revoked", discrepancy: "still_served" }]);
  });

  it("is read again before a discrepancy is shown", async () => {
    let readCount = 0;
    alterShareList((shares) => (readCount++ === 0 ? [] : [...shares]));
    await expect(readShares()).resolves.toMatchObject([{ discrepancy: null }]);
  });
});

describe("the end of a share", () => {
  it("is recorded in the sealed document when the share's secret is trashed, and is final", async () => {
    await moveToTrash(world.adasVault, world.secretId);
    const [summary] = await listShares(world.adasVault);
    expect(summary?.revokedAt).not.toBeNull();
    await expect(readShares()).resolves.toMatchObject([{ state: "revoked", discrepancy: null }]);
    await restoreFromTrash(world.adasVault, world.secretId);
    await expect(readShares()).resolves.toMatchObject([{ state: "revoked", discrepancy: null }]);
  });

  it("is no discrepancy after a locked device trashed and restored the secret", async () => {
    const phone = await world.ada.open("phone");
    await moveToTrash(phone, world.secretId);
    expect(phone.keys).toBeNull();
    await expect(readShares()).resolves.toMatchObject([{ state: "ended", discrepancy: null }]);
    await restoreFromTrash(phone, world.secretId);
    await expect(readShares()).resolves.toMatchObject([{ state: "ended", discrepancy: null }]);
    await expect(listSharesOfSecret(world.adasVault, world.secretId)).resolves.toEqual([]);
  });

  it("is recorded by an unlocked device that restores a secret trashed without the record", async () => {
    const phone = await world.ada.open("phone");
    await moveToTrash(phone, world.secretId);
    expect((await listShares(world.adasVault))[0]?.revokedAt).toBeNull();
    await restoreFromTrash(world.adasVault, world.secretId);
    expect((await listShares(world.adasVault))[0]?.revokedAt).not.toBeNull();
    await expect(readShares()).resolves.toMatchObject([{ state: "revoked", discrepancy: null }]);
  });

  it("is not recorded by a late restore, after the secret was restored and shared again", async () => {
    await moveToTrash(world.adasVault, world.secretId);
    await restoreFromTrash(world.adasVault, world.secretId);
    const { shareId: newShareId } = await world.share({});
    await restoreFromTrash(world.adasVault, world.secretId);
    expect((await listShares(world.adasVault)).find((summary) => summary.shareId === newShareId)?.revokedAt).toBeNull();
  });

  it("is recorded in the change that purges the secret", async () => {
    await world.adasVault.service.trash(world.secretId); // another device, which records nothing
    await purge(world.adasVault, [world.secretId]);
    const [summary] = await listShares(world.adasVault);
    expect(summary?.revokedAt).not.toBeNull();
  });

  it("is recorded only for shares of the removed version", async () => {
    await update(world.adasVault, world.secretId, {
      baseVersion: 1,
      content: { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["new words"]) },
    });
    const { shareId: newestId } = await world.share({});
    await removeVersions(world.adasVault, world.secretId, [1]);
    const summaries = await listShares(world.adasVault);
    expect(summaries.find((summary) => summary.shareId === shareId)?.revokedAt).not.toBeNull();
    expect(summaries.find((summary) => summary.shareId === newestId)?.revokedAt).toBeNull();
  });
});

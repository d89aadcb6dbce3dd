import "fake-indexeddb/auto";

import { setDeviceKind } from "../operations/set-device-kind.ts";
import { openSmallSecret } from "../operations/open-secret.ts";
import { listOpeners } from "../operations/openers.ts";
import { protect } from "../operations/protect.ts";
import { update } from "../operations/update.ts";
import { openRowLabel, readAccount, requireRow } from "../keyring/read-account.ts";
import { findPerson } from "../people/people.ts";
import { unlock } from "../openers/unlock.ts";
import { moveToTrash } from "../operations/favorite-and-trash.ts";
import { sealLabel } from "../seal/label.ts";
import { computeLabelDigest } from "../seal/state.ts";
import {
  putUnchecked,
  stealMetadataKeys,
  storeUnchecked,
  type MetadataKeysAttacker,
} from "../testing/metadata-keys-attacker.ts";
import { createSharingWorld, decodeText, readErrorCode, type SharingWorld } from "../testing/sharing-world.ts";
import { makePicture, textSecret } from "../testing/world.ts";

/*
 * What a locked own device keeps, and a session of its account, in the hands of somebody else:
 * metadata keys, never an opener. With a service that checks, and with one that lies.
 */

let worlds: SharingWorld;
let attacker: MetadataKeysAttacker;

beforeEach(async () => {
  worlds = await createSharingWorld();
  await setDeviceKind(worlds.adasVault, "own");
  attacker = await stealMetadataKeys(worlds.ada);
});

/** Opens on a device that remembers nothing but what an earlier unlock showed it. */
async function openAsOwner(deviceName = "phone"): Promise<{ content: string; signatureStatus: string }> {
  const vault = await worlds.ada.open(deviceName);
  const { content, signatureStatus } = await openSmallSecret(vault, worlds.secretId, makePicture("market"));
  return { content: decodeText(content), signatureStatus };
}

async function unlockOn(deviceName: string): Promise<void> {
  const vault = await worlds.ada.open(deviceName);
  (await unlock(vault, makePicture("market"))).opener.wipe();
  await readAccount(vault);
}

describe("metadata keys alone", () => {
  it("cannot store a content that they forged", async () => {
    const forged = await attacker.forgeVersion(worlds.secretId, "forged");
    const { label, ticket, ticket_sig, content, keyring } = forged;
    const row = { secret_db_id: worlds.secretId, base_version: 1, label, ticket, ticket_sig, content, keyring };
    expect(await readErrorCode(attacker.vault.service.store(row))).toBe("keyring_change_invalid");
    await expect(openAsOwner()).resolves.toEqual({ content: "content of First", signatureStatus: "verified" });
  });

  it("make no content that opens as verified, with a service that lies", async () => {
    storeUnchecked(worlds.ada.service.account, worlds.secretId, await attacker.forgeVersion(worlds.secretId, "forged"));
    await expect(openAsOwner()).resolves.toMatchObject({ signatureStatus: "not_verified" });
  });

  it("make no version 1 in place of a later one, with a service that lies", async () => {
    const first = await attacker.forgeVersion(worlds.secretId, "second");
    storeUnchecked(worlds.ada.service.account, worlds.secretId, first);
    await unlockOn("phone");
    const forged = await attacker.forgeVersion(worlds.secretId, "forged", { version: 1 });
    storeUnchecked(worlds.ada.service.account, worlds.secretId, forged);
    expect(await readErrorCode(openAsOwner())).toBe("list_mismatch");
  });

  it("cannot pin a person, nor call one compared", async () => {
    const { account, openedKeyring } = await attacker.read();
    const { statement } = { statement: worlds.ben.service.account.keyring?.keyStatement };
    if (statement === undefined) throw new TypeError("no statement");
    const { user_id, recipient, signing_key, key_epoch, ...rest } = statement;
    const people = [
      {
        user_id,
        name: "Ben",
        recipient,
        signing_key,
        key_epoch,
        ...("author_key" in rest ? { author_key: rest.author_key } : {}),
        compared: true,
        blocked: false,
        pinned_at: "2026-11-20T10:00:00.000Z",
      },
    ];
    const book = { ...openedKeyring.book, people } as typeof openedKeyring.book;
    const change = await attacker.sign([...account.rows.values()], { book });
    expect(await readErrorCode(attacker.vault.service.changeKeyring(change))).toBe("keyring_change_invalid");

    putUnchecked(worlds.ada.service.account, change);
    const phone = await worlds.ada.open("phone");
    expect(await readErrorCode(unlock(phone, makePicture("market")).then(async () => findPerson(phone, "Ben")))).toBe(
      "openers_changed",
    );
  });

  it("take no opener from a version, and add none, that this session opened before", async () => {
    const { adasVault: owner, ada, secretId } = worlds;
    await protect(owner, textSecret("Second", makePicture("forest")), {});
    const [marketId, forestId] = (await listOpeners(owner)).openers.map(({ id }) => id);
    for (const openers of [[forestId ?? ""], [marketId ?? "", forestId ?? ""]]) {
      await openSmallSecret(owner, secretId, makePicture("market"));
      const { account } = await attacker.read();
      const { row } = requireRow(account, secretId);
      const previousLabel = await openRowLabel(owner.userId, attacker.keys, row);
      const context = { secretId, version: row.version, rev: row.rev + 1 };
      const label = await sealLabel(attacker.keys, owner.userId, context, { ...previousLabel, openers });
      const others = [...account.rows.values()].filter((other) => other.secretId !== secretId);
      const keyring = await attacker.sign([...others, { ...context, labelHex: computeLabelDigest(label) }]);
      await attacker.vault.service.store({ secret_db_id: secretId, base_version: row.version, label, keyring });

      const content = { contentKind: "text", name: "a.txt", mime: "text/plain", content: new Blob(["new"]) } as const;
      await update(owner, secretId, { baseVersion: row.version, content }, {});
      await expect(openAsOwner()).resolves.toEqual({ content: "new", signatureStatus: "verified" });
      const phone = await ada.open("phone");
      expect(await readErrorCode(openSmallSecret(phone, secretId, makePicture("forest")))).toBe("opener_needed");
    }
  });

  it("cannot remove a secret for good", async () => {
    await attacker.vault.service.trash(worlds.secretId);
    const change = await attacker.sign([], { purge: [worlds.secretId] });
    expect(await readErrorCode(attacker.vault.service.changeKeyring(change))).toBe("keyring_change_invalid");
    expect(worlds.ada.service.account.rows.has(worlds.secretId)).toBe(true);
  });

  it("read titles, rename and trash", async () => {
    const other = await protect(worlds.adasVault, textSecret("Other"), {});
    await moveToTrash(attacker.vault, other.secretId);
    const { account } = await attacker.read();
    expect(account.rows.get(other.secretId)?.storedSecret.deleted_at).toBeDefined();
    expect(computeLabelDigest(worlds.ada.service.account.rows.get(worlds.secretId)?.versions[0]?.label ?? "")).toBe(
      account.rows.get(worlds.secretId)?.labelHex,
    );
  });
});

import "fake-indexeddb/auto";

import { fromB64u, toB64u } from "@relicario/shared/api";

import { cover, removeOpener } from "../acts/cover.ts";
import { addOpener, listOpeners, newRecoveryCode } from "../acts/openers.ts";
import { protect } from "../acts/protect.ts";
import { recover } from "../acts/recover.ts";
import { unlock } from "../acts/unlock.ts";
import { AccountKey } from "../seal/account-key.ts";
import { copyOf } from "../seal/bytes.ts";
import { openerFromSeed, sealSlot } from "../seal/opener.ts";
import { recoveryCodeSeed } from "../seal/recovery-code.ts";
import type { ShownKey } from "../shown-image.ts";
import { lastOf } from "../testing/fake-account.ts";
import { createWorld, shown, textSecret, userId, type World } from "../testing/world.ts";
import type { VaultContext } from "../vault-context.ts";

const code = (expected: string): unknown => expect.objectContaining({ code: expected });
const passkey: ShownKey = { kind: "passkey", prf: copyOf(new Uint8Array(32).fill(7)) };

interface Given {
  readonly world: World;
  readonly laptop: VaultContext;
  readonly paper: ShownKey & { readonly kind: "recovery_code" };
  /** Ids of the openers: picture, paper, passkey. */
  readonly ids: readonly string[];
  readonly secrets: readonly string[];
}

async function given(): Promise<Given> {
  const world = createWorld();
  const laptop = await world.open();
  const first = await protect(laptop, textSecret("First", shown("market")), {});
  const second = await protect(laptop, textSecret("Second"), {});
  const paper = { kind: "recovery_code", code: (await newRecoveryCode()).words.join(" ") } as const;
  await addOpener(laptop, { key: paper, name: "Paper" }, null, {});
  await addOpener(laptop, { key: passkey, name: "Phone" }, null, {});
  return {
    world,
    laptop,
    paper,
    ids: (await listOpeners(laptop)).openers.map(({ id }) => id),
    secrets: [first.secretId, second.secretId],
  };
}

function slotOf({ world }: Given, id: string | undefined): { opener_id: string; kind: string; slot: string } {
  const slot = world.service.account.keyring?.slots.find(({ opener_id: openerId }) => openerId === id);
  if (slot === undefined) throw new TypeError("no such slot");
  return slot;
}

describe("a service that lies about slots", () => {
  it("swaps those of two openers: neither opens, and no key is taken", async () => {
    const all = await given();
    const [, paperId, phoneId] = all.ids;
    const [paperSlot, phoneSlot] = [slotOf(all, paperId), slotOf(all, phoneId)];
    [paperSlot.slot, phoneSlot.slot] = [phoneSlot.slot, paperSlot.slot];
    [paperSlot.kind, phoneSlot.kind] = [phoneSlot.kind, paperSlot.kind];
    const phone = await all.world.open("phone");
    await expect(unlock(phone, all.paper, {})).rejects.toEqual(code("decryption_failed"));
    await expect(unlock(phone, passkey, {})).rejects.toEqual(code("decryption_failed"));
    expect([phone.keys, phone.accountKey]).toEqual([null, null]);
  });

  it("seals a key of its own to an opener whose recipient it learned: the mac is missing", async () => {
    const all = await given();
    const [, paperId = ""] = all.ids;
    const known = await openerFromSeed(paperId, recoveryCodeSeed(all.paper.code));
    const forged = await sealSlot({ ...known, slotAuth: copyOf(new Uint8Array(32)) }, userId, AccountKey.make(1));
    slotOf(all, paperId).slot = toB64u(forged);
    await expect(unlock(await all.world.open("phone"), all.paper, {})).rejects.toEqual(code("decryption_failed"));
  });

  it("gives the slot of another generation, or of another person", async () => {
    const all = await given();
    const [, paperId = ""] = all.ids;
    const opener = await openerFromSeed(paperId, recoveryCodeSeed(all.paper.code));
    for (const [user, epoch] of [
      [userId, 2],
      ["019a9e2c-7c1e-7abc-8def-0123456789ac", 1],
    ] as const) {
      slotOf(all, paperId).slot = toB64u(await sealSlot(opener, user, AccountKey.make(epoch)));
      await expect(unlock(await all.world.open(`phone ${user} ${String(epoch)}`), all.paper, {})).rejects.toEqual(
        code("decryption_failed"),
      );
    }
  });

  it("drops one: the list says so, and the others open", async () => {
    const all = await given();
    const { keyring } = all.world.service.account;
    if (keyring === null) throw new TypeError("no keyring");
    keyring.slots = keyring.slots.filter(({ opener_id: id }) => id !== all.ids[1]);
    expect((await listOpeners(all.laptop)).openers.map(({ served }) => served)).toEqual([true, false, true]);
    await expect(unlock(await all.world.open("phone"), all.paper, {})).rejects.toEqual(code("not_this_recovery_code"));
    (await unlock(await all.world.open("tablet"), passkey, {})).opener.forget();
  });

  it("gives rubbish beside the right one: that one is found all the same", async () => {
    const all = await given();
    all.world.service.account.keyring?.slots.unshift({
      opener_id: "019a9e2c-7c1e-7abc-8def-0123456789ff",
      kind: "recovery_code",
      slot: toB64u(new Uint8Array(600)),
    });
    (await unlock(await all.world.open("phone"), all.paper, {})).opener.forget();
    await expect(
      unlock(await all.world.open("tablet"), { kind: "recovery_code", code: (await newRecoveryCode()).identity }, {}),
    ).rejects.toEqual(code("decryption_failed"));
  });

  it("calls a code a passkey: neither takes it", async () => {
    const all = await given();
    slotOf(all, all.ids[1]).kind = "passkey";
    await expect(unlock(await all.world.open("phone"), all.paper, {})).rejects.toEqual(code("not_this_recovery_code"));
  });
});

describe("a service that brings back what was removed", () => {
  it("serves the old slot again: the book does not have it", async () => {
    const all = await given();
    const [, paperId = ""] = all.ids;
    const old = { ...slotOf(all, paperId) };
    await removeOpener(all.laptop, paperId, shown("market"), {});
    all.world.service.account.keyring?.slots.push({ opener_id: old.opener_id, kind: "recovery_code", slot: old.slot });
    await expect(unlock(await all.world.open("phone"), all.paper, {})).rejects.toEqual(code("decryption_failed"));
    await expect(recover(all.laptop, all.secrets[0] ?? "", all.paper, {})).rejects.toEqual(code("decryption_failed"));
  });

  it("serves the whole account as it was before: a device that saw the removal stops", async () => {
    const all = await given();
    const before = all.world.service.snapshot();
    await removeOpener(all.laptop, all.ids[1] ?? "", shown("market"), {});
    all.world.service.account = before;
    await expect(unlock(await all.world.open(), all.paper, {})).rejects.toEqual(code("older_state"));
  });

  it("serves the account as it was before one was added: the device that added it stops", async () => {
    const all = await given();
    const before = all.world.service.snapshot();
    await addOpener(
      all.laptop,
      { key: { kind: "recovery_code", code: (await newRecoveryCode()).identity }, name: "Second paper" },
      null,
      {},
    );
    all.world.service.account = before;
    await expect(listOpeners(await all.world.open())).rejects.toEqual(code("older_state"));
  });
});

describe("a service that lies while secrets are sealed to more openers", () => {
  it("gives the ticket of another secret: nothing is sealed", async () => {
    const all = await given();
    const before = all.world.service.snapshot();
    const [first = "", second = ""] = all.secrets;
    const other = lastOf(before.rows.get(second)?.versions)?.ticket;
    all.world.service.answer = (call, answer) =>
      call === "POST /secrets/store/get-secret" ? { ...(answer as object), ticket: other } : answer;
    await expect(cover(all.laptop, shown("market"), {})).rejects.toEqual(code("list_mismatch"));
    all.world.service.answer = (_call, answer) => answer;
    expect((await listOpeners(all.laptop)).secrets.find(({ secretId }) => secretId === first)?.missing).toHaveLength(2);
  });

  it("says that it was published when it was not: the next reading tells", async () => {
    const all = await given();
    const before = all.world.service.snapshot();
    all.world.service.answer = (call, answer) => {
      if (call === "POST /secrets/store") all.world.service.account = structuredClone(before);
      return answer;
    };
    await expect(cover(all.laptop, shown("market"), {})).rejects.toEqual(code("older_state"));
  });

  it("keeps the old ticket in place of the new one: opening tells", async () => {
    const all = await given();
    const [first = ""] = all.secrets;
    const old = lastOf(all.world.service.account.rows.get(first)?.versions)?.ticket ?? "";
    await cover(all.laptop, shown("market"), {});
    const row = lastOf(all.world.service.account.rows.get(first)?.versions);
    if (row === undefined) throw new TypeError("no row");
    expect(fromB64u(row.ticket).length).toBeGreaterThan(fromB64u(old).length);
    row.ticket = old;
    await expect(recover(await all.world.open("phone"), first, shown("market"), {})).rejects.toEqual(
      code("list_mismatch"),
    );
  });
});

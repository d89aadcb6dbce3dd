import "fake-indexeddb/auto";

import { fromBase64url, toBase64url } from "@relicario/shared/api";

import { resealForAllOpeners, removeOpener } from "../operations/reseal-for-all-openers.ts";
import { addOpener, listOpeners, generateRecoveryCode } from "../operations/openers.ts";
import { protect } from "../operations/protect.ts";
import { openSmallSecret } from "../operations/open-secret.ts";
import { unlock } from "../openers/unlock.ts";
import { AccountKey } from "../seal/account-key.ts";
import { copyOf } from "../seal/bytes.ts";
import { deriveOpenerFromSeed, sealSlot } from "../seal/opener.ts";
import { parseRecoveryCode } from "../seal/recovery-code.ts";
import type { PresentedKey } from "../rpc/presented-opener.ts";
import { lastOf } from "../testing/fake-account.ts";
import { createWorld, makePicture, textSecret, userId, type World } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";

const errorWithCode = (expected: string): unknown => expect.objectContaining({ code: expected });
const passkey: PresentedKey = { kind: "passkey", prf: copyOf(new Uint8Array(32).fill(7)) };

interface Scenario {
  readonly world: World;
  readonly laptop: VaultSession;
  readonly paperCode: PresentedKey & { readonly kind: "recovery_code" };
  /** Ids of the openers: picture, recovery code, passkey. */
  readonly openerIds: readonly string[];
  readonly secretIds: readonly string[];
}

async function createScenario(): Promise<Scenario> {
  const world = createWorld();
  const laptop = await world.open();
  const firstSecret = await protect(laptop, textSecret("First", makePicture("market")), {});
  const secondSecret = await protect(laptop, textSecret("Second"), {});
  const paperCode = { kind: "recovery_code", code: (await generateRecoveryCode()).words.join(" ") } as const;
  await addOpener(laptop, { key: paperCode, name: "Paper" }, null, {});
  await addOpener(laptop, { key: passkey, name: "Phone" }, null, {});
  return {
    world,
    laptop,
    paperCode,
    openerIds: (await listOpeners(laptop)).openers.map(({ id }) => id),
    secretIds: [firstSecret.secretId, secondSecret.secretId],
  };
}

function requireSlot({ world }: Scenario, id: string | undefined): { opener_id: string; kind: string; slot: string } {
  const slot = world.service.account.keyring?.slots.find(({ opener_id: openerId }) => openerId === id);
  if (slot === undefined) throw new TypeError("expected a slot of this opener");
  return slot;
}

describe("a service that lies about slots", () => {
  it("swaps the slots of two openers: neither opens, and no key is accepted", async () => {
    const scenario = await createScenario();
    const [, paperId, phoneId] = scenario.openerIds;
    const [paperSlot, phoneSlot] = [requireSlot(scenario, paperId), requireSlot(scenario, phoneId)];
    [paperSlot.slot, phoneSlot.slot] = [phoneSlot.slot, paperSlot.slot];
    [paperSlot.kind, phoneSlot.kind] = [phoneSlot.kind, paperSlot.kind];
    const phone = await scenario.world.open("phone");
    await expect(unlock(phone, scenario.paperCode, {})).rejects.toEqual(errorWithCode("decryption_failed"));
    await expect(unlock(phone, passkey, {})).rejects.toEqual(errorWithCode("decryption_failed"));
    expect([phone.keys, phone.accountKey]).toEqual([null, null]);
  });

  it("seals its own key to an opener whose recipient it knows: refused without the right MAC", async () => {
    const scenario = await createScenario();
    const [, paperId = ""] = scenario.openerIds;
    const paperOpener = await deriveOpenerFromSeed(paperId, parseRecoveryCode(scenario.paperCode.code));
    const forged = await sealSlot(
      { ...paperOpener, slotAuth: copyOf(new Uint8Array(32)) },
      userId,
      AccountKey.generate(1),
    );
    requireSlot(scenario, paperId).slot = toBase64url(forged);
    await expect(unlock(await scenario.world.open("phone"), scenario.paperCode, {})).rejects.toEqual(
      errorWithCode("decryption_failed"),
    );
  });

  it("serves a slot of another key epoch or of another person: refused", async () => {
    const scenario = await createScenario();
    const [, paperId = ""] = scenario.openerIds;
    const opener = await deriveOpenerFromSeed(paperId, parseRecoveryCode(scenario.paperCode.code));
    for (const [user, epoch] of [
      [userId, 2],
      ["019a9e2c-7c1e-7abc-8def-0123456789ac", 1],
    ] as const) {
      requireSlot(scenario, paperId).slot = toBase64url(await sealSlot(opener, user, AccountKey.generate(epoch)));
      await expect(
        unlock(await scenario.world.open(`phone ${user} ${String(epoch)}`), scenario.paperCode, {}),
      ).rejects.toEqual(errorWithCode("decryption_failed"));
    }
  });

  it("drops a slot: the list shows the opener without it, and the others open", async () => {
    const scenario = await createScenario();
    const { keyring } = scenario.world.service.account;
    if (keyring === null) throw new TypeError("expected a keyring");
    keyring.slots = keyring.slots.filter(({ opener_id: id }) => id !== scenario.openerIds[1]);
    expect((await listOpeners(scenario.laptop)).openers.map(({ hasSlot }) => hasSlot)).toEqual([true, false, true]);
    await expect(unlock(await scenario.world.open("phone"), scenario.paperCode, {})).rejects.toEqual(
      errorWithCode("not_this_recovery_code"),
    );
    (await unlock(await scenario.world.open("tablet"), passkey, {})).opener.wipe();
  });

  it("adds an invalid slot: the right one is still found", async () => {
    const scenario = await createScenario();
    scenario.world.service.account.keyring?.slots.unshift({
      opener_id: "019a9e2c-7c1e-7abc-8def-0123456789ff",
      kind: "recovery_code",
      slot: toBase64url(new Uint8Array(600)),
    });
    (await unlock(await scenario.world.open("phone"), scenario.paperCode, {})).opener.wipe();
    await expect(
      unlock(
        await scenario.world.open("tablet"),
        { kind: "recovery_code", code: (await generateRecoveryCode()).identity },
        {},
      ),
    ).rejects.toEqual(errorWithCode("decryption_failed"));
  });

  it("labels a recovery code as a passkey: the code does not open that slot", async () => {
    const scenario = await createScenario();
    requireSlot(scenario, scenario.openerIds[1]).kind = "passkey";
    await expect(unlock(await scenario.world.open("phone"), scenario.paperCode, {})).rejects.toEqual(
      errorWithCode("not_this_recovery_code"),
    );
  });
});

describe("a service that restores what was removed", () => {
  it("serves a removed slot: refused, because the book does not list its opener", async () => {
    const scenario = await createScenario();
    const [, paperId = ""] = scenario.openerIds;
    const oldSlot = { ...requireSlot(scenario, paperId) };
    await removeOpener(scenario.laptop, paperId, makePicture("market"), {});
    scenario.world.service.account.keyring?.slots.push({
      opener_id: oldSlot.opener_id,
      kind: "recovery_code",
      slot: oldSlot.slot,
    });
    await expect(unlock(await scenario.world.open("phone"), scenario.paperCode, {})).rejects.toEqual(
      errorWithCode("decryption_failed"),
    );
    await expect(openSmallSecret(scenario.laptop, scenario.secretIds[0] ?? "", scenario.paperCode, {})).rejects.toEqual(
      errorWithCode("decryption_failed"),
    );
  });

  it("rolls the account back: a device that saw the removal refuses the older account", async () => {
    const scenario = await createScenario();
    const snapshot = scenario.world.service.snapshot();
    await removeOpener(scenario.laptop, scenario.openerIds[1] ?? "", makePicture("market"), {});
    scenario.world.service.account = snapshot;
    await expect(unlock(await scenario.world.open(), scenario.paperCode, {})).rejects.toEqual(
      errorWithCode("older_state"),
    );
  });

  it("rolls the account back to before an opener was added: the device that added the opener refuses the older account", async () => {
    const scenario = await createScenario();
    const snapshot = scenario.world.service.snapshot();
    await addOpener(
      scenario.laptop,
      { key: { kind: "recovery_code", code: (await generateRecoveryCode()).identity }, name: "Second paperCode" },
      null,
      {},
    );
    scenario.world.service.account = snapshot;
    await expect(listOpeners(await scenario.world.open())).rejects.toEqual(errorWithCode("older_state"));
  });
});

describe("a service that lies while secrets are re-sealed for more openers", () => {
  it("serves the ticket of another secret: nothing is re-sealed", async () => {
    const scenario = await createScenario();
    const snapshot = scenario.world.service.snapshot();
    const [firstId = "", secondId = ""] = scenario.secretIds;
    const otherTicket = lastOf(snapshot.rows.get(secondId)?.versions)?.ticket;
    scenario.world.service.transformResponse = (call, response) =>
      call === "POST /secrets/store/get-secret" ? { ...(response as object), ticket: otherTicket } : response;
    await expect(resealForAllOpeners(scenario.laptop, makePicture("market"), {})).rejects.toEqual(
      errorWithCode("list_mismatch"),
    );
    scenario.world.service.transformResponse = (_call, response) => response;
    expect(
      (await listOpeners(scenario.laptop)).secrets.find(({ secretId }) => secretId === firstId)?.missingOpenerIds,
    ).toHaveLength(2);
  });

  it("confirms a change that it did not store: the next read detects this", async () => {
    const scenario = await createScenario();
    const snapshot = scenario.world.service.snapshot();
    scenario.world.service.transformResponse = (call, response) => {
      if (call === "POST /secrets/store") scenario.world.service.account = structuredClone(snapshot);
      return response;
    };
    await expect(resealForAllOpeners(scenario.laptop, makePicture("market"), {})).rejects.toEqual(
      errorWithCode("older_state"),
    );
  });

  it("keeps the old ticket in place of the new one: opening detects this", async () => {
    const scenario = await createScenario();
    const [firstId = ""] = scenario.secretIds;
    const oldTicket = lastOf(scenario.world.service.account.rows.get(firstId)?.versions)?.ticket ?? "";
    await resealForAllOpeners(scenario.laptop, makePicture("market"), {});
    const row = lastOf(scenario.world.service.account.rows.get(firstId)?.versions);
    if (row === undefined) throw new TypeError("expected a row");
    expect(fromBase64url(row.ticket).length).toBeGreaterThan(fromBase64url(oldTicket).length);
    row.ticket = oldTicket;
    await expect(
      openSmallSecret(await scenario.world.open("phone"), firstId, makePicture("market"), {}),
    ).rejects.toEqual(errorWithCode("list_mismatch"));
  });
});

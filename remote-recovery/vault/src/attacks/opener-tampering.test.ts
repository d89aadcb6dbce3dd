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
  readonly paper: PresentedKey & { readonly kind: "recovery_code" };
  /** Ids of the openers: picture, paper, passkey. */
  readonly ids: readonly string[];
  readonly secrets: readonly string[];
}

async function createScenario(): Promise<Scenario> {
  const world = createWorld();
  const laptop = await world.open();
  const first = await protect(laptop, textSecret("First", makePicture("market")), {});
  const second = await protect(laptop, textSecret("Second"), {});
  const paper = { kind: "recovery_code", code: (await generateRecoveryCode()).words.join(" ") } as const;
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

function slotOf({ world }: Scenario, id: string | undefined): { opener_id: string; kind: string; slot: string } {
  const slot = world.service.account.keyring?.slots.find(({ opener_id: openerId }) => openerId === id);
  if (slot === undefined) throw new TypeError("no such slot");
  return slot;
}

describe("a service that lies about slots", () => {
  it("swaps those of two openers: neither opens, and no key is taken", async () => {
    const scenario = await createScenario();
    const [, paperId, phoneId] = scenario.ids;
    const [paperSlot, phoneSlot] = [slotOf(scenario, paperId), slotOf(scenario, phoneId)];
    [paperSlot.slot, phoneSlot.slot] = [phoneSlot.slot, paperSlot.slot];
    [paperSlot.kind, phoneSlot.kind] = [phoneSlot.kind, paperSlot.kind];
    const phone = await scenario.world.open("phone");
    await expect(unlock(phone, scenario.paper, {})).rejects.toEqual(errorWithCode("decryption_failed"));
    await expect(unlock(phone, passkey, {})).rejects.toEqual(errorWithCode("decryption_failed"));
    expect([phone.keys, phone.accountKey]).toEqual([null, null]);
  });

  it("seals a key of its own to an opener whose recipient it learned: the mac is missing", async () => {
    const scenario = await createScenario();
    const [, paperId = ""] = scenario.ids;
    const paperOpener = await deriveOpenerFromSeed(paperId, parseRecoveryCode(scenario.paper.code));
    const forged = await sealSlot(
      { ...paperOpener, slotAuth: copyOf(new Uint8Array(32)) },
      userId,
      AccountKey.generate(1),
    );
    slotOf(scenario, paperId).slot = toBase64url(forged);
    await expect(unlock(await scenario.world.open("phone"), scenario.paper, {})).rejects.toEqual(
      errorWithCode("decryption_failed"),
    );
  });

  it("gives the slot of another generation, or of another person", async () => {
    const scenario = await createScenario();
    const [, paperId = ""] = scenario.ids;
    const opener = await deriveOpenerFromSeed(paperId, parseRecoveryCode(scenario.paper.code));
    for (const [user, epoch] of [
      [userId, 2],
      ["019a9e2c-7c1e-7abc-8def-0123456789ac", 1],
    ] as const) {
      slotOf(scenario, paperId).slot = toBase64url(await sealSlot(opener, user, AccountKey.generate(epoch)));
      await expect(
        unlock(await scenario.world.open(`phone ${user} ${String(epoch)}`), scenario.paper, {}),
      ).rejects.toEqual(errorWithCode("decryption_failed"));
    }
  });

  it("drops one: the list says so, and the others open", async () => {
    const scenario = await createScenario();
    const { keyring } = scenario.world.service.account;
    if (keyring === null) throw new TypeError("no keyring");
    keyring.slots = keyring.slots.filter(({ opener_id: id }) => id !== scenario.ids[1]);
    expect((await listOpeners(scenario.laptop)).openers.map(({ hasSlot }) => hasSlot)).toEqual([true, false, true]);
    await expect(unlock(await scenario.world.open("phone"), scenario.paper, {})).rejects.toEqual(
      errorWithCode("not_this_recovery_code"),
    );
    (await unlock(await scenario.world.open("tablet"), passkey, {})).opener.wipe();
  });

  it("gives rubbish beside the right one: that one is found all the same", async () => {
    const scenario = await createScenario();
    scenario.world.service.account.keyring?.slots.unshift({
      opener_id: "019a9e2c-7c1e-7abc-8def-0123456789ff",
      kind: "recovery_code",
      slot: toBase64url(new Uint8Array(600)),
    });
    (await unlock(await scenario.world.open("phone"), scenario.paper, {})).opener.wipe();
    await expect(
      unlock(
        await scenario.world.open("tablet"),
        { kind: "recovery_code", code: (await generateRecoveryCode()).identity },
        {},
      ),
    ).rejects.toEqual(errorWithCode("decryption_failed"));
  });

  it("calls a code a passkey: neither takes it", async () => {
    const scenario = await createScenario();
    slotOf(scenario, scenario.ids[1]).kind = "passkey";
    await expect(unlock(await scenario.world.open("phone"), scenario.paper, {})).rejects.toEqual(
      errorWithCode("not_this_recovery_code"),
    );
  });
});

describe("a service that brings back what was removed", () => {
  it("serves the old slot again: the book does not have it", async () => {
    const scenario = await createScenario();
    const [, paperId = ""] = scenario.ids;
    const oldSlot = { ...slotOf(scenario, paperId) };
    await removeOpener(scenario.laptop, paperId, makePicture("market"), {});
    scenario.world.service.account.keyring?.slots.push({
      opener_id: oldSlot.opener_id,
      kind: "recovery_code",
      slot: oldSlot.slot,
    });
    await expect(unlock(await scenario.world.open("phone"), scenario.paper, {})).rejects.toEqual(
      errorWithCode("decryption_failed"),
    );
    await expect(openSmallSecret(scenario.laptop, scenario.secrets[0] ?? "", scenario.paper, {})).rejects.toEqual(
      errorWithCode("decryption_failed"),
    );
  });

  it("serves the whole account as it was before: a device that saw the removal stops", async () => {
    const scenario = await createScenario();
    const before = scenario.world.service.snapshot();
    await removeOpener(scenario.laptop, scenario.ids[1] ?? "", makePicture("market"), {});
    scenario.world.service.account = before;
    await expect(unlock(await scenario.world.open(), scenario.paper, {})).rejects.toEqual(errorWithCode("older_state"));
  });

  it("serves the account as it was before one was added: the device that added it stops", async () => {
    const scenario = await createScenario();
    const before = scenario.world.service.snapshot();
    await addOpener(
      scenario.laptop,
      { key: { kind: "recovery_code", code: (await generateRecoveryCode()).identity }, name: "Second paper" },
      null,
      {},
    );
    scenario.world.service.account = before;
    await expect(listOpeners(await scenario.world.open())).rejects.toEqual(errorWithCode("older_state"));
  });
});

describe("a service that lies while secrets are sealed to more openers", () => {
  it("gives the ticket of another secret: nothing is sealed", async () => {
    const scenario = await createScenario();
    const before = scenario.world.service.snapshot();
    const [first = "", second = ""] = scenario.secrets;
    const otherTicket = lastOf(before.rows.get(second)?.versions)?.ticket;
    scenario.world.service.transformAnswer = (call, answer) =>
      call === "POST /secrets/store/get-secret" ? { ...(answer as object), ticket: otherTicket } : answer;
    await expect(resealForAllOpeners(scenario.laptop, makePicture("market"), {})).rejects.toEqual(
      errorWithCode("list_mismatch"),
    );
    scenario.world.service.transformAnswer = (_call, answer) => answer;
    expect(
      (await listOpeners(scenario.laptop)).secrets.find(({ secretId }) => secretId === first)?.missing,
    ).toHaveLength(2);
  });

  it("says that it was published when it was not: the next reading tells", async () => {
    const scenario = await createScenario();
    const before = scenario.world.service.snapshot();
    scenario.world.service.transformAnswer = (call, answer) => {
      if (call === "POST /secrets/store") scenario.world.service.account = structuredClone(before);
      return answer;
    };
    await expect(resealForAllOpeners(scenario.laptop, makePicture("market"), {})).rejects.toEqual(
      errorWithCode("older_state"),
    );
  });

  it("keeps the old ticket in place of the new one: opening tells", async () => {
    const scenario = await createScenario();
    const [first = ""] = scenario.secrets;
    const oldTicket = lastOf(scenario.world.service.account.rows.get(first)?.versions)?.ticket ?? "";
    await resealForAllOpeners(scenario.laptop, makePicture("market"), {});
    const row = lastOf(scenario.world.service.account.rows.get(first)?.versions);
    if (row === undefined) throw new TypeError("no row");
    expect(fromBase64url(row.ticket).length).toBeGreaterThan(fromBase64url(oldTicket).length);
    row.ticket = oldTicket;
    await expect(openSmallSecret(await scenario.world.open("phone"), first, makePicture("market"), {})).rejects.toEqual(
      errorWithCode("list_mismatch"),
    );
  });
});

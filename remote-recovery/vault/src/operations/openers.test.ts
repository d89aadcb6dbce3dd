import "fake-indexeddb/auto";

import { PortalError } from "@relicario/shared/errors";

import { entropyToMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";

import { copyOf } from "../seal/bytes.ts";
import type { PresentedKey } from "../rpc/presented-opener.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { resealForAllOpeners, removeOpener } from "./reseal-for-all-openers.ts";
import { examinePicture } from "./examine.ts";
import { list } from "./list.ts";
import { addOpener, listOpeners, generateRecoveryCode } from "./openers.ts";
import { protect } from "./protect.ts";
import { openSmallSecret } from "./open-secret.ts";
import { checkCopy } from "./check-copy.ts";
import { restoreVersion } from "./versions.ts";
import { unlock } from "../openers/unlock.ts";
import { update } from "./update.ts";

const errorWithCode = (expected: string, details?: unknown): unknown =>
  expect.objectContaining({ code: expected, ...(details === undefined ? {} : { details }) });
const decodeContent = ({ content }: { readonly content: Uint8Array }): string => new TextDecoder().decode(content);
const makePasskey = (fill: number): PresentedKey => ({ kind: "passkey", prf: copyOf(new Uint8Array(32).fill(fill)) });
const createPrintedCode = async (): Promise<PresentedKey> => ({
  kind: "recovery_code",
  code: (await generateRecoveryCode()).words.join(" "),
});

async function createWorldWithSecrets(
  ...titles: readonly string[]
): Promise<{ world: World; laptop: VaultSession; ids: string[] }> {
  const world = createWorld();
  const laptop = await world.open();
  const ids: string[] = [];
  for (const [index, title] of titles.entries())
    ids.push((await protect(laptop, textSecret(title, index === 0 ? makePicture("market") : undefined), {})).secretId);
  return { world, laptop, ids };
}

describe("a recovery code", () => {
  it("is 24 words and an identity of the same 32 bytes; either opens later secrets on another device", async () => {
    const { world, laptop } = await createWorldWithSecrets("First");
    const { words, identity } = await generateRecoveryCode();
    expect(words).toHaveLength(24);
    expect(identity).toMatch(/^AGE-SECRET-KEY-PQ-1[0-9A-Z]+$/);
    await addOpener(
      laptop,
      { key: { kind: "recovery_code", code: words.join(" ") }, name: "Paper in the safe" },
      null,
      {},
    );
    const { secretId } = await protect(laptop, textSecret("Second"), {});
    for (const typedCode of [
      words.join(" "),
      `  ${words.join("\n").toUpperCase()} `,
      words.map((word, index) => `${String(index + 1)}. ${word}`).join(", "),
      identity,
      identity.toLowerCase(),
    ]) {
      const phone = await world.open(`phone ${typedCode}`);
      expect(
        decodeContent(await openSmallSecret(phone, secretId, { kind: "recovery_code", code: typedCode }, {})),
      ).toBe("content of Second");
    }
  });

  it.each([
    ["too few words", "abandon ability", { words: 2 }],
    [
      "words that are not in the list, by position",
      Array.from({ length: 24 }, (_, index) => (index === 2 || index === 23 ? "relicario" : "abandon")).join(" "),
      { unknown: ["3", "24"] },
    ],
    ["a checksum that does not fit", Array.from({ length: 24 }, () => "abandon").join(" "), {}],
    ["an empty text", "", { words: 0 }],
  ])("reports %s without naming a word", async (_case, typedCode, details) => {
    const { world } = await createWorldWithSecrets("First");
    const error: unknown = await unlock(
      await world.open("phone"),
      { kind: "recovery_code", code: typedCode },
      {},
    ).catch((thrown: unknown) => thrown);
    expect(error).toEqual(errorWithCode("recovery_code_unreadable", details));
    expect(JSON.stringify(error)).not.toContain("abandon");
  });

  it("opens nothing before it is added to this account", async () => {
    const { world, laptop, ids } = await createWorldWithSecrets("First");
    await expect(unlock(await world.open("phone"), await createPrintedCode(), {})).rejects.toEqual(
      errorWithCode("not_this_recovery_code"),
    );
    await addOpener(laptop, { key: await createPrintedCode(), name: "Paper" }, null, {});
    await expect(unlock(await world.open("phone"), await createPrintedCode(), {})).rejects.toEqual(
      errorWithCode("not_this_recovery_code"),
    );
    await expect(openSmallSecret(laptop, ids[0] ?? "", await createPrintedCode(), {})).rejects.toEqual(
      errorWithCode("not_this_recovery_code"),
    );
  });

  it("unlocks, but does not open earlier secrets", async () => {
    const { world, laptop, ids } = await createWorldWithSecrets("First");
    const key = await createPrintedCode();
    await addOpener(laptop, { key, name: "Paper" }, null, {});
    const phone = await world.open("phone");
    await expect(openSmallSecret(phone, ids[0] ?? "", key, {})).rejects.toEqual(errorWithCode("opener_needed"));
    expect((await list(phone)).map(({ label }) => label?.title)).toEqual(["First"]); // the device is unlocked
  });
});

describe("a passkey", () => {
  it("unlocks, opens, checks a copy and restores like a picture", async () => {
    const { world, laptop, ids } = await createWorldWithSecrets("First");
    const [secretId = ""] = ids;
    await addOpener(laptop, { key: makePasskey(7), name: "Phone" }, null, {});
    await resealForAllOpeners(laptop, makePicture("market"), {});
    const phone = await world.open("phone");
    (await unlock(phone, makePasskey(7), {})).opener.wipe();
    expect(decodeContent(await openSmallSecret(phone, secretId, makePasskey(7), {}))).toBe("content of First");
    const { copyCheckedAt } = await checkCopy(phone, secretId, makePasskey(7), {});
    expect((await listOpeners(phone)).openers).toMatchObject([
      { kind: "image", copyCheckedAt: null },
      { kind: "passkey", name: "Phone", copyCheckedAt },
    ]);
    await update(phone, secretId, { baseVersion: 1, content: textSecret("First", undefined, "second text") }, {});
    await restoreVersion(phone, secretId, 1, makePasskey(7), {});
    expect(decodeContent(await openSmallSecret(phone, secretId, makePasskey(7), {}))).toBe("content of First");
    await expect(unlock(phone, makePasskey(8), {})).rejects.toEqual(errorWithCode("not_this_passkey"));
  });

  it("is refused if its PRF output is not 32 bytes", async () => {
    const { world, laptop } = await createWorldWithSecrets("First");
    const callCountBefore = world.service.calls.length;
    await expect(
      addOpener(laptop, { key: { kind: "passkey", prf: copyOf(new Uint8Array(16)) }, name: "Phone" }, null, {}),
    ).rejects.toEqual(errorWithCode("passkey_without_prf"));
    expect(world.service.calls).toHaveLength(callCountBefore);
  });

  it("is recorded on devices that created or used the passkey, until the passkey is removed", async () => {
    const { world, laptop } = await createWorldWithSecrets("First");
    const { openerId } = await addOpener(laptop, { key: makePasskey(7), name: "Laptop" }, null, {});
    expect((await laptop.device.read()).passkeyOpener).toBe(openerId);
    const phone = await world.open("phone");
    (await unlock(phone, makePasskey(7), {})).opener.wipe();
    expect((await phone.device.read()).passkeyOpener).toBe(openerId);
    await removeOpener(phone, openerId, makePicture("market"), {});
    expect((await phone.device.read()).passkeyOpener).toBeNull();
  });
});

describe("addOpener", () => {
  it("needs a presented opener other than the new key", async () => {
    const { world } = await createWorldWithSecrets("First");
    const key = await createPrintedCode();
    const phone = await world.open("phone");
    await expect(addOpener(phone, { key, name: "Paper" }, null, {})).rejects.toEqual(errorWithCode("vault_locked"));
    await expect(addOpener(phone, { key, name: "Paper" }, key, {})).rejects.toEqual(
      errorWithCode("not_this_recovery_code"),
    );
    await addOpener(phone, { key, name: "Paper" }, makePicture("market"), {});
    expect((await listOpeners(phone)).openers.map(({ name }) => name)).toEqual(["The market", "Paper"]);
  });

  it("adds the same key once, even when responses are lost", async () => {
    const { world, laptop } = await createWorldWithSecrets("First");
    const key = await createPrintedCode();
    let putCount = 0;
    world.service.transformResponse = (call, response) => {
      if (call === "PUT /user/keyring" && putCount++ === 0) throw new PortalError("service_unavailable");
      return response;
    };
    const addedOpener = await addOpener(laptop, { key, name: "Paper" }, null, {});
    expect(putCount).toBe(2);
    expect(await addOpener(laptop, { key, name: "Paper again" }, null, {})).toEqual(addedOpener);
    expect((await listOpeners(laptop)).openers).toHaveLength(2);
  });
});

describe("resealForAllOpeners", () => {
  it("seals everything that the opener opens to all openers, with the same versions and contents", async () => {
    const { world, laptop, ids } = await createWorldWithSecrets("First", "Second", "Third");
    const key = await createPrintedCode();
    await addOpener(laptop, { key, name: "Paper" }, null, {});
    const overviewBefore = await listOpeners(laptop);
    expect(overviewBefore.secrets.map(({ missingOpenerIds }) => missingOpenerIds.length)).toEqual([1, 1, 1]);
    expect(overviewBefore.openers.map(({ secretCount, soleOpenerOf }) => [secretCount, soleOpenerOf.length])).toEqual([
      [3, 3],
      [0, 0],
    ]);
    const progress: number[] = [];
    expect(
      await resealForAllOpeners(laptop, makePicture("market"), {
        onProgress: ({ phase, done }) => phase === "sealing" && progress.push(done),
      }),
    ).toEqual({ resealedCount: 3, skippedIds: [] });
    expect(progress).toEqual([0, 1, 2, 3]);
    const overviewAfter = await listOpeners(laptop);
    expect(overviewAfter.secrets.map(({ missingOpenerIds }) => missingOpenerIds.length)).toEqual([0, 0, 0]);
    expect(overviewAfter.openers.map(({ secretCount, soleOpenerOf }) => [secretCount, soleOpenerOf.length])).toEqual([
      [3, 0],
      [3, 0],
    ]);
    expect((await list(laptop)).map(({ version, rev }) => [version, rev])).toEqual([
      [1, 2],
      [1, 2],
      [1, 2],
    ]);
    const phone = await world.open("phone");
    for (const [index, title] of ["First", "Second", "Third"].entries()) {
      expect(decodeContent(await openSmallSecret(phone, ids[index] ?? "", key, {}))).toBe(`content of ${title}`);
      expect(decodeContent(await openSmallSecret(phone, ids[index] ?? "", makePicture("market"), {}))).toBe(
        `content of ${title}`,
      );
    }
  });

  it("keeps a new name, and continues after an abort", async () => {
    const { world, laptop, ids } = await createWorldWithSecrets("First", "Second", "Third");
    await update(laptop, ids[2] ?? "", { baseVersion: 1, title: "Renamed" }, {});
    const key = await createPrintedCode();
    await addOpener(laptop, { key, name: "Paper" }, null, {});
    const controller = new AbortController();
    const stoppedReseal = resealForAllOpeners(laptop, makePicture("market"), {
      signal: controller.signal,
      onProgress: ({ phase, done }) => {
        if (phase === "sealing" && done === 1) controller.abort();
      },
    });
    await expect(stoppedReseal).rejects.toEqual(errorWithCode("cancelled"));
    const partialOverview = await listOpeners(laptop);
    expect(partialOverview.secrets.filter(({ missingOpenerIds }) => missingOpenerIds.length === 0)).toHaveLength(1);
    expect(await resealForAllOpeners(await world.open(), makePicture("market"), {})).toEqual({
      resealedCount: 2,
      skippedIds: [],
    });
    expect(await resealForAllOpeners(laptop, makePicture("market"), {})).toEqual({ resealedCount: 0, skippedIds: [] });
    expect(await openSmallSecret(await world.open("phone"), ids[2] ?? "", key, {})).toMatchObject({
      title: "Renamed",
      signatureStatus: "verified",
    });
  });

  it("skips and names secrets that this opener does not open", async () => {
    const { laptop, ids } = await createWorldWithSecrets("First");
    const key = await createPrintedCode();
    await addOpener(laptop, { key, name: "Paper" }, null, {});
    expect(await resealForAllOpeners(laptop, key, {})).toEqual({ resealedCount: 0, skippedIds: ids });
  });
});

describe("removeOpener", () => {
  it("removes an opener from secrets, book and keyring, so that it neither unlocks nor opens", async () => {
    const { world, laptop, ids } = await createWorldWithSecrets("First");
    const key = await createPrintedCode();
    const { openerId } = await addOpener(laptop, { key, name: "Paper" }, null, {});
    await resealForAllOpeners(laptop, makePicture("market"), {});
    await removeOpener(laptop, openerId, makePicture("market"), {});
    expect((await listOpeners(laptop)).openers.map(({ kind }) => kind)).toEqual(["image"]);
    expect((await list(laptop)).map(({ label }) => label?.openerIds.length)).toEqual([1]);
    await expect(openSmallSecret(await world.open("phone"), ids[0] ?? "", key, {})).rejects.toEqual(
      errorWithCode("not_this_recovery_code"),
    );
    expect(
      decodeContent(await openSmallSecret(await world.open("phone"), ids[0] ?? "", makePicture("market"), {})),
    ).toBe("content of First");
  });

  it("removes an image and its record with another image, but never the last image", async () => {
    const { world, laptop } = await createWorldWithSecrets("First");
    await protect(laptop, textSecret("Second", makePicture("garden")), {});
    const [marketOpener, gardenOpener] = (await listOpeners(laptop)).openers;
    await expect(removeOpener(laptop, marketOpener?.id ?? "", makePicture("garden"), {})).rejects.toEqual(
      errorWithCode("last_opener", { secrets: 1 }),
    );
    await resealForAllOpeners(laptop, makePicture("market"), {});
    await removeOpener(laptop, marketOpener?.id ?? "", makePicture("garden"), {});
    expect(world.service.account.keyring?.imageRecords.map(({ id }) => id)).toEqual([gardenOpener?.id]);
    await expect(unlock(await world.open("phone"), makePicture("market"), {})).rejects.toEqual(
      errorWithCode("not_this_picture"),
    );
    const key = await createPrintedCode();
    await addOpener(laptop, { key, name: "Paper" }, null, {});
    await resealForAllOpeners(laptop, makePicture("garden"), {});
    await expect(removeOpener(laptop, gardenOpener?.id ?? "", key, {})).rejects.toEqual(
      errorWithCode("last_opener", {}),
    );
  });

  it("loses secrets only when all of them are named", async () => {
    const { laptop, ids } = await createWorldWithSecrets("First", "Second");
    const key = await createPrintedCode();
    await addOpener(laptop, { key, name: "Paper" }, null, {});
    await protect(laptop, textSecret("Third", makePicture("garden")), {});
    const [marketOpener] = (await listOpeners(laptop)).openers;
    expect(marketOpener?.soleOpenerOf.toSorted()).toEqual(ids.toSorted());
    await expect(
      removeOpener(laptop, marketOpener?.id ?? "", key, { acceptedLosses: ids.slice(0, 1) }),
    ).rejects.toEqual(errorWithCode("last_opener", { secrets: 2 }));
    await removeOpener(laptop, marketOpener?.id ?? "", key, { acceptedLosses: ids });
    expect((await listOpeners(laptop)).secrets.filter(({ openerIds }) => openerIds.length === 0)).toHaveLength(2);
  });

  it("still requires a passphrase for a removed picture that needed one", async () => {
    const { laptop } = await createWorldWithSecrets("Wallet");
    await protect(laptop, textSecret("Letter", makePicture("pale-sand", "a passphrase")), {});
    const { openers } = await listOpeners(laptop);
    await removeOpener(laptop, openers[1]?.id ?? "", makePicture("market"), {
      acceptedLosses: (await list(laptop)).map(({ secretId }) => secretId),
    });
    expect(await examinePicture(laptop, makePicture("pale-sand").picture)).toMatchObject({
      level: "amber",
      known: { kind: "removed" },
    });
    await expect(protect(laptop, textSecret("Deed", makePicture("pale-sand")), {})).rejects.toEqual(
      errorWithCode("picture_needs_passphrase"),
    );
  });

  it("does not remove the presented opener", async () => {
    const { laptop } = await createWorldWithSecrets("First");
    const key = await createPrintedCode();
    const { openerId } = await addOpener(laptop, { key, name: "Paper" }, null, {});
    await expect(removeOpener(laptop, openerId, key, {})).rejects.toEqual(
      errorWithCode("validation_error", { fields: ["opener"] }),
    );
    await expect(removeOpener(laptop, "019a9e2c-7c1e-7abc-8def-0123456789ab", key, {})).rejects.toEqual(
      errorWithCode("not_found"),
    );
  });
});

it("a recovery code uses the BIP-39 word list", async () => {
  const { words } = await generateRecoveryCode();
  expect(new Set(words.map((word) => wordlist.includes(word)))).toEqual(new Set([true]));
  expect(entropyToMnemonic(new Uint8Array(32), wordlist)).toMatch(/^(abandon ){23}art$/);
});

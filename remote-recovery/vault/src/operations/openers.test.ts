import "fake-indexeddb/auto";

import { PortalError } from "@relicario/shared/errors";

import { entropyToMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";

import { copyOf } from "../seal/bytes.ts";
import type { PresentedKey } from "../rpc/presented-opener.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { resealForAllOpeners, removeOpener } from "./reseal-for-all-openers.ts";
import { examine } from "./examine.ts";
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
const passkey = (fill: number): PresentedKey => ({ kind: "passkey", prf: copyOf(new Uint8Array(32).fill(fill)) });
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
  it("is 24 words and an identity of the same 32 bytes; either unlocks another device and opens what is protected since", async () => {
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
    for (const typed of [
      words.join(" "),
      `  ${words.join("\n").toUpperCase()} `,
      words.map((word, index) => `${String(index + 1)}. ${word}`).join(", "),
      identity,
      identity.toLowerCase(),
    ]) {
      const phone = await world.open(`phone ${typed}`);
      expect(decodeContent(await openSmallSecret(phone, secretId, { kind: "recovery_code", code: typed }, {}))).toBe(
        "content of Second",
      );
    }
  });

  it.each([
    ["too few words", "abandon ability", { words: 2 }],
    [
      "words that are not in the list, by their places",
      Array.from({ length: 24 }, (_, index) => (index === 2 || index === 23 ? "relicario" : "abandon")).join(" "),
      { unknown: ["3", "24"] },
    ],
    ["a checksum that does not fit", Array.from({ length: 24 }, () => "abandon").join(" "), {}],
    ["nothing", "", { words: 0 }],
  ])("says what is wrong with %s, without naming a word", async (_case, typed, details) => {
    const { world } = await createWorldWithSecrets("First");
    const error: unknown = await unlock(await world.open("phone"), { kind: "recovery_code", code: typed }, {}).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toEqual(errorWithCode("recovery_code_unreadable", details));
    expect(JSON.stringify(error)).not.toContain("abandon");
  });

  it("of somebody else, or not yet added, opens nothing", async () => {
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

  it("does not open, on its own, what was protected before it", async () => {
    const { world, laptop, ids } = await createWorldWithSecrets("First");
    const key = await createPrintedCode();
    await addOpener(laptop, { key, name: "Paper" }, null, {});
    const phone = await world.open("phone");
    await expect(openSmallSecret(phone, ids[0] ?? "", key, {})).rejects.toEqual(errorWithCode("opener_needed"));
    expect((await list(phone)).map(({ label }) => label?.title)).toEqual(["First"]); // it unlocked
  });
});

describe("a passkey", () => {
  it("unlocks, opens, rehearses and restores as a picture does", async () => {
    const { world, laptop, ids } = await createWorldWithSecrets("First");
    const [secretId = ""] = ids;
    await addOpener(laptop, { key: passkey(7), name: "Phone" }, null, {});
    await resealForAllOpeners(laptop, makePicture("market"), {});
    const phone = await world.open("phone");
    (await unlock(phone, passkey(7), {})).opener.wipe();
    expect(decodeContent(await openSmallSecret(phone, secretId, passkey(7), {}))).toBe("content of First");
    const { copyCheckedAt } = await checkCopy(phone, secretId, passkey(7), {});
    expect((await listOpeners(phone)).openers).toMatchObject([
      { kind: "image", copyCheckedAt: null },
      { kind: "passkey", name: "Phone", copyCheckedAt },
    ]);
    await update(phone, secretId, { baseVersion: 1, content: textSecret("First", undefined, "second text") }, {});
    await restoreVersion(phone, secretId, 1, passkey(7), {});
    expect(decodeContent(await openSmallSecret(phone, secretId, passkey(7), {}))).toBe("content of First");
    await expect(unlock(phone, passkey(8), {})).rejects.toEqual(errorWithCode("not_this_passkey"));
  });

  it("whose output is not 32 bytes makes no opener", async () => {
    const { world, laptop } = await createWorldWithSecrets("First");
    const before = world.service.calls.length;
    await expect(
      addOpener(laptop, { key: { kind: "passkey", prf: copyOf(new Uint8Array(16)) }, name: "Phone" }, null, {}),
    ).rejects.toEqual(errorWithCode("passkey_without_prf"));
    expect(world.service.calls).toHaveLength(before);
  });

  it("is noted on the device that made or used it, and forgotten when it is removed", async () => {
    const { world, laptop } = await createWorldWithSecrets("First");
    const { openerId } = await addOpener(laptop, { key: passkey(7), name: "Laptop" }, null, {});
    expect((await laptop.device.read()).passkeyOpener).toBe(openerId);
    const phone = await world.open("phone");
    (await unlock(phone, passkey(7), {})).opener.wipe();
    expect((await phone.device.read()).passkeyOpener).toBe(openerId);
    await removeOpener(phone, openerId, makePicture("market"), {});
    expect((await phone.device.read()).passkeyOpener).toBeNull();
  });
});

describe("addOpener", () => {
  it("takes an opener that was shown, and a key that opens nothing yet is not one", async () => {
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

  it("adds the same one once, also when its answer is lost", async () => {
    const { world, laptop } = await createWorldWithSecrets("First");
    const key = await createPrintedCode();
    let lostAnswers = 0;
    world.service.transformAnswer = (call, answer) => {
      if (call === "PUT /user/keyring" && lostAnswers++ === 0) throw new PortalError("service_unavailable");
      return answer;
    };
    const first = await addOpener(laptop, { key, name: "Paper" }, null, {});
    expect(lostAnswers).toBe(2);
    expect(await addOpener(laptop, { key, name: "Paper again" }, null, {})).toEqual(first);
    expect((await listOpeners(laptop)).openers).toHaveLength(2);
  });
});

describe("cover", () => {
  it("seals everything that the opener opens to all openers, as the same versions with the same contents", async () => {
    const { world, laptop, ids } = await createWorldWithSecrets("First", "Second", "Third");
    const key = await createPrintedCode();
    await addOpener(laptop, { key, name: "Paper" }, null, {});
    const before = await listOpeners(laptop);
    expect(before.secrets.map(({ missing }) => missing.length)).toEqual([1, 1, 1]);
    expect(before.openers.map(({ secretCount, soleOpenerOf }) => [secretCount, soleOpenerOf.length])).toEqual([
      [3, 3],
      [0, 0],
    ]);
    const progress: number[] = [];
    expect(
      await resealForAllOpeners(laptop, makePicture("market"), {
        onProgress: ({ phase, done }) => phase === "sealing" && progress.push(done),
      }),
    ).toEqual({ resealed: 3, skipped: [] });
    expect(progress).toEqual([0, 1, 2, 3]);
    const after = await listOpeners(laptop);
    expect(after.secrets.map(({ missing }) => missing.length)).toEqual([0, 0, 0]);
    expect(after.openers.map(({ secretCount, soleOpenerOf }) => [secretCount, soleOpenerOf.length])).toEqual([
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

  it("keeps a new name, and goes on after an abort with what is left", async () => {
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
    const partial = await listOpeners(laptop);
    expect(partial.secrets.filter(({ missing }) => missing.length === 0)).toHaveLength(1);
    expect(await resealForAllOpeners(await world.open(), makePicture("market"), {})).toEqual({
      resealed: 2,
      skipped: [],
    });
    expect(await resealForAllOpeners(laptop, makePicture("market"), {})).toEqual({ resealed: 0, skipped: [] });
    expect(await openSmallSecret(await world.open("phone"), ids[2] ?? "", key, {})).toMatchObject({
      title: "Renamed",
      author: "verified",
    });
  });

  it("leaves what this opener does not open, and names it", async () => {
    const { laptop, ids } = await createWorldWithSecrets("First");
    const key = await createPrintedCode();
    await addOpener(laptop, { key, name: "Paper" }, null, {});
    expect(await resealForAllOpeners(laptop, key, {})).toEqual({ resealed: 0, skipped: ids });
  });
});

describe("removeOpener", () => {
  it("takes it out of secrets, book and keyring: it neither unlocks nor opens", async () => {
    const { world, laptop, ids } = await createWorldWithSecrets("First");
    const key = await createPrintedCode();
    const { openerId } = await addOpener(laptop, { key, name: "Paper" }, null, {});
    await resealForAllOpeners(laptop, makePicture("market"), {});
    await removeOpener(laptop, openerId, makePicture("market"), {});
    expect((await listOpeners(laptop)).openers.map(({ kind }) => kind)).toEqual(["image"]);
    expect((await list(laptop)).map(({ label }) => label?.openers.length)).toEqual([1]);
    await expect(openSmallSecret(await world.open("phone"), ids[0] ?? "", key, {})).rejects.toEqual(
      errorWithCode("not_this_recovery_code"),
    );
    expect(
      decodeContent(await openSmallSecret(await world.open("phone"), ids[0] ?? "", makePicture("market"), {})),
    ).toBe("content of First");
  });

  it("removes a picture by another one, with its record, and never the last one", async () => {
    const { world, laptop } = await createWorldWithSecrets("First");
    await protect(laptop, textSecret("Second", makePicture("garden")), {});
    const [market, garden] = (await listOpeners(laptop)).openers;
    await expect(removeOpener(laptop, market?.id ?? "", makePicture("garden"), {})).rejects.toEqual(
      errorWithCode("last_opener", { secrets: 1 }),
    );
    await resealForAllOpeners(laptop, makePicture("market"), {});
    await removeOpener(laptop, market?.id ?? "", makePicture("garden"), {});
    expect(world.service.account.keyring?.imageRecords.map(({ id }) => id)).toEqual([garden?.id]);
    await expect(unlock(await world.open("phone"), makePicture("market"), {})).rejects.toEqual(
      errorWithCode("not_this_picture"),
    );
    const key = await createPrintedCode();
    await addOpener(laptop, { key, name: "Paper" }, null, {});
    await resealForAllOpeners(laptop, makePicture("garden"), {});
    await expect(removeOpener(laptop, garden?.id ?? "", key, {})).rejects.toEqual(errorWithCode("last_opener", {}));
  });

  it("loses secrets only when exactly they were named", async () => {
    const { laptop, ids } = await createWorldWithSecrets("First", "Second");
    const key = await createPrintedCode();
    await addOpener(laptop, { key, name: "Paper" }, null, {});
    await protect(laptop, textSecret("Third", makePicture("garden")), {});
    const [market] = (await listOpeners(laptop)).openers;
    expect(market?.soleOpenerOf.toSorted()).toEqual(ids.toSorted());
    await expect(removeOpener(laptop, market?.id ?? "", key, { acceptedLosses: ids.slice(0, 1) })).rejects.toEqual(
      errorWithCode("last_opener", { secrets: 2 }),
    );
    await removeOpener(laptop, market?.id ?? "", key, { acceptedLosses: ids });
    expect((await listOpeners(laptop)).secrets.filter(({ openers }) => openers.length === 0)).toHaveLength(2);
  });

  it("leaves a picture that needs a passphrase as one", async () => {
    const { laptop } = await createWorldWithSecrets("Wallet");
    await protect(laptop, textSecret("Letter", makePicture("pale-sand", "phrase")), {});
    const { openers } = await listOpeners(laptop);
    await removeOpener(laptop, openers[1]?.id ?? "", makePicture("market"), {
      acceptedLosses: (await list(laptop)).map(({ secretId }) => secretId),
    });
    expect(await examine(laptop, makePicture("pale-sand").picture)).toMatchObject({
      level: "amber",
      known: { kind: "removed" },
    });
    await expect(protect(laptop, textSecret("Deed", makePicture("pale-sand")), {})).rejects.toEqual(
      errorWithCode("picture_needs_passphrase"),
    );
  });

  it("does not remove the one that is shown for it", async () => {
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

it("the words of a code are those of BIP-39 for its bytes", async () => {
  const { words } = await generateRecoveryCode();
  expect(new Set(words.map((word) => wordlist.includes(word)))).toEqual(new Set([true]));
  expect(entropyToMnemonic(new Uint8Array(32), wordlist)).toMatch(/^(abandon ){23}art$/);
});

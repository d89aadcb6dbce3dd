import "fake-indexeddb/auto";

import { PortalError } from "@relicario/shared/errors";

import { entropyToMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";

import { copyOf } from "../seal/bytes.ts";
import type { ShownKey } from "../shown-image.ts";
import { createWorld, shown, textSecret, type World } from "../testing/world.ts";
import type { VaultContext } from "../vault-context.ts";
import { cover, removeOpener } from "./cover.ts";
import { examine } from "./examine.ts";
import { list } from "./list.ts";
import { addOpener, listOpeners, newRecoveryCode } from "./openers.ts";
import { protect } from "./protect.ts";
import { recover } from "./recover.ts";
import { rehearse } from "./rehearse.ts";
import { restoreVersion } from "./versions.ts";
import { unlock } from "./unlock.ts";
import { update } from "./update.ts";

const code = (expected: string, details?: unknown): unknown =>
  expect.objectContaining({ code: expected, ...(details === undefined ? {} : { details }) });
const plain = ({ content }: { readonly content: Uint8Array }): string => new TextDecoder().decode(content);
const passkey = (fill: number): ShownKey => ({ kind: "passkey", prf: copyOf(new Uint8Array(32).fill(fill)) });
const printed = async (): Promise<ShownKey> => ({
  kind: "recovery_code",
  code: (await newRecoveryCode()).words.join(" "),
});

async function worldWith(...titles: readonly string[]): Promise<{ world: World; laptop: VaultContext; ids: string[] }> {
  const world = createWorld();
  const laptop = await world.open();
  const ids: string[] = [];
  for (const [index, title] of titles.entries())
    ids.push((await protect(laptop, textSecret(title, index === 0 ? shown("market") : undefined), {})).secretId);
  return { world, laptop, ids };
}

describe("a recovery code", () => {
  it("is 24 words and an identity of the same 32 bytes; either unlocks another device and opens what is protected since", async () => {
    const { world, laptop } = await worldWith("First");
    const { words, identity } = await newRecoveryCode();
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
      expect(plain(await recover(phone, secretId, { kind: "recovery_code", code: typed }, {}))).toBe(
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
  ])("says what is wrong with %s, without naming a word", async (_what, typed, details) => {
    const { world } = await worldWith("First");
    const error: unknown = await unlock(await world.open("phone"), { kind: "recovery_code", code: typed }, {}).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toEqual(code("recovery_code_unreadable", details));
    expect(JSON.stringify(error)).not.toContain("abandon");
  });

  it("of somebody else, or not yet added, opens nothing", async () => {
    const { world, laptop, ids } = await worldWith("First");
    await expect(unlock(await world.open("phone"), await printed(), {})).rejects.toEqual(
      code("not_this_recovery_code"),
    );
    await addOpener(laptop, { key: await printed(), name: "Paper" }, null, {});
    await expect(unlock(await world.open("phone"), await printed(), {})).rejects.toEqual(
      code("not_this_recovery_code"),
    );
    await expect(recover(laptop, ids[0] ?? "", await printed(), {})).rejects.toEqual(code("not_this_recovery_code"));
  });

  it("does not open, on its own, what was protected before it", async () => {
    const { world, laptop, ids } = await worldWith("First");
    const key = await printed();
    await addOpener(laptop, { key, name: "Paper" }, null, {});
    const phone = await world.open("phone");
    await expect(recover(phone, ids[0] ?? "", key, {})).rejects.toEqual(code("opener_needed"));
    expect((await list(phone)).map(({ label }) => label?.title)).toEqual(["First"]); // it unlocked
  });
});

describe("a passkey", () => {
  it("unlocks, opens, rehearses and restores as a picture does", async () => {
    const { world, laptop, ids } = await worldWith("First");
    const [secretId = ""] = ids;
    await addOpener(laptop, { key: passkey(7), name: "Phone" }, null, {});
    await cover(laptop, shown("market"), {});
    const phone = await world.open("phone");
    (await unlock(phone, passkey(7), {})).opener.forget();
    expect(plain(await recover(phone, secretId, passkey(7), {}))).toBe("content of First");
    const { rehearsedAt } = await rehearse(phone, secretId, passkey(7), {});
    expect((await listOpeners(phone)).openers).toMatchObject([
      { kind: "image", rehearsedAt: null },
      { kind: "passkey", name: "Phone", rehearsedAt },
    ]);
    await update(phone, secretId, { baseVersion: 1, content: textSecret("First", undefined, "second text") }, {});
    await restoreVersion(phone, secretId, 1, passkey(7), {});
    expect(plain(await recover(phone, secretId, passkey(7), {}))).toBe("content of First");
    await expect(unlock(phone, passkey(8), {})).rejects.toEqual(code("not_this_passkey"));
  });

  it("whose output is not 32 bytes makes no opener", async () => {
    const { world, laptop } = await worldWith("First");
    const before = world.service.calls.length;
    await expect(
      addOpener(laptop, { key: { kind: "passkey", prf: copyOf(new Uint8Array(16)) }, name: "Phone" }, null, {}),
    ).rejects.toEqual(code("passkey_without_prf"));
    expect(world.service.calls).toHaveLength(before);
  });

  it("is noted on the device that made or used it, and forgotten when it is removed", async () => {
    const { world, laptop } = await worldWith("First");
    const { openerId } = await addOpener(laptop, { key: passkey(7), name: "Laptop" }, null, {});
    expect((await laptop.device.read()).passkeyOpener).toBe(openerId);
    const phone = await world.open("phone");
    (await unlock(phone, passkey(7), {})).opener.forget();
    expect((await phone.device.read()).passkeyOpener).toBe(openerId);
    await removeOpener(phone, openerId, shown("market"), {});
    expect((await phone.device.read()).passkeyOpener).toBeNull();
  });
});

describe("addOpener", () => {
  it("takes an opener that was shown, and a key that opens nothing yet is not one", async () => {
    const { world } = await worldWith("First");
    const key = await printed();
    const phone = await world.open("phone");
    await expect(addOpener(phone, { key, name: "Paper" }, null, {})).rejects.toEqual(code("vault_locked"));
    await expect(addOpener(phone, { key, name: "Paper" }, key, {})).rejects.toEqual(code("not_this_recovery_code"));
    await addOpener(phone, { key, name: "Paper" }, shown("market"), {});
    expect((await listOpeners(phone)).openers.map(({ name }) => name)).toEqual(["The market", "Paper"]);
  });

  it("adds the same one once, also when its answer is lost", async () => {
    const { world, laptop } = await worldWith("First");
    const key = await printed();
    let lost = 0;
    world.service.answer = (call, answer) => {
      if (call === "PUT /user/keyring" && lost++ === 0) throw new PortalError("service_unavailable");
      return answer;
    };
    const first = await addOpener(laptop, { key, name: "Paper" }, null, {});
    expect(lost).toBe(2);
    expect(await addOpener(laptop, { key, name: "Paper again" }, null, {})).toEqual(first);
    expect((await listOpeners(laptop)).openers).toHaveLength(2);
  });
});

describe("cover", () => {
  it("seals everything that the opener opens to all openers, as the same versions with the same contents", async () => {
    const { world, laptop, ids } = await worldWith("First", "Second", "Third");
    const key = await printed();
    await addOpener(laptop, { key, name: "Paper" }, null, {});
    const before = await listOpeners(laptop);
    expect(before.secrets.map(({ missing }) => missing.length)).toEqual([1, 1, 1]);
    expect(before.openers.map(({ opens, onlyWayTo }) => [opens, onlyWayTo.length])).toEqual([
      [3, 3],
      [0, 0],
    ]);
    const told: number[] = [];
    expect(
      await cover(laptop, shown("market"), { onProgress: ({ phase, done }) => phase === "sealing" && told.push(done) }),
    ).toEqual({ covered: 3, left: [] });
    expect(told).toEqual([0, 1, 2, 3]);
    const after = await listOpeners(laptop);
    expect(after.secrets.map(({ missing }) => missing.length)).toEqual([0, 0, 0]);
    expect(after.openers.map(({ opens, onlyWayTo }) => [opens, onlyWayTo.length])).toEqual([
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
      expect(plain(await recover(phone, ids[index] ?? "", key, {}))).toBe(`content of ${title}`);
      expect(plain(await recover(phone, ids[index] ?? "", shown("market"), {}))).toBe(`content of ${title}`);
    }
  });

  it("keeps a new name, and goes on after an abort with what is left", async () => {
    const { world, laptop, ids } = await worldWith("First", "Second", "Third");
    await update(laptop, ids[2] ?? "", { baseVersion: 1, title: "Renamed" }, {});
    const key = await printed();
    await addOpener(laptop, { key, name: "Paper" }, null, {});
    const controller = new AbortController();
    const stopped = cover(laptop, shown("market"), {
      signal: controller.signal,
      onProgress: ({ phase, done }) => {
        if (phase === "sealing" && done === 1) controller.abort();
      },
    });
    await expect(stopped).rejects.toEqual(code("cancelled"));
    const half = await listOpeners(laptop);
    expect(half.secrets.filter(({ missing }) => missing.length === 0)).toHaveLength(1);
    expect(await cover(await world.open(), shown("market"), {})).toEqual({ covered: 2, left: [] });
    expect(await cover(laptop, shown("market"), {})).toEqual({ covered: 0, left: [] });
    expect(await recover(await world.open("phone"), ids[2] ?? "", key, {})).toMatchObject({
      title: "Renamed",
      author: "verified",
    });
  });

  it("leaves what this opener does not open, and names it", async () => {
    const { laptop, ids } = await worldWith("First");
    const key = await printed();
    await addOpener(laptop, { key, name: "Paper" }, null, {});
    expect(await cover(laptop, key, {})).toEqual({ covered: 0, left: ids });
  });
});

describe("removeOpener", () => {
  it("takes it out of secrets, book and keyring: it neither unlocks nor opens", async () => {
    const { world, laptop, ids } = await worldWith("First");
    const key = await printed();
    const { openerId } = await addOpener(laptop, { key, name: "Paper" }, null, {});
    await cover(laptop, shown("market"), {});
    await removeOpener(laptop, openerId, shown("market"), {});
    expect((await listOpeners(laptop)).openers.map(({ kind }) => kind)).toEqual(["image"]);
    expect((await list(laptop)).map(({ label }) => label?.openers.length)).toEqual([1]);
    await expect(recover(await world.open("phone"), ids[0] ?? "", key, {})).rejects.toEqual(
      code("not_this_recovery_code"),
    );
    expect(plain(await recover(await world.open("phone"), ids[0] ?? "", shown("market"), {}))).toBe("content of First");
  });

  it("removes a picture by another one, with its record, and never the last one", async () => {
    const { world, laptop } = await worldWith("First");
    await protect(laptop, textSecret("Second", shown("garden")), {});
    const [market, garden] = (await listOpeners(laptop)).openers;
    await expect(removeOpener(laptop, market?.id ?? "", shown("garden"), {})).rejects.toEqual(
      code("last_opener", { secrets: 1 }),
    );
    await cover(laptop, shown("market"), {});
    await removeOpener(laptop, market?.id ?? "", shown("garden"), {});
    expect(world.service.account.keyring?.imageRecords.map(({ id }) => id)).toEqual([garden?.id]);
    await expect(unlock(await world.open("phone"), shown("market"), {})).rejects.toEqual(code("not_this_picture"));
    const key = await printed();
    await addOpener(laptop, { key, name: "Paper" }, null, {});
    await cover(laptop, shown("garden"), {});
    await expect(removeOpener(laptop, garden?.id ?? "", key, {})).rejects.toEqual(code("last_opener", {}));
  });

  it("loses secrets only when exactly they were named", async () => {
    const { laptop, ids } = await worldWith("First", "Second");
    const key = await printed();
    await addOpener(laptop, { key, name: "Paper" }, null, {});
    await protect(laptop, textSecret("Third", shown("garden")), {});
    const [market] = (await listOpeners(laptop)).openers;
    expect(market?.onlyWayTo.toSorted()).toEqual(ids.toSorted());
    await expect(removeOpener(laptop, market?.id ?? "", key, { losing: ids.slice(0, 1) })).rejects.toEqual(
      code("last_opener", { secrets: 2 }),
    );
    await removeOpener(laptop, market?.id ?? "", key, { losing: ids });
    expect((await listOpeners(laptop)).secrets.filter(({ openers }) => openers.length === 0)).toHaveLength(2);
  });

  it("leaves a picture that needs a passphrase as one", async () => {
    const { laptop } = await worldWith("Wallet");
    await protect(laptop, textSecret("Letter", shown("pale-sand", "phrase")), {});
    const { openers } = await listOpeners(laptop);
    await removeOpener(laptop, openers[1]?.id ?? "", shown("market"), {
      losing: (await list(laptop)).map(({ secretId }) => secretId),
    });
    expect(await examine(laptop, shown("pale-sand").picture)).toMatchObject({
      level: "amber",
      known: { kind: "removed" },
    });
    await expect(protect(laptop, textSecret("Deed", shown("pale-sand")), {})).rejects.toEqual(
      code("picture_needs_passphrase"),
    );
  });

  it("does not remove the one that is shown for it", async () => {
    const { laptop } = await worldWith("First");
    const key = await printed();
    const { openerId } = await addOpener(laptop, { key, name: "Paper" }, null, {});
    await expect(removeOpener(laptop, openerId, key, {})).rejects.toEqual(
      code("validation_error", { fields: ["opener"] }),
    );
    await expect(removeOpener(laptop, "019a9e2c-7c1e-7abc-8def-0123456789ab", key, {})).rejects.toEqual(
      code("not_found"),
    );
  });
});

it("the words of a code are those of BIP-39 for its bytes", async () => {
  const { words } = await newRecoveryCode();
  expect(new Set(words.map((word) => wordlist.includes(word)))).toEqual(new Set([true]));
  expect(entropyToMnemonic(new Uint8Array(32), wordlist)).toMatch(/^(abandon ){23}art$/);
});

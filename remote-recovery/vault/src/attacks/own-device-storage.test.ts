import "fake-indexeddb/auto";

import { toBase64url } from "@relicario/shared/api";
import { openDB } from "idb";
import { compactDecrypt } from "jose";

import { setDeviceKind } from "../operations/set-device-kind.ts";
import { unlock } from "../openers/unlock.ts";
import { list } from "../operations/list.ts";
import { protect } from "../operations/protect.ts";
import { openSmallSecret } from "../operations/open-secret.ts";
import { update } from "../operations/update.ts";
import { readAccount } from "../keyring/read-account.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { buildNextChange } from "../keyring/build-keyring-change.ts";
import { copyOf, utf8 } from "../seal/bytes.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";

/** A laptop that is its person's own, after a reload: what is on its disk is all that there is. */
async function createReloadedLaptop(): Promise<{ world: World; accountKey: Uint8Array; secretId: string }> {
  const world = createWorld();
  const laptop = await world.open();
  const { secretId } = await protect(laptop, textSecret("First", makePicture("market")), {});
  await setDeviceKind(laptop, "own");
  const accountKey = laptop.accountKey?.withBytes(copyOf);
  if (accountKey === undefined) throw new TypeError("a picture was shown");
  return { world, accountKey, secretId };
}

/** Everything in the vault's database: keys and bytes, wherever they stand. */
async function readDisk(world: World): Promise<{ keys: CryptoKey[]; bytes: Uint8Array[]; text: string }> {
  const { name } = await world.openNamedDevice();
  const database = await openDB("relicario-vault");
  const stored: unknown[] = [await database.get("accounts", name), await database.get("keys", "device")];
  database.close();
  const contents: { keys: CryptoKey[]; bytes: Uint8Array[]; text: string } = { keys: [], bytes: [], text: "" };
  const walk = (value: unknown): void => {
    if (value instanceof CryptoKey) contents.keys.push(value);
    else if (value instanceof Uint8Array) contents.bytes.push(value);
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(walk);
    else contents.text += ` ${String(value)}`;
  };
  stored.forEach(walk);
  return contents;
}

describe("whoever runs a script on a locked device of the person's own", () => {
  it("gets no account key out of what is stored, by any use of any stored key", async () => {
    const { world, accountKey } = await createReloadedLaptop();
    const { keys, bytes, text } = await readDisk(world);
    expect(keys.map(({ algorithm, usages }) => `${algorithm.name} ${usages.join()}`).sort()).toEqual([
      ...Array<string>(6).fill("AES-GCM encrypt,decrypt"),
      "Ed25519 sign",
    ]); // five of documents, the device key, the signing key
    const candidates: Uint8Array[] = [...bytes, utf8(text)];
    for (const key of keys) {
      for (const format of ["raw", "pkcs8", "spki", "jwk"] as const)
        await expect(crypto.subtle.exportKey(format, key)).rejects.toThrow();
      for (const iv of bytes) {
        for (const data of bytes) candidates.push(...(await tryDecrypt(key, iv, data)));
      }
    }
    const needles = [
      Buffer.from(accountKey),
      Buffer.from(toBase64url(accountKey)),
      Buffer.from(Buffer.from(accountKey).toString("hex")),
    ];
    for (const candidate of candidates)
      for (const needle of needles) expect(Buffer.from(candidate).includes(needle)).toBe(false);
  });

  it("opens neither the slots nor what the account key alone opens", async () => {
    const { world } = await createReloadedLaptop();
    const { keys } = await readDisk(world);
    const laptop = await world.open();
    const openedKeyring = (await refreshKeyring(laptop))?.openedKeyring;
    expect(openedKeyring?.book.openers.map(({ name }) => name)).toEqual(["The market"]); // titles show
    for (const inner of [openedKeyring?.book.inner, openedKeyring?.shares.inner]) {
      for (const key of keys.filter(({ usages }) => usages.includes("decrypt")))
        await expect(compactDecrypt(inner ?? "", key)).rejects.toThrow();
    }
    expect(laptop.accountKey).toBeNull();
  });

  it("shows titles and signs changes, as the person may, yet opens no content and adds no opener of its own", async () => {
    const { world, secretId } = await createReloadedLaptop();
    const laptop = await world.open();
    expect((await list(laptop)).map((row) => row.label?.title)).toEqual(["First"]);
    await update(laptop, secretId, { baseVersion: 1, title: "Renamed" }, {});
    await protect(laptop, textSecret("Second"), {});
    world.engine.calls.length = 0;
    await expect(protect(laptop, textSecret("Third", makePicture("forest")), {})).rejects.toMatchObject({
      code: "show_opener_first",
    });
    expect(world.service.account.keyring?.slots).toHaveLength(1);
    await expect(openSmallSecret(laptop, secretId, makePicture("forest"))).rejects.toMatchObject({
      code: "not_this_picture",
    });
    expect(new TextDecoder().decode((await openSmallSecret(laptop, secretId, makePicture("market"))).content)).toBe(
      "content of First",
    );
    await protect(laptop, textSecret("Third", makePicture("forest")), {}); // an opener was shown since the reload
    expect(world.service.account.keyring?.slots).toHaveLength(2);
  });
});

async function tryDecrypt(key: CryptoKey, iv: Uint8Array, data: Uint8Array): Promise<Uint8Array[]> {
  if (key.algorithm.name !== "AES-GCM") return [];
  try {
    return [new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv: copyOf(iv) }, key, copyOf(data)))];
  } catch {
    return []; // this key does not open it: the attack goes on with the next
  }
}

describe("whoever has metadata keys and signs a list of openers with one of their own", () => {
  it("is found out as soon as an opener is shown, and no other device seals to it before", async () => {
    const { world } = await createReloadedLaptop();
    const laptop = await world.open();
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    await setDeviceKind(phone, "own");

    // The book as a script with metadata keys could write it: the attacker's recipient beside the
    // person's.
    const stranger = createWorld();
    const strangerVault = await stranger.open();
    await protect(strangerVault, textSecret("Bait", makePicture("forest")), {});
    const [opener] = (await refreshKeyring(strangerVault))?.openedKeyring?.book.openers ?? [];
    if (opener === undefined) throw new TypeError("an opener");
    const account = await readAccount(laptop);
    const openedKeyring = account?.view.openedKeyring;
    if (account === null || openedKeyring == null) throw new TypeError("unlocked");
    const { slots: [slot] = [], imageRecords: [record] = [] } = world.service.account.keyring ?? {};
    if (slot === undefined || record === undefined) throw new TypeError("a keyring");
    const forged = { book: { ...openedKeyring.book, openers: [...openedKeyring.book.openers, opener] }, slot, record };
    await laptop.service.changeKeyring(
      (await buildNextChange(laptop, account, openedKeyring, [...account.rows.values()], { enrolledImage: forged }))
        .keyring,
    );

    const reloadedPhone = await world.open("phone");
    await expect(protect(reloadedPhone, textSecret("To whom?"), {})).rejects.toMatchObject({
      code: "show_opener_first",
    });
    await expect(unlock(reloadedPhone, makePicture("market"), {})).rejects.toMatchObject({ code: "openers_changed" });
    expect([...world.service.account.rows.values()]).toHaveLength(1);
  });
});

describe("whoever breaks off the first secret", () => {
  it("leaves an account on the disk that no stored key opens; only the picture goes on with it", async () => {
    const world = createWorld();
    world.service.beforeCall = (call) => {
      if (call === "POST /secrets/store") throw new TypeError("the tab is closed");
    };
    const before = await world.open();
    await expect(protect(before, textSecret("First", makePicture("market")), {})).rejects.toThrow();
    const accountKey = before.accountKey?.withBytes(copyOf);
    if (accountKey === undefined) throw new TypeError("it was made");
    const { pending } = await before.device.read();
    const pendingBytes = pending === null ? null : await before.device.unwrap("pending", pending.wrapped);
    const text = new TextDecoder().decode(pendingBytes ?? new Uint8Array());
    expect(text).toContain('"slot"');
    for (const needle of [toBase64url(accountKey), Buffer.from(accountKey).toString("hex"), "AGE-SECRET-KEY"])
      expect(text).not.toContain(needle);

    world.service.beforeCall = () => undefined;
    const after = await world.open();
    await expect(protect(after, textSecret("First"), {})).rejects.toMatchObject({ code: "opener_needed" });
    await protect(after, textSecret("First", makePicture("market")), {});
    expect(after.accountKey?.withBytes(toBase64url)).toBe(toBase64url(accountKey));
  });
});

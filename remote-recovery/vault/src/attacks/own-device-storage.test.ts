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
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { copyOf, utf8 } from "../seal/bytes.ts";
import { putUnchecked, stealMetadataKeys } from "../testing/metadata-keys-attacker.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";

/**
 * Creates an account on the user's own laptop, and closes the page: only the data on disk remains.
 */
async function createReloadedLaptop(): Promise<{ world: World; accountKey: Uint8Array; secretId: string }> {
  const world = createWorld();
  const laptop = await world.open();
  const { secretId } = await protect(laptop, textSecret("First", makePicture("market")), {});
  await setDeviceKind(laptop, "own");
  const accountKey = laptop.accountKey?.withBytes(copyOf);
  if (accountKey === undefined) throw new TypeError("expected an account key after presenting a picture");
  return { world, accountKey, secretId };
}

/** Reads all keys, bytes and texts of the vault's database. */
async function readDisk(world: World): Promise<{ keys: CryptoKey[]; bytes: Uint8Array[]; text: string }> {
  const { storageKey } = await world.openNamedDevice();
  const database = await openDB("relicario-vault");
  const storedValues: unknown[] = [await database.get("accounts", storageKey), await database.get("keys", "device")];
  database.close();
  const contents: { keys: CryptoKey[]; bytes: Uint8Array[]; text: string } = { keys: [], bytes: [], text: "" };
  const walk = (value: unknown): void => {
    if (value instanceof CryptoKey) contents.keys.push(value);
    else if (value instanceof Uint8Array) contents.bytes.push(value);
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(walk);
    else contents.text += ` ${String(value)}`;
  };
  storedValues.forEach(walk);
  return contents;
}

describe("an attacker who runs a script on the person's own locked device", () => {
  it("gets no account key from stored data, by any use of any stored key", async () => {
    const { world, accountKey } = await createReloadedLaptop();
    const { keys, bytes, text } = await readDisk(world);
    expect(keys.map(({ algorithm, usages }) => `${algorithm.name} ${usages.join()}`).sort()).toEqual([
      ...Array<string>(6).fill("AES-GCM encrypt,decrypt"),
      "Ed25519 sign",
    ]); // five document keys, the device key, and the signing key
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

  it("opens neither slots nor documents that need the account key", async () => {
    const { world } = await createReloadedLaptop();
    const { keys } = await readDisk(world);
    const laptop = await world.open();
    const openedKeyring = (await refreshKeyring(laptop))?.openedKeyring;
    expect(openedKeyring?.book.openers.map(({ name }) => name)).toEqual(["The market"]); // needs only metadata keys
    for (const inner of [openedKeyring?.book.inner, openedKeyring?.shares.inner]) {
      for (const key of keys.filter(({ usages }) => usages.includes("decrypt")))
        await expect(compactDecrypt(inner ?? "", key)).rejects.toThrow();
    }
    expect(laptop.accountKey).toBeNull();
  });

  it("shows titles and renames, but protects nothing, opens no content and adds no opener", async () => {
    const { world, secretId } = await createReloadedLaptop();
    const laptop = await world.open();
    expect((await list(laptop)).map((row) => row.label?.title)).toEqual(["First"]);
    await update(laptop, secretId, { baseVersion: 1, title: "Renamed" }, {});
    await expect(protect(laptop, textSecret("Second"), {})).rejects.toMatchObject({ code: "show_opener_first" });
    expect(world.service.account.rows.size).toBe(1);
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
    await protect(laptop, textSecret("Third", makePicture("forest")), {}); // after presenting an opener
    expect(world.service.account.keyring?.slots).toHaveLength(2);
  });
});

async function tryDecrypt(key: CryptoKey, iv: Uint8Array, data: Uint8Array): Promise<Uint8Array[]> {
  if (key.algorithm.name !== "AES-GCM") return [];
  try {
    return [new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv: copyOf(iv) }, key, copyOf(data)))];
  } catch {
    return []; // this key does not open the data; the attack tries the next one
  }
}

describe("an attacker who has metadata keys and signs a list of openers with their own opener in it", () => {
  it("is detected as soon as an opener is presented, and until then no other device seals to their opener", async () => {
    const { world } = await createReloadedLaptop();
    const attacker = await stealMetadataKeys(world);
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    await setDeviceKind(phone, "own");

    // A book that a script with metadata keys could write: it adds the attacker's recipient.
    const stranger = createWorld();
    const strangerVault = await stranger.open();
    await protect(strangerVault, textSecret("Bait", makePicture("forest")), {});
    const [opener] = (await refreshKeyring(strangerVault))?.openedKeyring?.book.openers ?? [];
    if (opener === undefined) throw new TypeError("expected an opener");
    const { account, openedKeyring } = await attacker.read();
    const book = { ...openedKeyring.book, openers: [...openedKeyring.book.openers, opener] };
    const change = await attacker.sign([...account.rows.values()], { book });
    await expect(attacker.vault.service.changeKeyring(change)).rejects.toMatchObject({
      code: "keyring_change_invalid",
    });
    putUnchecked(world.service.account, change);

    const reloadedPhone = await world.open("phone");
    await expect(protect(reloadedPhone, textSecret("To whom?"), {})).rejects.toMatchObject({
      code: "show_opener_first",
    });
    await expect(unlock(reloadedPhone, makePicture("market"), {})).rejects.toMatchObject({ code: "openers_changed" });
    expect([...world.service.account.rows.values()]).toHaveLength(1);
  });
});

describe("an attacker who interrupts the first secret", () => {
  it("leaves an account on disk that no stored key opens; only the picture can resume it", async () => {
    const world = createWorld();
    world.service.beforeCall = (call) => {
      if (call === "POST /secrets/store") throw new TypeError("the tab is closed");
    };
    const before = await world.open();
    await expect(protect(before, textSecret("First", makePicture("market")), {})).rejects.toThrow();
    const accountKey = before.adoptedAccount?.accountKey.withBytes(copyOf);
    if (accountKey === undefined) throw new TypeError("expected an account key");
    const { pending } = await before.device.read();
    const pendingBytes = pending === null ? null : await before.device.unwrap("pending", pending.wrapped);
    const text = new TextDecoder().decode(pendingBytes ?? new Uint8Array());
    expect(text).toContain('"slot"');
    for (const needle of [toBase64url(accountKey), Buffer.from(accountKey).toString("hex"), "AGE-SECRET-KEY"])
      expect(text).not.toContain(needle);

    world.service.beforeCall = () => undefined;
    const reloadedVault = await world.open();
    await expect(protect(reloadedVault, textSecret("First"), {})).rejects.toMatchObject({ code: "opener_needed" });
    await protect(reloadedVault, textSecret("First", makePicture("market")), {});
    expect(reloadedVault.accountKey?.withBytes(toBase64url)).toBe(toBase64url(accountKey));
  });
});

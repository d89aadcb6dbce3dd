/** @jest-environment node */
import "fake-indexeddb/auto";

import { IDBFactory } from "fake-indexeddb";
import { compactDecrypt } from "jose";

import {
  dropLinkSecret,
  dropOldLinkSecrets,
  saveLinkSecret,
  linkSecretKey,
  linkSecretLifetimeMs,
  takeLinkSecret,
} from "../session/link-secret.ts";
import { readAllDatabases } from "../testing/device.ts";

const now = Date.parse("2026-11-22T10:00:00.000Z");
const secret = { path: "/p-shared/abc", s: "the-link-key", n: null };

function createTab() {
  const items = new Map<string, string>();
  const storage = {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  };
  return { items, storage };
}

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

describe("somebody who reads what a tab keeps of a link", () => {
  it("reads no link key: it is wrapped under a key that cannot be exported", async () => {
    const { items, storage } = createTab();
    await saveLinkSecret(secret, storage, now);
    expect(JSON.stringify([...items])).not.toMatch(/the-link-key|p-shared/);
    const [[, stored] = []] = (await readAllDatabases())["relicario-host/linkKeys"] ?? [];
    const { key } = stored as { key: CryptoKey };
    expect(key.extractable).toBe(false);
    for (const format of ["raw", "jwk"] as const) await expect(crypto.subtle.exportKey(format, key)).rejects.toThrow();
    // same-origin code can use it meanwhile
    await expect(compactDecrypt(items.get(linkSecretKey) ?? "", key)).resolves.toBeDefined();
  });

  it("reads it nowhere once it was taken, though the tab's storage was copied before", async () => {
    const { items, storage } = createTab();
    await saveLinkSecret(secret, storage, now);
    const copy = items.get(linkSecretKey) ?? "";
    await expect(takeLinkSecret(storage, now + 1)).resolves.toEqual(secret);
    await expect(takeLinkSecret(storage, now + 2)).resolves.toBeNull();
    items.set(linkSecretKey, copy);
    await expect(takeLinkSecret(storage, now + 3)).resolves.toBeNull();
    expect(Object.values(await readAllDatabases()).flat()).toEqual([]);
  });

  it.each([
    ["after ten minutes", linkSecretLifetimeMs],
    ["from the future", -1],
  ])("reads it nowhere %s", async (_when, elapsedMs) => {
    const { items, storage } = createTab();
    await saveLinkSecret(secret, storage, now);
    const copy = items.get(linkSecretKey) ?? "";
    await dropOldLinkSecrets(storage, now + elapsedMs);
    expect(items.size).toBe(0);
    expect(Object.values(await readAllDatabases()).flat()).toEqual([]);
    items.set(linkSecretKey, copy);
    await expect(takeLinkSecret(storage, now + 1)).resolves.toBeNull();
  });

  it("finds it as long as it may be needed: across a reload, and while other tabs tidy up", async () => {
    const { storage } = createTab();
    await saveLinkSecret(secret, storage, now);
    await dropOldLinkSecrets(createTab().storage, now + linkSecretLifetimeMs - 1);
    await dropOldLinkSecrets(storage, now + linkSecretLifetimeMs - 1);
    await expect(takeLinkSecret(storage, now + linkSecretLifetimeMs - 1)).resolves.toEqual(secret);
  });

  it("cannot have the tidying of a page drop a link that comes meanwhile", async () => {
    const { items, storage } = createTab();
    const cleanup = dropOldLinkSecrets(storage, now); // its database is being opened
    items.set(linkSecretKey, "of the newer link");
    await cleanup;
    expect(items.get(linkSecretKey)).toBe("of the newer link");
  });

  it("reads it nowhere after a lock, a sign-out or another link", async () => {
    const { items, storage } = createTab();
    await saveLinkSecret(secret, storage, now);
    await saveLinkSecret({ ...secret, s: "another" }, storage, now);
    expect(Object.values(await readAllDatabases()).flat()).toHaveLength(1);
    await dropLinkSecret(storage);
    expect(items.size).toBe(0);
    expect(Object.values(await readAllDatabases()).flat()).toEqual([]);
  });

  it.each(["not a token", "e30.e30.e30.e30.e30"])(
    "cannot make the page stumble by writing %s there",
    async (storedValue) => {
      const { items, storage } = createTab();
      items.set(linkSecretKey, storedValue);
      await expect(takeLinkSecret(storage, now)).resolves.toBeNull();
      items.set(linkSecretKey, storedValue);
      await expect(dropLinkSecret(storage)).resolves.toBeUndefined();
    },
  );
});

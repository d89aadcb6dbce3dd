/** @jest-environment node */
import "fake-indexeddb/auto";

import { IDBFactory } from "fake-indexeddb";
import { compactDecrypt } from "jose";

import {
  dropLinkSecret,
  dropOldLinkSecrets,
  holdLinkSecret,
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

describe("an attacker who reads what a tab stores of a link", () => {
  it("reads no link key: it is encrypted under a key that cannot be exported", async () => {
    const { items, storage } = createTab();
    await saveLinkSecret(secret, storage, now);
    expect(JSON.stringify([...items])).not.toMatch(/the-link-key|p-shared/);
    const [[, stored] = []] = (await readAllDatabases())["relicario-host/linkKeys"] ?? [];
    const { key } = stored as { key: CryptoKey };
    expect(key.extractable).toBe(false);
    for (const format of ["raw", "jwk"] as const) await expect(crypto.subtle.exportKey(format, key)).rejects.toThrow();
    // same-origin code can still use the key
    await expect(compactDecrypt(items.get(linkSecretKey) ?? "", key)).resolves.toBeDefined();
  });

  it("finds no secret once the page took it, even with an earlier copy of the tab's storage", async () => {
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
    ["when its time is in the future", -1],
  ])("finds no link secret %s", async (_when, elapsedMs) => {
    const { items, storage } = createTab();
    await saveLinkSecret(secret, storage, now);
    const copy = items.get(linkSecretKey) ?? "";
    await dropOldLinkSecrets(storage, now + elapsedMs);
    expect(items.size).toBe(0);
    expect(Object.values(await readAllDatabases()).flat()).toEqual([]);
    items.set(linkSecretKey, copy);
    await expect(takeLinkSecret(storage, now + 1)).resolves.toBeNull();
  });

  it("cannot keep the page from reading its link secret after a reload and other tabs' cleanups", async () => {
    const { storage } = createTab();
    await saveLinkSecret(secret, storage, now);
    await dropOldLinkSecrets(createTab().storage, now + linkSecretLifetimeMs - 1);
    await dropOldLinkSecrets(storage, now + linkSecretLifetimeMs - 1);
    await expect(takeLinkSecret(storage, now + linkSecretLifetimeMs - 1)).resolves.toEqual(secret);
  });

  it("cannot make a cleanup delete the secret of a newer link", async () => {
    const { items, storage } = createTab();
    const cleanup = dropOldLinkSecrets(storage, now); // still opening its database
    items.set(linkSecretKey, "of the newer link");
    await cleanup;
    expect(items.get(linkSecretKey)).toBe("of the newer link");
  });

  it("finds no link secret after it was dropped or replaced by another link's", async () => {
    const { items, storage } = createTab();
    await saveLinkSecret(secret, storage, now);
    await saveLinkSecret({ ...secret, s: "another" }, storage, now);
    expect(Object.values(await readAllDatabases()).flat()).toHaveLength(1);
    await dropLinkSecret(storage);
    expect(items.size).toBe(0);
    expect(Object.values(await readAllDatabases()).flat()).toEqual([]);
  });

  it("finds no secret of a page without storage after it was taken, dropped or expired", async () => {
    const { items, storage } = createTab();
    holdLinkSecret(secret, now);
    expect(items.size).toBe(0);
    await expect(takeLinkSecret(storage, now + 1)).resolves.toEqual(secret);
    await expect(takeLinkSecret(storage, now + 2)).resolves.toBeNull();
    holdLinkSecret(secret, now);
    await dropLinkSecret(storage);
    await expect(takeLinkSecret(storage, now + 1)).resolves.toBeNull();
    holdLinkSecret(secret, now);
    await expect(takeLinkSecret(storage, now + linkSecretLifetimeMs)).resolves.toBeNull();
    holdLinkSecret(secret, now);
    await dropOldLinkSecrets(storage, now + linkSecretLifetimeMs);
    await expect(takeLinkSecret(storage, now + 1)).resolves.toBeNull();
  });

  it("finds nothing stored in a browser without databases, where saving reports a failure", async () => {
    const { items, storage } = createTab();
    await expect(saveLinkSecret(secret, storage, now)).resolves.toBe(true);
    items.clear();
    Reflect.deleteProperty(globalThis, "indexedDB");
    await expect(saveLinkSecret(secret, storage, now)).resolves.toBe(false);
    expect(items.size).toBe(0);
  });

  it.each(["not a token", "e30.e30.e30.e30.e30"])("cannot make the page throw by storing %s", async (storedValue) => {
    const { items, storage } = createTab();
    items.set(linkSecretKey, storedValue);
    await expect(takeLinkSecret(storage, now)).resolves.toBeNull();
    items.set(linkSecretKey, storedValue);
    await expect(dropLinkSecret(storage)).resolves.toBeUndefined();
  });
});

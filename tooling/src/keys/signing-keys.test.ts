import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { calculateJwkThumbprint } from "jose";

import { loadOrCreateKeyPair } from "./signing-keys.ts";

describe("loadOrCreateKeyPair", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "keys-"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it("creates a key once, readable by its owner only", async () => {
    const firstKeyPair = await loadOrCreateKeyPair(folder, "portal");
    const secondKeyPair = await loadOrCreateKeyPair(folder, "portal");
    expect(secondKeyPair.publicKey).toEqual(firstKeyPair.publicKey);
    expect(statSync(join(folder, "portal.json")).mode & 0o777).toBe(0o600);
  });

  it("returns the same key to concurrent callers", async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, () => loadOrCreateKeyPair(folder, "portal")));
    expect(new Set(keys.map(({ publicKey }) => publicKey.kid)).size).toBe(1);
  });

  it("identifies a key by its thumbprint, and returns no private member", async () => {
    const { publicKey } = await loadOrCreateKeyPair(folder, "portal");
    expect(publicKey.kid).toBe(await calculateJwkThumbprint(publicKey));
    expect(Object.keys(publicKey).sort()).toEqual(["crv", "kid", "kty", "x"]);
  });

  it("refuses a damaged file and leaves it as it is", async () => {
    writeFileSync(join(folder, "portal.json"), '{"kid":"x"}');
    await expect(loadOrCreateKeyPair(folder, "portal")).rejects.toThrow();
    expect(readFileSync(join(folder, "portal.json"), "utf8")).toBe('{"kid":"x"}');
  });
});

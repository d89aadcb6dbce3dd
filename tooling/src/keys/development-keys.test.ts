import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { calculateJwkThumbprint } from "jose";

import { loadOrCreateKeyPair } from "./development-keys.ts";

describe("developmentKey", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "keys-"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it("makes a key once and keeps it, for its owner only", async () => {
    const first = await loadOrCreateKeyPair(folder, "portal");
    const second = await loadOrCreateKeyPair(folder, "portal");
    expect(second.publicKey).toEqual(first.publicKey);
    expect(statSync(join(folder, "portal.json")).mode & 0o777).toBe(0o600);
  });

  it("gives the same key to all who ask at once", async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, () => loadOrCreateKeyPair(folder, "portal")));
    expect(new Set(keys.map(({ publicKey }) => publicKey.kid)).size).toBe(1);
  });

  it("names a key by its thumbprint, and hands out no private part", async () => {
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

import type { LinkSecret } from "@relicario/shared/contract";
import { compactDecrypt, CompactEncrypt, decodeProtectedHeader, generateSecret } from "jose";
import { z } from "zod";

import { withHostDatabase } from "../device/host-database.ts";

const StoredLinkSecret: z.ZodType<LinkSecret> = z.strictObject({
  path: z.string(),
  s: z.string(),
  n: z.string().nullable(),
});

/** So long it is kept, unless it is taken; milliseconds. */
export const linkSecretLifetimeMs = 600_000;

/**
 * Session storage: a JWE (compact) under a key of its own, which stands in a database of this
 * device and cannot be exported.
 */
export const linkSecretKey = "linkSecret";

type TabStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

const Header = z.strictObject({
  alg: z.literal("dir"),
  enc: z.literal("A256GCM"),
  typ: z.literal("relicario-link-secret"),
  kid: z.string(),
});

/**
 * Keeps it across the reload that follows a link, and across signing in. A browser without
 * databases keeps nothing: the link has to be opened once more.
 */
export async function saveLinkSecret(secret: LinkSecret, storage: TabStorage, now: number): Promise<void> {
  await dropLinkSecret(storage);
  const kid = crypto.randomUUID();
  const key = await generateSecret("A256GCM", { extractable: false });
  if (key instanceof Uint8Array) throw new TypeError("a key that could be exported");
  const header: z.infer<typeof Header> = { alg: "dir", enc: "A256GCM", typ: "relicario-link-secret", kid };
  const jwe = await new CompactEncrypt(new TextEncoder().encode(JSON.stringify(secret)))
    .setProtectedHeader(header)
    .encrypt(key);
  const stored = await withHostDatabase((database) => database.put("linkKeys", { key, at: now }, kid));
  if (stored !== null) storage.setItem(linkSecretKey, jwe);
}

/**
 * Once: its key is deleted before it is opened. Null when there is none, it was taken, or it is
 * older than ten minutes.
 */
export async function takeLinkSecret(storage: TabStorage, now: number): Promise<LinkSecret | null> {
  const jwe = storage.getItem(linkSecretKey);
  storage.removeItem(linkSecretKey);
  if (jwe === null) return null;
  const resolveKey = async ({ kid }: { kid?: string }): Promise<CryptoKey> => {
    const key = await takeKey(kid ?? "", now);
    if (key === null) throw new TypeError("its key is gone");
    return key;
  };
  try {
    const { plaintext, protectedHeader } = await compactDecrypt(jwe, resolveKey, {
      keyManagementAlgorithms: ["dir"],
      contentEncryptionAlgorithms: ["A256GCM"],
    });
    Header.parse(protectedHeader);
    return StoredLinkSecret.parse(JSON.parse(new TextDecoder().decode(plaintext)));
  } catch {
    return null; // taken, too old, or not written by us: the link has to be opened once more
  }
}

/** Deletes it, and the keys of other tabs that are too old. */
export async function dropLinkSecret(storage: TabStorage): Promise<void> {
  const jwe = storage.getItem(linkSecretKey);
  storage.removeItem(linkSecretKey);
  if (jwe !== null) await takeKey(readKeyId(jwe) ?? "", 0);
}

/**
 * When a page starts, and while it runs: what is older than ten minutes goes, in whatever tab it
 * was.
 */
export async function dropOldLinkSecrets(storage: TabStorage, now: number): Promise<void> {
  const jwe = storage.getItem(linkSecretKey);
  const kid = jwe === null ? null : readKeyId(jwe);
  await withHostDatabase(async (database) => {
    const transaction = database.transaction("linkKeys", "readwrite");
    for await (const cursor of transaction.store) if (isExpired(cursor.value.at, now)) await cursor.delete();
    const keyCount = kid === null ? 0 : await transaction.store.count(kid);
    await transaction.done;
    // else another link came meanwhile
    if (keyCount === 0 && storage.getItem(linkSecretKey) === jwe) storage.removeItem(linkSecretKey);
  });
}

async function takeKey(kid: string, now: number): Promise<CryptoKey | null> {
  return withHostDatabase(async (database) => {
    const transaction = database.transaction("linkKeys", "readwrite", { durability: "strict" });
    const stored = await transaction.store.get(kid);
    await transaction.store.delete(kid);
    await transaction.done;
    return stored === undefined || isExpired(stored.at, now) ? null : stored.key;
  });
}

/** A time in the future is none of ours. */
function isExpired(storedAt: number, now: number): boolean {
  return storedAt > now || now - storedAt >= linkSecretLifetimeMs;
}

function readKeyId(jwe: string): string | null {
  try {
    return decodeProtectedHeader(jwe).kid ?? null;
  } catch {
    return null; // not written by us
  }
}

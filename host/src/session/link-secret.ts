import type { LinkSecret } from "@relicario/shared/contract";
import { compactDecrypt, CompactEncrypt, decodeProtectedHeader, generateSecret } from "jose";
import { z } from "zod";

import { withHostDatabase } from "../device/host-database.ts";

const StoredLinkSecret: z.ZodType<LinkSecret> = z.strictObject({
  path: z.string(),
  s: z.string(),
  n: z.string().nullable(),
});

/** Lifetime of a stored secret in milliseconds. */
export const linkSecretLifetimeMs = 600_000;

/**
 * Session storage key of the secret, a compact JWE. The JWE's key is not extractable, and is in the
 * host's database.
 */
export const linkSecretKey = "linkSecret";

type TabStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

const Header = z.strictObject({
  alg: z.literal("dir"),
  enc: z.literal("A256GCM"),
  typ: z.literal("relicario-link-secret"),
  kid: z.string(),
});

/** The secret of a page that cannot store it, and the time when the page got it. */
let heldSecret: { readonly secret: LinkSecret; readonly at: number } | null = null;

/** Keeps the secret in memory, for a browser that refuses storage. Only this page can take it. */
export function holdLinkSecret(secret: LinkSecret, now: number): void {
  heldSecret = { secret, at: now };
}

/**
 * Stores the secret across the reload that follows a link, and across signing in. Returns false,
 * and stores nothing, where there are no databases.
 */
export async function saveLinkSecret(secret: LinkSecret, storage: TabStorage, now: number): Promise<boolean> {
  await dropLinkSecret(storage);
  const kid = crypto.randomUUID();
  const key = await generateSecret("A256GCM", { extractable: false });
  if (key instanceof Uint8Array) throw new TypeError("the generated key must be a CryptoKey, which cannot be exported");
  const header: z.infer<typeof Header> = { alg: "dir", enc: "A256GCM", typ: "relicario-link-secret", kid };
  const jwe = await new CompactEncrypt(new TextEncoder().encode(JSON.stringify(secret)))
    .setProtectedHeader(header)
    .encrypt(key);
  const storedKeyId = await withHostDatabase((database) => database.put("linkKeys", { key, at: now }, kid));
  if (storedKeyId === null) return false;
  storage.setItem(linkSecretKey, jwe);
  return true;
}

/**
 * Returns the secret once: deletes its key before decrypting it. Null when there is no secret, or
 * it was taken or has expired.
 */
export async function takeLinkSecret(storage: TabStorage, now: number): Promise<LinkSecret | null> {
  const held = heldSecret;
  heldSecret = null;
  if (held !== null) return isExpired(held.at, now) ? null : held.secret;
  const jwe = storage.getItem(linkSecretKey);
  storage.removeItem(linkSecretKey);
  if (jwe === null) return null;
  const resolveKey = async ({ kid }: { kid?: string }): Promise<CryptoKey> => {
    const key = await takeKey(kid ?? "", now);
    if (key === null) throw new TypeError("the link secret cannot be decrypted: its key is missing or expired");
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
    return null; // taken, expired or forged: the person has to open the link again
  }
}

/** Deletes the secret of this tab and its key. */
export async function dropLinkSecret(storage: TabStorage): Promise<void> {
  heldSecret = null;
  const jwe = storage.getItem(linkSecretKey);
  storage.removeItem(linkSecretKey);
  if (jwe !== null) await takeKey(readKeyId(jwe) ?? "", 0);
}

/**
 * Deletes the expired keys of all tabs, and this tab's secret if its key no longer exists. Runs
 * when a page starts, then every minute.
 */
export async function dropOldLinkSecrets(storage: TabStorage, now: number): Promise<void> {
  if (heldSecret !== null && isExpired(heldSecret.at, now)) heldSecret = null;
  const jwe = storage.getItem(linkSecretKey);
  const kid = jwe === null ? null : readKeyId(jwe);
  await withHostDatabase(async (database) => {
    const transaction = database.transaction("linkKeys", "readwrite");
    for await (const cursor of transaction.store) if (isExpired(cursor.value.at, now)) await cursor.delete();
    const keyCount = kid === null ? 0 : await transaction.store.count(kid);
    await transaction.done;
    // keeps a secret that was stored meanwhile
    if (keyCount === 0 && storage.getItem(linkSecretKey) === jwe) storage.removeItem(linkSecretKey);
  });
}

async function takeKey(kid: string, now: number): Promise<CryptoKey | null> {
  return withHostDatabase(async (database) => {
    const transaction = database.transaction("linkKeys", "readwrite", { durability: "strict" });
    const keyRecord = await transaction.store.get(kid);
    await transaction.store.delete(kid);
    await transaction.done;
    return keyRecord === undefined || isExpired(keyRecord.at, now) ? null : keyRecord.key;
  });
}

/** Treats a time in the future as expired, because the host did not write it. */
function isExpired(storedAt: number, now: number): boolean {
  return storedAt > now || now - storedAt >= linkSecretLifetimeMs;
}

function readKeyId(jwe: string): string | null {
  try {
    return decodeProtectedHeader(jwe).kid ?? null;
  } catch {
    return null; // forged
  }
}

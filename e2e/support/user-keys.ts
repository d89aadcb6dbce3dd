/**
 * Keys that depend on a picture, which an attacker looks for. They are computed from the picture,
 * its passphrase and what the service gives to its owner. Follows docs/formats.md with Node's own
 * cryptography, without the vault's code.
 */
import { argon2Sync, createDecipheriv, createHash, hkdfSync } from "node:crypto";
import { readFile } from "node:fs/promises";

import type { Page } from "@playwright/test";
import { loadEngineInNode } from "@relicario/engine/node";
import { z } from "zod";

import { encodeIdentity, openWithAge } from "./age.ts";

/** 32 bytes each; identities are text. */
export interface UserKeys {
  readonly imageSecret: Buffer;
  readonly imageRootKey: Buffer;
  readonly openerSeed: Buffer;
  readonly accountKey: Buffer;
  /** 342 bytes, with which pictures can be tested. */
  readonly sketch: Buffer;
  /** The account's documents, compact JWE. */
  readonly documents: readonly string[];
  /** Id and content identity of each secret. */
  readonly secrets: readonly { readonly id: string; readonly contentIdentity: string }[];
}

const ImageRecords = z.object({ image_records: z.array(z.object({ id: z.string(), helper: z.string() })) });
const Keyring = z.looseObject({ slots: z.array(z.object({ opener_id: z.string(), slot: z.string() })) });
const Slot = z.object({ account_key: z.string() });
const Secrets = z.object({ secrets: z.array(z.object({ secret_db_id: z.string() })) });
const Secret = z.object({ ticket: z.string() });
const Ticket = z.object({ content_identity: z.string() });

/** HKDF(x, l) of the formats. */
export function deriveKey(secret: Uint8Array, label: string, salt: Uint8Array = new Uint8Array()): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, salt, label, 32));
}

/**
 * @param page signed in, anywhere in the portal. The account has one picture, with this passphrase.
 */
export async function deriveUserKeys(
  page: Page,
  picture: { readonly file: string; readonly passphrase: string },
): Promise<UserKeys> {
  const token = await page.evaluate(() => sessionStorage.getItem("sessionToken"));
  return deriveKeysOfAccount({ origin: new URL(page.url()).origin, token: token ?? "" }, picture);
}

/** By the account's session token, at an origin that serves `/api`. */
export async function deriveKeysOfAccount(
  { origin, token }: { readonly origin: string; readonly token: string },
  { file, passphrase }: { readonly file: string; readonly passphrase: string },
): Promise<UserKeys> {
  const callService = async <T>(
    schema: z.ZodType<T>,
    method: "GET" | "POST",
    path: string,
    body?: unknown,
  ): Promise<T> => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const response = await fetch(`${origin}/api${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path} answered ${String(response.status)}`);
    return schema.parse(await response.json());
  };
  const [record] = (await callService(ImageRecords, "GET", "/user/image-records")).image_records;
  if (record === undefined) throw new Error("the account has no image");
  const { sketch, imageSecret, imageRootKey } = await recoverImageRootKey(
    Buffer.from(record.helper, "base64url"),
    await readFile(file),
    passphrase,
  );

  const openerSeed = deriveKey(imageRootKey, "relicario/v1/image-identity");
  const opener = encodeIdentity(openerSeed);
  const openSealed = async <T>(schema: z.ZodType<T>, sealed: string): Promise<T> => {
    const { plain } = await openWithAge(Buffer.from(sealed, "base64url"), opener);
    return schema.parse(JSON.parse(plain.toString("utf8")));
  };
  const { slots, ...otherDocuments } = await callService(Keyring, "GET", "/user/keyring");
  const documents = Object.values(otherDocuments).filter((value) => typeof value === "string");
  const { account_key: accountKey } = await openSealed(
    Slot,
    slots.find(({ opener_id: id }) => id === record.id)?.slot ?? "",
  );

  const secrets: { id: string; contentIdentity: string }[] = [];
  for (const { secret_db_id: id } of (await callService(Secrets, "GET", "/secrets/store")).secrets) {
    const { ticket } = await callService(Secret, "POST", "/secrets/store/get-secret", { secret_db_id: id });
    secrets.push({ id, contentIdentity: (await openSealed(Ticket, ticket)).content_identity });
  }
  return {
    sketch,
    documents,
    imageSecret,
    imageRootKey,
    openerSeed,
    accountKey: Buffer.from(accountKey, "base64url"),
    secrets,
  };
}

/** docs/formats.md, "Helper": header 52, sketch 342, nonce 12, wrapped root 32 + 16. */
async function recoverImageRootKey(
  helper: Buffer,
  picture: Uint8Array,
  passphrase: string,
): Promise<{ sketch: Buffer; imageSecret: Buffer; imageRootKey: Buffer }> {
  const header = helper.subarray(0, 52);
  const passphraseBytes = Buffer.from(passphrase.normalize("NFC"));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(passphraseBytes.length);
  const stretchPassphrase = (message: Buffer, nonce: Buffer): Buffer =>
    argon2Sync("argon2id", {
      message,
      nonce,
      parallelism: header.readUInt32LE(16),
      passes: header.readUInt32LE(12),
      memory: header.readUInt32LE(8),
      tagLength: 32,
    });

  const sketchKey = stretchPassphrase(
    Buffer.concat([Buffer.from("RIE1/sk"), length, passphraseBytes]),
    header.subarray(36, 52),
  );
  const sketch = createDecipheriv("aes-256-ctr", sketchKey, Buffer.alloc(16)).update(helper.subarray(52, 394));
  sketch[255] = (sketch[255] ?? 0) & 0x7f;
  sketch[341] = (sketch[341] ?? 0) & 0x03;
  const recovery = await (
    await loadEngineInNode()
  ).recover(picture, [{ choice: sketch.subarray(0, 256), syndrome: sketch.subarray(256) }]);
  if (recovery.outcome !== "recovered") throw new Error("this is not the picture of the account");

  const imageSecret = Buffer.from(recovery.imageSecretBytes);
  const stretchedKey = stretchPassphrase(
    Buffer.concat([Buffer.from("RIE1/pw"), imageSecret, length, passphraseBytes]),
    header.subarray(20, 36),
  );
  const rootKey = deriveKey(stretchedKey, "RIE1/root/v1", createHash("sha256").update(header).update(sketch).digest());
  const decipher = createDecipheriv("aes-256-gcm", rootKey, helper.subarray(394, 406))
    .setAAD(header)
    .setAuthTag(helper.subarray(438));
  return {
    sketch,
    imageSecret,
    imageRootKey: Buffer.concat([decipher.update(helper.subarray(406, 438)), decipher.final()]),
  };
}

import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const formatVersion = 1;
const ivBytes = 12;
const tagBytes = 16;
/** What a sealed record has more than its helper. */
export const recordOverheadBytes = 1 + ivBytes + tagBytes;

/**
 * Image records at rest: AES-256-GCM under RECORD_KEY, bound to account and record, so that a
 * stolen database alone gives no helper and rows cannot be swapped. Layout: version (1 byte) ‖ IV
 * (12) ‖ ciphertext ‖ tag (16).
 */
export interface RecordBox {
  seal(accountId: string, recordId: string, helperBytes: Uint8Array): Buffer;
  /** @throws Error when key, account, record or bytes are not those that were sealed. */
  open(accountId: string, recordId: string, sealedBytes: Uint8Array): Buffer;
}

export function createRecordBox(key: Buffer): RecordBox {
  const buildAdditionalData = (accountId: string, recordId: string): Buffer =>
    Buffer.from(`relicario/record\n${accountId}\n${recordId}`);
  return {
    seal(accountId, recordId, helperBytes) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv("aes-256-gcm", key, iv, { authTagLength: tagBytes }).setAAD(
        buildAdditionalData(accountId, recordId),
      );
      return Buffer.concat([
        Buffer.of(formatVersion),
        iv,
        cipher.update(helperBytes),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
    },
    open(accountId, recordId, sealedBytes) {
      if (sealedBytes[0] !== formatVersion) throw new Error("an image record of another version");
      const iv = sealedBytes.subarray(1, 1 + ivBytes);
      const ciphertext = sealedBytes.subarray(1 + ivBytes, -tagBytes);
      const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: tagBytes })
        .setAAD(buildAdditionalData(accountId, recordId))
        .setAuthTag(sealedBytes.subarray(-tagBytes));
      return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
    },
  };
}

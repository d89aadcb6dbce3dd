import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const formatVersion = 1;
const ivBytes = 12;
const tagBytes = 16;
/** Bytes that sealing adds to a helper. */
export const recordOverheadBytes = 1 + ivBytes + tagBytes;

/**
 * Encrypts image records at rest: AES-256-GCM under the current key of RECORD_KEY, bound to account
 * and record, so that a stolen database alone reveals no helper and rows cannot be swapped. Layout:
 * version (1 byte) ‖ IV (12) ‖ ciphertext ‖ tag (16).
 */
export interface RecordBox {
  seal(accountId: string, recordId: string, helperBytes: Uint8Array): Buffer;
  /** @throws Error when key, account, record or bytes differ from those of `seal`. */
  open(accountId: string, recordId: string, sealedBytes: Uint8Array): Buffer;
  /**
   * Seals with the current key what an earlier key sealed.
   *
   * @returns null when the current key sealed it
   * @throws as `open`
   */
  reseal(accountId: string, recordId: string, sealedBytes: Uint8Array): Buffer | null;
}

/** @param keys the first seals, all open */
export function createRecordBox(keys: readonly [current: Buffer, ...others: Buffer[]]): RecordBox {
  const buildAdditionalData = (accountId: string, recordId: string): Buffer =>
    Buffer.from(`relicario/record\n${accountId}\n${recordId}`);
  /** Index of the key that opens it, and what it holds. */
  const openWithAnyKey = (accountId: string, recordId: string, sealedBytes: Uint8Array) => {
    if (sealedBytes[0] !== formatVersion) throw new Error("unknown version of an image record");
    const iv = sealedBytes.subarray(1, 1 + ivBytes);
    const ciphertext = sealedBytes.subarray(1 + ivBytes, -tagBytes);
    for (const [index, key] of keys.entries()) {
      const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: tagBytes })
        .setAAD(buildAdditionalData(accountId, recordId))
        .setAuthTag(sealedBytes.subarray(-tagBytes));
      const helperBytes = decipher.update(ciphertext);
      try {
        return { index, helperBytes: Buffer.concat([helperBytes, decipher.final()]) };
      } catch {
        // sealed with another key
      }
    }
    throw new Error("no key opens this image record");
  };
  const box: RecordBox = {
    seal(accountId, recordId, helperBytes) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv("aes-256-gcm", keys[0], iv, { authTagLength: tagBytes }).setAAD(
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
    open: (accountId, recordId, sealedBytes) => openWithAnyKey(accountId, recordId, sealedBytes).helperBytes,
    reseal(accountId, recordId, sealedBytes) {
      const { index, helperBytes } = openWithAnyKey(accountId, recordId, sealedBytes);
      return index === 0 ? null : box.seal(accountId, recordId, helperBytes);
    },
  };
  return box;
}

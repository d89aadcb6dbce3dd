import {
  base64urlBytes,
  encodeCanonical,
  fromBase64url,
  ImageRecord,
  KeyStatement,
  parseCanonical,
  Slot,
  toBase64url,
} from "@relicario/shared/api";
import { isPortalError } from "@relicario/shared/errors";
import { z } from "zod";

import type { Sketch } from "@relicario/engine";
import type { Device } from "./device.ts";
import { createWrappedItems } from "./wrapped-items.ts";
import {
  toStoredMetadataKeys,
  fromStoredMetadataKeys,
  type AccountKey,
  type MetadataKeys,
} from "../seal/account-key.ts";
import { Book } from "../seal/book.ts";
import { copyOf } from "../seal/bytes.ts";
import { parseSketch, serializeSketch } from "../seal/helper.ts";
import { Shares } from "../seal/shares.ts";

/**
 * Unpublished data that this device keeps, wrapped by the device key. A new account is saved before
 * it is sent, without its account key. Sketches of enrolments are saved so that no picture is
 * sketched twice after an interruption.
 */

const Pending = z.strictObject({
  book: Book,
  shares: Shares,
  statement: KeyStatement,
  record: ImageRecord,
  slot: Slot,
  sketch: base64urlBytes(342, { exact: true }),
});

/** Keys and documents of a new account, without rows. */
export interface NewAccountDocuments {
  readonly keys: MetadataKeys;
  readonly book: Book;
  readonly shares: Shares;
  readonly statement: KeyStatement;
  /** Image record of the first image. */
  readonly record: ImageRecord;
  readonly slot: Slot;
  /**
   * Sketch of the first image: 342 bytes, base64url. Distinguishes a wrong passphrase from another
   * picture.
   */
  readonly sketch: string;
}

export interface UnpublishedAccount {
  readonly accountKey: AccountKey;
  readonly documents: NewAccountDocuments;
}

/** An account loaded from the device. `keys` is null if the browser cannot store keys. */
export type PendingAccount = Omit<NewAccountDocuments, "keys"> & { readonly keys: MetadataKeys | null };

/** Saves an account before it is sent. Rejects with `storage_full`. */
export async function savePendingAccount(device: Device, { keys, ...account }: NewAccountDocuments): Promise<void> {
  const plainBytes = copyOf(encodeCanonical(account));
  await device.write({
    pending: { wrapped: await device.wrap("pending", plainBytes), keys: toStoredMetadataKeys(keys) },
  });
}

export async function loadPendingAccount(device: Device): Promise<PendingAccount | null> {
  const { pending } = await device.read();
  const bytes = pending === null ? null : await device.unwrap("pending", pending.wrapped);
  if (pending === null || bytes === null) return null;
  const parsed = Pending.safeParse(parseCanonical(bytes));
  return parsed.success
    ? { ...parsed.data, keys: pending.keys === null ? null : fromStoredMetadataKeys(pending.keys) }
    : null;
}

/**
 * Removes the pending account with this key statement. On a full disk, the account stays until the
 * next reading.
 */
export async function clearPendingAccount(device: Device, statementSig: string): Promise<void> {
  if ((await loadPendingAccount(device))?.statement.sig !== statementSig) return;
  try {
    await device.update(({ pending }) => (pending === null ? null : { pending: null }));
  } catch (error) {
    if (!isPortalError(error, "storage_full")) throw error;
  }
}

const pendingSketches = createWrappedItems("sketches", z.array(base64urlBytes(342, { exact: true })).max(100));

export async function loadPendingSketches(device: Device): Promise<Sketch[]> {
  return (await pendingSketches.read(device)).map((sketch) => parseSketch(fromBase64url(sketch)));
}

/** Rejects with `storage_full`. */
export function savePendingSketch(device: Device, sketch: Sketch): Promise<void> {
  const encoded = toBase64url(serializeSketch(sketch));
  return pendingSketches.change(device, (current) => (current.includes(encoded) ? current : [...current, encoded]));
}

/** @param publishedSketches sketches of a published book, base64url */
export function removePublishedSketches(device: Device, publishedSketches: ReadonlySet<string>): Promise<void> {
  return pendingSketches.change(device, (current) => current.filter((encoded) => !publishedSketches.has(encoded)));
}

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
 * What waits on the device between making and publishing, wrapped by the device key: an account
 * that was stored before it was sent, never with its account key, and the sketches of enrolments,
 * so that no picture is sketched twice after an interruption.
 */

const Pending = z.strictObject({
  book: Book,
  shares: Shares,
  statement: KeyStatement,
  record: ImageRecord,
  slot: Slot,
  sketch: base64urlBytes(342, { exact: true }),
});

/** Everything that a new account begins with, but the rows. */
export interface FirstAccount {
  readonly keys: MetadataKeys;
  readonly book: Book;
  readonly shares: Shares;
  readonly statement: KeyStatement;
  /** Of its first image. */
  readonly record: ImageRecord;
  readonly slot: Slot;
  /** Of that image: 342 bytes, base64url. Tells a wrong passphrase from another picture. */
  readonly sketch: string;
}

/** An account that is not published yet, with its key. */
export interface UnpublishedAccount {
  readonly accountKey: AccountKey;
  readonly firstAccount: FirstAccount;
}

/** An account that waits; its metadata keys are null where they could not be kept. */
export type PendingAccount = Omit<FirstAccount, "keys"> & { readonly keys: MetadataKeys | null };

/** Stores a new account before it is sent. `storage_full`. */
export async function savePendingAccount(device: Device, { keys, ...account }: FirstAccount): Promise<void> {
  const plain = copyOf(encodeCanonical(account));
  await device.write({ pending: { wrapped: await device.wrap("pending", plain), keys: toStoredMetadataKeys(keys) } });
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

export async function clearPendingAccount(device: Device): Promise<void> {
  await device.update(({ pending }) => (pending === null ? null : { pending: null }));
}

const pendingSketches = createWrappedItems("sketches", z.array(base64urlBytes(342, { exact: true })).max(100));

export async function loadPendingSketches(device: Device): Promise<Sketch[]> {
  return (await pendingSketches.read(device)).map((sketch) => parseSketch(fromBase64url(sketch)));
}

/** Keeps a sketch until it is published. `storage_full`. */
export function savePendingSketch(device: Device, sketch: Sketch): Promise<void> {
  const encoded = toBase64url(serializeSketch(sketch));
  return pendingSketches.change(device, (current) => (current.includes(encoded) ? current : [...current, encoded]));
}

/** Forgets the sketches that a published book has. @param published base64url */
export function removePublishedSketches(device: Device, published: ReadonlySet<string>): Promise<void> {
  return pendingSketches.change(device, (current) => current.filter((encoded) => !published.has(encoded)));
}

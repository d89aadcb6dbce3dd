import {
  bytesB64u,
  canonicalBytes,
  fromB64u,
  ImageRecord,
  KeyStatement,
  parseCanonical,
  Slot,
  toB64u,
} from "@relicario/shared/api";
import { z } from "zod";

import type { Sketch } from "@relicario/engine";
import type { Device } from "../device/device.ts";
import { wrappedItems } from "../device/wrapped-items.ts";
import { keptTitlesKeys, titlesKeysFrom, type TitlesKeys } from "../seal/account-key.ts";
import { Book, type BookInner } from "../seal/book.ts";
import { copyOf } from "../seal/bytes.ts";
import { parseSketch, sketchBytes } from "../seal/helper.ts";
import { Shares } from "../seal/shares.ts";
import type { FirstAccount } from "../vault-context.ts";

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
  sketch: bytesB64u(342, { exact: true }),
});

/** An account that waits; its titles keys are null where they could not be kept. */
export type PendingAccount = Omit<FirstAccount, "keys"> & { readonly keys: TitlesKeys | null };

/** Stores a new account before it is sent. `storage_full`. */
export async function keepPending(device: Device, { keys, ...account }: FirstAccount): Promise<void> {
  const plain = copyOf(canonicalBytes(account));
  await device.write({ pending: { wrapped: await device.wrap("pending", plain), keys: keptTitlesKeys(keys) } });
}

export async function pendingAccount(device: Device): Promise<PendingAccount | null> {
  const { pending } = await device.read();
  const bytes = pending === null ? null : await device.unwrap("pending", pending.wrapped);
  if (pending === null || bytes === null) return null;
  const parsed = Pending.safeParse(parseCanonical(bytes));
  return parsed.success ? { ...parsed.data, keys: pending.keys === null ? null : titlesKeysFrom(pending.keys) } : null;
}

export async function forgetPending(device: Device): Promise<void> {
  await device.update(({ pending }) => (pending === null ? null : { pending: null }));
}

const sketches = wrappedItems("sketches", z.array(bytesB64u(342, { exact: true })).max(100));

export async function keptSketches(device: Device): Promise<Sketch[]> {
  return (await sketches.read(device)).map((sketch) => parseSketch(fromB64u(sketch)));
}

/** Keeps a sketch until it is published. `storage_full`. */
export function keepSketch(device: Device, sketch: Sketch): Promise<void> {
  const added = toB64u(sketchBytes(sketch));
  return sketches.change(device, (kept) => (kept.includes(added) ? kept : [...kept, added]));
}

/** Forgets the sketches that a published book has. */
export function forgetSketches(device: Device, inner: Pick<BookInner, "sketches">): Promise<void> {
  return sketches.change(device, (kept) => kept.filter((one) => !inner.sketches.some(({ sketch }) => sketch === one)));
}

import { bytesB64u, canonicalBytes, fromB64u, ImageRecord, KeyStatement, parseCanonical, Slot, toB64u } from "@relicario/shared/api";
import { z } from "zod";

import type { Sketch } from "@relicario/engine";
import type { Device, Wrapped } from "../device/device.ts";
import { keptTitlesKeys, titlesKeysFrom, type TitlesKeys } from "../seal/account-key.ts";
import { Book, type BookInner } from "../seal/book.ts";
import { copyOf, equalBytes, wipe } from "../seal/bytes.ts";
import { parseSketch, sketchBytes } from "../seal/helper.ts";
import { Shares } from "../seal/shares.ts";
import type { FirstAccount } from "../vault-context.ts";

/**
 * What waits on the device between making and publishing, wrapped by the device key: an account that was stored before it was sent,
 * never with its account key, and the sketches of enrolments, so that no picture is sketched twice after an interruption.
 */

const Pending = z.strictObject({ book: Book, shares: Shares, statement: KeyStatement, record: ImageRecord, slot: Slot, sketch: bytesB64u(342, { exact: true }) });

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

const KeptSketches = z.array(bytesB64u(342, { exact: true })).max(100);

export async function keptSketches(device: Device): Promise<Sketch[]> {
  const { sketches } = await device.read();
  const bytes = sketches === null ? null : await device.unwrap("sketches", sketches);
  if (bytes === null) return [];
  const parsed = KeptSketches.safeParse(parseCanonical(bytes));
  return parsed.success ? parsed.data.map((sketch) => parseSketch(fromB64u(sketch))) : [];
}

/** Keeps a sketch until it is published. `storage_full`. */
export function keepSketch(device: Device, sketch: Sketch): Promise<void> {
  const added = toB64u(sketchBytes(sketch));
  return changeSketches(device, (kept) => (kept.includes(added) ? kept : [...kept, added]));
}

/** Forgets the sketches that a published book has. */
export function forgetSketches(device: Device, { sketches }: Pick<BookInner, "sketches">): Promise<void> {
  return changeSketches(device, (kept) => kept.filter((one) => !sketches.some(({ sketch }) => sketch === one)));
}

/** What another tab writes between reading and writing is not lost: the change is made again from there. */
async function changeSketches(device: Device, change: (kept: readonly string[]) => readonly string[]): Promise<void> {
  const { sketches: before } = await device.read();
  const kept = (await keptSketches(device)).map((one) => toB64u(sketchBytes(one)));
  const next = change(kept);
  if (next.length === kept.length) return;
  const plain = copyOf(canonicalBytes(next));
  const wrapped = next.length === 0 ? null : await device.wrap("sketches", plain);
  wipe(plain);
  const seen = { same: true };
  await device.update(({ sketches: now }) => {
    seen.same = isSame(now, before);
    return seen.same ? { sketches: wrapped } : null;
  });
  if (!seen.same) await changeSketches(device, change);
}

function isSame(one: Wrapped | null, other: Wrapped | null): boolean {
  return one === null || other === null ? one === other : equalBytes(one.iv, other.iv); // random, made anew with each wrapping
}

import { bytesB64u, canonicalBytes, fromB64u, parseCanonical, toB64u } from "@relicario/shared/api";
import { z } from "zod";

import type { Sketch } from "@relicario/engine";
import type { Device } from "../device/device.ts";
import { importAccountKey, type AccountKey } from "../seal/account-key.ts";
import { copyOf, wipe, type Bytes } from "../seal/bytes.ts";
import { parseSketch, sketchBytes } from "../seal/helper.ts";

/**
 * What waits on the device between making and publishing, wrapped by the device key: an account key that was stored
 * before it was sent (a pending key is not a held one), and the sketches of enrolments, so that no picture is sketched
 * twice after an interruption.
 */

/** Key epoch of every account key that was never rotated. */
export const firstKeyEpoch = 1;

/** Stores account key bytes before they are sent. The caller wipes them. `storage_full`. */
export async function keepPending(device: Device, accountKey: Bytes): Promise<void> {
  await device.write({ pending: await device.wrap("pending", accountKey) });
}

/** The pending account key, or null. */
export async function pendingAccountKey(device: Device): Promise<AccountKey | null> {
  const bytes = await pendingBytes(device);
  return bytes === null ? null : importAccountKey(bytes, firstKeyEpoch);
}

/** Its 32 bytes; wipe them. */
async function pendingBytes(device: Device): Promise<Bytes | null> {
  const { pending } = await device.read();
  if (pending === null) return null;
  const bytes = await device.unwrap("pending", pending);
  return bytes?.length === 32 ? bytes : null;
}

export async function forgetPending(device: Device): Promise<void> {
  const { pending } = await device.read();
  if (pending !== null) await device.write({ pending: null });
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
export async function keepSketch(device: Device, sketch: Sketch): Promise<void> {
  const kept = (await keptSketches(device)).map((one) => toB64u(sketchBytes(one)));
  const added = toB64u(sketchBytes(sketch));
  if (!kept.includes(added)) await writeSketches(device, [...kept, added]);
}

/** Forgets a sketch that was published. */
export async function forgetSketch(device: Device, sketch: Sketch): Promise<void> {
  const kept = (await keptSketches(device)).map((one) => toB64u(sketchBytes(one)));
  const gone = toB64u(sketchBytes(sketch));
  if (kept.includes(gone)) await writeSketches(device, kept.filter((one) => one !== gone));
}

async function writeSketches(device: Device, kept: readonly string[]): Promise<void> {
  if (kept.length === 0) {
    await device.write({ sketches: null });
    return;
  }
  const plain = copyOf(canonicalBytes(kept));
  await device.write({ sketches: await device.wrap("sketches", plain) });
  wipe(plain);
}

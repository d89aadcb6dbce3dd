import { canonicalBytes, canonicalText, parseCanonical, type Json } from "@relicario/shared/api";
import type { z } from "zod";

import { copyOf, equalBytes, wipe } from "../seal/bytes.ts";
import type { Device, Wrapped } from "./device.ts";

/** Items that wait on the device, wrapped by the device key. */
export interface WrappedItems<Item> {
  /** Empty where it can no longer be read: another device key, a browser that forgot half. */
  readonly read: (device: Device) => Promise<Item[]>;
  /**
   * What another tab writes between reading and writing is not lost: the change is made again from
   * there. `storage_full`.
   */
  readonly change: (device: Device, change: (kept: readonly Item[]) => readonly Item[]) => Promise<void>;
}

/** @param member of the device's record; its name is also what the list is wrapped for */
export function wrappedItems<Item extends Json>(
  member: "sketches" | "newShares",
  schema: z.ZodType<Item[]>,
): WrappedItems<Item> {
  async function read(device: Device): Promise<Item[]> {
    const wrapped = (await device.read())[member];
    const bytes = wrapped === null ? null : await device.unwrap(member, wrapped);
    if (bytes === null) return [];
    const parsed = schema.safeParse(parseCanonical(bytes));
    wipe(bytes);
    return parsed.success ? parsed.data : [];
  }

  async function change(device: Device, make: (kept: readonly Item[]) => readonly Item[]): Promise<void> {
    const before = (await device.read())[member];
    const kept = await read(device);
    const next = [...make(kept)];
    if (canonicalText(next) === canonicalText(kept)) return;
    const plain = copyOf(canonicalBytes(next));
    const wrapped = next.length === 0 ? null : await device.wrap(member, plain);
    wipe(plain);
    const seen = { same: true };
    await device.update(({ [member]: now }) => {
      seen.same = isSame(now, before);
      return seen.same ? { [member]: wrapped } : null;
    });
    if (!seen.same) await change(device, make);
  }

  return { read, change };
}

function isSame(one: Wrapped | null, other: Wrapped | null): boolean {
  // random, made anew with each wrapping
  return one === null || other === null ? one === other : equalBytes(one.iv, other.iv);
}

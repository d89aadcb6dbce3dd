import { encodeCanonical, stringifyCanonical, parseCanonical, type Json } from "@relicario/shared/api";
import type { z } from "zod";

import { copyOf, equalBytes, wipe } from "../seal/bytes.ts";
import type { Device, WrappedData } from "./device.ts";

/** Items that wait on the device, wrapped by the device key. */
export interface WrappedItems<Item> {
  /** Empty where it can no longer be read: another device key, a browser that forgot half. */
  readonly read: (device: Device) => Promise<Item[]>;
  /**
   * What another tab writes between reading and writing is not lost: the change is made again from
   * there. `storage_full`.
   */
  readonly change: (device: Device, change: (items: readonly Item[]) => readonly Item[]) => Promise<void>;
}

/** @param member of the device's record; its name is also what the list is wrapped for */
export function createWrappedItems<Item extends Json>(
  member: "sketches" | "newShares",
  schema: z.ZodType<Item[]>,
): WrappedItems<Item> {
  async function readItems(device: Device): Promise<Item[]> {
    const wrapped = (await device.read())[member];
    const bytes = wrapped === null ? null : await device.unwrap(member, wrapped);
    if (bytes === null) return [];
    const parsed = schema.safeParse(parseCanonical(bytes));
    wipe(bytes);
    return parsed.success ? parsed.data : [];
  }

  async function changeItems(device: Device, transform: (items: readonly Item[]) => readonly Item[]): Promise<void> {
    const previousWrapped = (await device.read())[member];
    const current = await readItems(device);
    const next = [...transform(current)];
    if (stringifyCanonical(next) === stringifyCanonical(current)) return;
    const plain = copyOf(encodeCanonical(next));
    const wrapped = next.length === 0 ? null : await device.wrap(member, plain);
    wipe(plain);
    const outcome = { unchanged: true };
    await device.update(({ [member]: currentWrapped }) => {
      outcome.unchanged = isSameWrapping(currentWrapped, previousWrapped);
      return outcome.unchanged ? { [member]: wrapped } : null;
    });
    if (!outcome.unchanged) await changeItems(device, transform);
  }

  return { read: readItems, change: changeItems };
}

function isSameWrapping(left: WrappedData | null, right: WrappedData | null): boolean {
  // random, made anew with each wrapping
  return left === null || right === null ? left === right : equalBytes(left.iv, right.iv);
}

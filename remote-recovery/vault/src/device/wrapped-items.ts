import { encodeCanonical, stringifyCanonical, parseCanonical, type Json } from "@relicario/shared/api";
import type { z } from "zod";

import { copyOf, equalBytes, wipe } from "../seal/bytes.ts";
import type { Device, WrappedData } from "./device.ts";

/** A list in the device record that is wrapped by the device key. */
export interface WrappedItems<Item> {
  /** Empty if the browser has cleared the device key or part of its storage. */
  readonly read: (device: Device) => Promise<Item[]>;
  /** Applies `transform`, again if another tab wrote meanwhile. Rejects with `storage_full`. */
  readonly change: (device: Device, transform: (items: readonly Item[]) => readonly Item[]) => Promise<void>;
}

/** @param member member of the device record; also the purpose of the wrapping */
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
    const plainBytes = copyOf(encodeCanonical(next));
    const wrapped = next.length === 0 ? null : await device.wrap(member, plainBytes);
    wipe(plainBytes);
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
  // the iv is random for each wrapping
  return left === null || right === null ? left === right : equalBytes(left.iv, right.iv);
}

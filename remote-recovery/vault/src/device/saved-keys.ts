import { toStoredMetadataKeys, type MetadataKeys } from "../seal/account-key.ts";
import type { Device } from "./device.ts";

interface DeviceAndClock {
  readonly device: Device;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Stores the metadata keys on an own device, where its browser can keep all of them; says whether
 * it could. `storage_full`.
 */
export async function saveMetadataKeys({ device, now }: DeviceAndClock, keys: MetadataKeys): Promise<boolean> {
  const metadataKeys = toStoredMetadataKeys(keys);
  await device.write({
    kind: "own",
    metadataKeys,
    locked: false,
    lockedAt: null,
    lockedSignIn: null,
    lastActivity: now(),
  });
  return metadataKeys !== null;
}

/**
 * From now on a lock takes the metadata keys away on an own device: this passkey opened or was made
 * here.
 */
export async function savePasskeyOpener({ device }: { readonly device: Device }, openerId: string): Promise<void> {
  await device.update(({ passkeyOpener }) => (passkeyOpener === openerId ? null : { passkeyOpener: openerId }));
}

import { toStoredMetadataKeys, type AccountKey, type MetadataKeys } from "../seal/account-key.ts";
import { deriveMark, hasSameMark, type MarkNote, type NotedMark } from "../seal/mark.ts";
import type { Device } from "./device.ts";

interface KeyHolder {
  readonly device: Device;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Null leaves the saved mark. */
  readonly accountKey: AccountKey | null;
  /** Of a mark that the device does not have. */
  readonly markNote: MarkNote | null;
}

/**
 * Saves the metadata keys and the mark on an own device. Returns false if the browser cannot store
 * the keys. Rejects with `storage_full`.
 */
export async function saveMetadataKeys(
  { device, now, accountKey, markNote }: KeyHolder,
  keys: MetadataKeys,
): Promise<boolean> {
  const metadataKeys = toStoredMetadataKeys(keys);
  const derivedMark = accountKey === null ? null : deriveMark(accountKey);
  const noteMark = (savedMark: NotedMark | null): NotedMark | null => {
    if (derivedMark === null || (savedMark !== null && hasSameMark(savedMark, derivedMark))) return savedMark;
    return { ...derivedMark, note: savedMark === null ? markNote : "replaced" };
  };
  await device.update(({ mark }) => ({
    kind: "own",
    metadataKeys,
    mark: noteMark(mark),
    locked: false,
    lockedAt: null,
    lockedSignIn: null,
    lastActivity: now(),
  }));
  return metadataKeys !== null;
}

/** Saves that this passkey was created or used here. A lock then removes the metadata keys. */
export async function savePasskeyOpener({ device }: { readonly device: Device }, openerId: string): Promise<void> {
  await device.update(({ passkeyOpener }) => (passkeyOpener === openerId ? null : { passkeyOpener: openerId }));
}

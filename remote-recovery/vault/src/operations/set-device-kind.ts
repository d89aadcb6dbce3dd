import type { DeviceKind } from "@relicario/shared/contract";

import type { VaultSession } from "../session/vault-session.ts";
import { saveMetadataKeys } from "../device/saved-keys.ts";

/**
 * Saves whether this is an own device or a shared computer. An own device keeps the metadata keys,
 * non-extractable, between page loads. `keysSaved` is false in a browser without Ed25519.
 *
 * @throws PortalError `vault_locked`, `storage_full`
 */
export async function setDeviceKind(vault: VaultSession, kind: DeviceKind): Promise<{ keysSaved: boolean }> {
  const keys = vault.requireKeys();
  const isOwn = kind === "own";
  const keysSaved = isOwn && (await saveMetadataKeys(vault, keys));
  if (isOwn) vault.listCache.drop(); // the next reading fetches the whole list, and caches it on the device
  else {
    await vault.device.write({ kind, metadataKeys: null, mark: null, locked: false });
    await vault.listCache.clearDevice();
  }
  await vault.reportUnlocked();
  return { keysSaved };
}

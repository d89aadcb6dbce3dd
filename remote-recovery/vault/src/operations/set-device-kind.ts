import type { DeviceKind } from "@relicario/shared/contract";

import type { VaultSession } from "../session/vault-session.ts";
import { saveMetadataKeys } from "../device/saved-keys.ts";

/**
 * The answer to "my own device or a shared computer". An own one keeps the metadata keys,
 * unreadable, between page loads: `keysSaved`, but not in a browser without Ed25519.
 *
 * @throws PortalError `vault_locked`, `storage_full`.
 */
export async function setDeviceKind(vault: VaultSession, kind: DeviceKind): Promise<{ keysSaved: boolean }> {
  const keys = vault.requireKeys();
  const isOwn = kind === "own";
  const keysSaved = isOwn && (await saveMetadataKeys(vault, keys));
  if (isOwn) vault.list.drop(); // read whole once more, to be kept
  else {
    await vault.device.write({ kind, metadataKeys: null, locked: false });
    await vault.list.clearDevice();
  }
  await vault.reportUnlocked();
  return { keysSaved };
}

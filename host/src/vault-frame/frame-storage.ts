import type { Channel } from "@relicario/shared/contract";

import { StoredVaultData, type VaultStorage } from "../device/vault-storage.ts";

/** The vault's storage over the channel to its frame, which serves it as `storage`. */
export function createFrameStorage(channel: Channel): VaultStorage {
  const call =
    (name: keyof VaultStorage) =>
    async (...args: readonly unknown[]): Promise<void> => {
      await channel.call("storage", [name], args);
    };
  return Object.freeze<VaultStorage>({
    read: async () => StoredVaultData.parse(await channel.call("storage", ["read"])),
    lockAccount: call("lockAccount"),
    wipeRows: call("wipeRows"),
    wipeUploads: call("wipeUploads"),
    wipeRecords: call("wipeRecords"),
    dropDeviceKey: call("dropDeviceKey"),
    removeOpenedFiles: call("removeOpenedFiles"),
  });
}

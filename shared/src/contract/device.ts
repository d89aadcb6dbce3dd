/** Identifies an account on a device. Never contains an e-mail address. */
export interface DeviceAccount {
  readonly vendorId: string;
  readonly issuer: string;
  readonly subject: string;
}

/** Key of the account's records on a device, the same in every tab. */
export function buildAccountStorageKey({ vendorId, issuer, subject }: DeviceAccount): string {
  return JSON.stringify([vendorId, issuer, subject]);
}

/**
 * Names of the places where the vault stores data on a device. The vault reads and writes the data.
 * The host wipes it, even in a session that never loaded the vault.
 */
export const deviceStorage = {
  /**
   * IndexedDB. `accounts`: one record per {@link buildAccountStorageKey}, whose member `kind` is a
   * `DeviceKind` or null. `keys`: the device key, under the key `device`.
   */
  vault: { database: "relicario-vault", accounts: "accounts", keys: "keys", deviceKey: "device" },
  /**
   * IndexedDB: cached sealed rows. `heads`: one per account, by account key. `blocks`: by [account
   * key, number].
   */
  rows: { database: "relicario-rows", heads: "heads", blocks: "blocks" },
  /** IndexedDB. `uploads`: unpublished uploads, by [account key, upload id]. */
  uploads: { database: "relicario-uploads", uploads: "uploads" },
  /**
   * IndexedDB. `answers`: unfinished answers to requests, by request id. They belong to no account,
   * and cannot be read without the link.
   */
  answers: { database: "relicario-answers", answers: "answers" },
  /**
   * Folder of private files with opened contents. A writer holds the Web Lock {@link
   * buildOpenedFileLockName} of its file until it ends, so a file without a held lock is abandoned.
   */
  openedFilesFolder: "relicario-opened",
} as const;

/** Name of the Web Lock that the writer of a private file holds. */
export function buildOpenedFileLockName(fileName: string): string {
  return `${deviceStorage.openedFilesFolder} ${fileName}`;
}

/** The account as a device knows it: never by an e-mail address. */
export interface DeviceAccount {
  readonly vendorId: string;
  readonly issuer: string;
  readonly subject: string;
}

/** Names the account on a device, the same in every tab: the key of what is kept for it. */
export function buildAccountStorageKey({ vendorId, issuer, subject }: DeviceAccount): string {
  return JSON.stringify([vendorId, issuer, subject]);
}

/**
 * What the vault keeps on a device, by the names under which browsers keep it. The vault reads and
 * writes it; the host, which outlives it, wipes it, also where no screen asked for the vault.
 */
export const deviceStorage = {
  /**
   * IndexedDB. `accounts`: one record by {@link buildAccountStorageKey}, whose member `kind` is a
   * `DeviceKind` or null. `keys`: the device key as `device`.
   */
  vault: { database: "relicario-vault", accounts: "accounts", keys: "keys", deviceKey: "device" },
  /**
   * IndexedDB. Sealed rows of the list. `heads`: one by account name. `blocks`: by [account name,
   * number].
   */
  rows: { database: "relicario-rows", heads: "heads", blocks: "blocks" },
  /** IndexedDB. `uploads`: those that are not published, by [account name, upload id]. */
  uploads: { database: "relicario-uploads", uploads: "uploads" },
  /**
   * IndexedDB. `answers`: those to requests for a secret that were begun in this browser, by
   * request id, unreadable without the link. No account's.
   */
  answers: { database: "relicario-answers", answers: "answers" },
  /**
   * Folder of private files with opened contents. Whoever writes one holds the Web Lock {@link
   * buildOpenedFileLockName} of it until it ends.
   */
  openedFilesFolder: "relicario-opened",
} as const;

/** Name of the Web Lock of whoever made a private file in the folder of opened contents. */
export function buildOpenedFileLockName(fileName: string): string {
  return `${deviceStorage.openedFilesFolder} ${fileName}`;
}

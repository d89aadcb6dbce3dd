import type { CallOptions, OpenedContent, OpenedSecret } from "@relicario/shared/contract";

/** An opened content as it is inside the vault's origin. The page has a handle and a view of it. */
export type Plain<Opened extends OpenedContent> = Omit<Opened, "handle" | "View"> &
  PlainContent &
  (Opened extends OpenedSecret ? Pick<Required<PlainContent>, "exportAgeFile"> : unknown);

/** Members of the contract, with plain contents in place of the page's. */
export type PlainMembers<Members> = {
  readonly [Name in keyof Members]: Members[Name] extends (
    ...args: infer Arguments
  ) => Promise<infer Opened extends OpenedContent>
    ? (...args: Arguments) => Promise<Plain<Opened>>
    : Members[Name];
};

export interface PlainContent {
  /** Null for content that is too large for memory: {@link save} streams it. */
  readonly content: Uint8Array<ArrayBuffer> | null;
  /**
   * Returns the content, verified to its last byte. A content that is too large for memory is then
   * a private file, if the browser has these.
   *
   * Fails with `vault_locked` after a lock, `decryption_failed`, `storage_full`, `cancelled`.
   */
  readonly save: (options?: CallOptions) => Promise<Blob>;
  /**
   * Only of an own secret: the sealed content and its identity, for "save as age file". Call it
   * only when the person asks for the file: no other call takes the identity out of the worker.
   *
   * Fails with `vault_locked` after a lock, and with `payload_too_large` if `content` is null.
   */
  readonly exportAgeFile?: () => Promise<AgeFile>;
  /** Wipes what the worker keeps for the other members. */
  readonly dispose: () => void;
}

/**
 * The sealed content as the service stores it, and the identity that opens it
 * (`AGE-SECRET-KEY-PQ-1…`).
 */
export interface AgeFile {
  readonly sealedContent: Uint8Array<ArrayBuffer>;
  readonly identity: string;
  /**
   * Bytes of the plain content. Texts are padded with line feeds after these bytes: cut them off
   * with `age -d -i … | head -c <size>`.
   */
  readonly size: number;
}

import type { CallOptions, ContentKind, OpenerHandle } from "./contents.ts";
import type { ErrorCode } from "../errors/index.ts";
import type { Language } from "./language.ts";

/** Importable file formats. `relicario_export` is the archive of {@link Vault.exportSecrets}. */
export const importFormats = [
  "bitwarden_json",
  "bitwarden_csv",
  "onepassword_1pux",
  "onepassword_csv",
  "proton_pass",
  "keepass_kdbx",
  "keepass_xml",
  "keepass_csv",
  "keepassxc_csv",
  "lastpass_csv",
  "dashlane_csv",
  "nordpass_csv",
  "enpass_json",
  "keeper_json",
  "keeper_csv",
  "roboform_csv",
  "apple_csv",
  "aegis_json",
  "otp_addresses",
  "google_csv",
  "firefox_csv",
  "other_csv",
  "text_files",
  "relicario_export",
] as const;
export type ImportFormat = (typeof importFormats)[number];

/**
 * Formats that are recognised but cannot be imported. The person is told which format to export
 * instead.
 */
export const unreadableFormats = [
  "keepass_1",
  "keepass_cipher",
  "keepass_xml_1",
  "onepassword_1pif",
  "dashlane_json",
  "enpass_csv",
  "enpass_vault",
  "password_safe",
  "two_fas",
  "andotp",
  "spreadsheet",
  "database",
  "pgp",
] as const;
export type UnreadableFormat = (typeof unreadableFormats)[number];

/** Meaning of a table's column. A `field` keeps the column's name. */
export const columnRoles = ["title", "username", "email", "password", "url", "note", "otp", "tags", "field"] as const;
export type ColumnRole = (typeof columnRoles)[number];

/** Kind of an item in its file. */
export type ImportKind =
  | "login"
  | "note"
  | "card"
  | "identity"
  | "other"
  | "one_time_password"
  | "attachment"
  | "text"
  | "secret";

/** An item that was read from the file and is not stored yet. */
export interface ImportItem {
  readonly title: string;
  readonly tags: readonly string[];
  readonly contentKind: ContentKind;
  readonly name: string;
  readonly mime: string;
  /**
   * The content. With {@link sealedContent}: the slice of the chosen file that contains the sealed
   * content.
   */
  readonly content: Blob;
  readonly kind: ImportKind;
  /**
   * Identifies the item in its file, and is the same each time the file is read. Leaves the device
   * only as a keyed digest.
   */
  readonly sourceId: string;
  /**
   * Content in a form that does not depend on the portal's language; null if `content` itself does
   * not depend on it. Leaves the device only as a keyed digest.
   */
  readonly canonicalContent: string | null;
  /**
   * Set if part of the title was generated. The first title does not depend on the portal's
   * language, and is part of the item's mark. The others are titles that earlier marks may contain.
   */
  readonly canonicalTitles?: readonly [string, ...string[]];
  /** Adjustments that were made because a title was empty, or a value longer than allowed. */
  readonly adjustments: readonly ("title_made" | "title_cut" | "name_cut" | "tags_cut")[];
  /**
   * For a large content in an archive of this portal. `identity` opens it when it is stored, and is
   * secret. `size`: bytes of the plain content. `sha256`, `plainSha256`: digests of the sealed and
   * of the plain content, in base64url.
   */
  readonly sealedContent?: {
    readonly identity: string;
    readonly size: number;
    readonly sha256: string;
    readonly plainSha256: string;
  };
  /** Whether it was a favourite in the other program. */
  readonly favorite?: true;
  /**
   * Parts of the item that cannot be imported; absent if there are none. The private key of a
   * passkey is useless as text.
   */
  readonly omitted?: readonly "passkey"[];
  /** Whether the item has seeds of one-time codes. */
  readonly hasSeeds?: true;
  /** Names of the item's fields, as in the content. */
  readonly fieldNames?: readonly string[];
}

/**
 * An item that could not be read, or not wholly. `location`: its place in the file, such as a row
 * or a name. `in_trash`: it is in the other program's trash. Items that were read and need a look:
 * `not_understood` (imported as it stands), `unreadable_character` (bytes that are not text),
 * `doubtful_quotes` and `extra_cells` (of a row of a table), `unresolved_reference` (to another
 * entry).
 */
export interface ImportFailure {
  readonly location: string;
  readonly reason:
    | "damaged"
    | "empty"
    | "title_only"
    | "too_large"
    | "missing_file"
    | "in_trash"
    | "not_understood"
    | "unreadable_character"
    | "doubtful_quotes"
    | "extra_cells"
    | "unresolved_reference";
}

/**
 * Question that the person has to answer before the files can be read.
 *
 * `encoding_needed`: sample values in each possible encoding, the likeliest encoding first.
 * `columns_needed`: the columns of a table from an unknown program, with a guess at each role;
 * `isFirstRowEntry` guesses whether the first row is an entry instead of column names.
 * `password_needed`, `password_wrong`: for a KeePass database.
 */
export type ImportQuestion =
  | {
      readonly status: "encoding_needed";
      readonly encodings: readonly { readonly encoding: string; readonly samples: readonly string[] }[];
    }
  | {
      readonly status: "columns_needed";
      readonly columns: readonly {
        readonly name: string;
        readonly samples: readonly string[];
        readonly role: ColumnRole;
      }[];
      readonly isFirstRowEntry: boolean;
    }
  | { readonly status: "password_needed" | "password_wrong" };

/**
 * Result of reading files, or a question to answer first. `refused`: nothing could be read.
 * `encrypted`: the other program's export has a password. `identity_needed`, `identity_wrong`: for
 * an archive of this portal, which its exit identity opens.
 */
export type ImportReadResult =
  | {
      readonly status: "read";
      readonly format: ImportFormat;
      readonly items: readonly ImportItem[];
      readonly failures: readonly ImportFailure[];
      /**
       * Names of members that are not imported, because the other program uses them only for
       * itself.
       */
      readonly leftOut: readonly string[];
    }
  | ImportQuestion
  | {
      readonly status: "refused";
      readonly reason: "unknown_format" | "encrypted" | "damaged" | "too_large" | "identity_needed" | "identity_wrong";
    }
  | { readonly status: "refused"; readonly reason: "unreadable_format"; readonly format: UnreadableFormat };

/**
 * Result of comparing an item with the stored secrets. Storing a `same` item adds nothing; a
 * `changed` item becomes a new version of that secret.
 */
export type ImportComparison =
  | { readonly status: "new" }
  | { readonly status: "same" | "changed"; readonly secretId: string };

export interface ImportReadOptions extends CallOptions {
  /** Language of generated titles and texts. */
  readonly language: Language;
  /** For an archive of this portal: the text in the file `exit.txt`. */
  readonly exitIdentity?: string;
  /** Answers `encoding_needed`. */
  readonly encoding?: string;
  /** Answers `columns_needed`: one role per column. */
  readonly columns?: readonly ColumnRole[];
  readonly isFirstRowEntry?: boolean;
  /** Answers `password_needed`. */
  readonly password?: string;
}

/**
 * Result of storing items. `failures` and `failedFavoriteIndexes` have positions in the given
 * items. Items of `failedFavoriteIndexes` are stored, but not as favourites. `stopReason`: why
 * storing stopped early, or null.
 */
export interface ImportResult {
  readonly added: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly failures: readonly { readonly index: number; readonly code: ErrorCode }[];
  readonly failedFavoriteIndexes?: readonly number[];
  readonly stopReason: ErrorCode | null;
}

/**
 * Imports secrets from other programs. A separate worker without any key of the account reads the
 * files. Nothing is sent before {@link store}.
 */
export interface VaultImports {
  /** Reads one file, or the text files of a folder. */
  readonly read: (files: readonly File[], options: ImportReadOptions) => Promise<ImportReadResult>;
  /**
   * Compares each item with the stored secrets. Results are in the order of the items. In an empty
   * account each item is `new`. Fails with `vault_locked`.
   */
  readonly compare: (items: readonly ImportItem[], options?: CallOptions) => Promise<readonly ImportComparison[]>;
  /**
   * Protects the items with all openers, in calls of up to a hundred items. One presented opener
   * suffices for all items. In an empty account it has to be a picture, and `name` is that
   * picture's name. Progress counts items, in the phase `sending`.
   *
   * If the import is cancelled or the connection is lost, stored items stay and `stopReason` has
   * the reason. Storing the same items again adds no duplicates. Fails before anything is stored
   * with `cancelled`, `quota_exceeded`, `state_conflict`, and with the codes of {@link
   * Vault.unlock}.
   */
  readonly store: (
    items: readonly ImportItem[],
    opener: OpenerHandle,
    options?: CallOptions & { readonly name?: string },
  ) => Promise<ImportResult>;
}

import type { CallOptions, ContentKind, OpenerHandle } from "./contents.ts";
import type { ErrorCode } from "../errors/index.ts";
import type { Language } from "./language.ts";

/** Files that can be imported. `relicario_export` is the archive of {@link Vault.exportSecrets}. */
export const importFormats = [
  "bitwarden_json",
  "bitwarden_csv",
  "onepassword_1pux",
  "onepassword_csv",
  "proton_pass",
  "keepass_xml",
  "google_csv",
  "firefox_csv",
  "text_files",
  "relicario_export",
] as const;
export type ImportFormat = (typeof importFormats)[number];

/** What an item was in its file. */
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

/** An item as it was read. Nothing of it was stored yet. */
export interface ImportItem {
  readonly title: string;
  readonly tags: readonly string[];
  readonly contentKind: ContentKind;
  readonly name: string;
  readonly mime: string;
  /** The content, or a part of the chosen file that it is sealed in: see `sealed`. */
  readonly content: Blob;
  readonly kind: ImportKind;
  /**
   * Which item of which kind of file this is, the same whenever that file is read. It leaves the
   * device in a keyed digest alone.
   */
  readonly sourceId: string;
  /**
   * What it holds, the same in every language of the portal; null where that is the content. It
   * leaves the device in a keyed digest alone.
   */
  readonly canonicalContent: string | null;
  /**
   * Where the title is partly ours, that title as its mark has it, in the same language whatever
   * the portal's, and then as earlier marks may have it. Absent where the title is the item's own.
   */
  readonly canonicalTitles?: readonly [string, ...string[]];
  /**
   * What had to be made different: a title that was empty, or what was longer than a secret may
   * have.
   */
  readonly adjustments: readonly ("title_made" | "title_cut" | "name_cut" | "tags_cut")[];
  /**
   * Of a large content in an archive of this portal: what opens it, which is secret, and what it
   * must be. It is opened when it is stored. `size` is that of the plain content; `sha256` and
   * `plainSha256` are digests before and after, in base64url.
   */
  readonly sealed?: {
    readonly identity: string;
    readonly size: number;
    readonly sha256: string;
    readonly plainSha256: string;
  };
  /** It was a favourite there. */
  readonly favorite?: true;
  /**
   * What it holds in its file and not here; absent where nothing is missing. Private keys of
   * passkeys are of no use as text.
   */
  readonly omitted?: readonly "passkey"[];
}

/**
 * An item that is not among those that were read; `location` says where it stands in the file: a
 * row, a name. `in_trash`: in the other product's trash.
 */
export interface ImportFailure {
  readonly location: string;
  readonly reason: "damaged" | "empty" | "too_large" | "missing_file" | "in_trash";
}

/**
 * What files hold. `refused`: nothing of them could be read. `encrypted`: the other product's
 * export has a password of its own. `identity_needed`, `identity_wrong`: an archive of this portal
 * opens with its exit identity.
 */
export type ImportReadResult =
  | {
      readonly status: "read";
      readonly format: ImportFormat;
      readonly items: readonly ImportItem[];
      readonly failures: readonly ImportFailure[];
    }
  | {
      readonly status: "refused";
      readonly reason: "unknown_format" | "encrypted" | "damaged" | "too_large" | "identity_needed" | "identity_wrong";
    };

/**
 * How an item compares with what is stored: `same` adds nothing, `changed` becomes a new version of
 * that secret.
 */
export type ImportComparison =
  | { readonly status: "new" }
  | { readonly status: "same" | "changed"; readonly secretId: string };

export interface ImportReadOptions extends CallOptions {
  /** Of the words that texts are made with. */
  readonly language: Language;
  /** Of an archive of this portal: the text of its `exit.txt`. */
  readonly exitIdentity?: string;
}

/**
 * What became of the items; `failures` and `favoriteFailed` (stored, but not as favourites) are
 * indices into what was given. `stopReason` says why it ended before the last one; null when it did
 * not.
 */
export interface ImportResult {
  readonly added: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly failures: readonly { readonly index: number; readonly code: ErrorCode }[];
  readonly favoriteFailed?: readonly number[];
  readonly stopReason: ErrorCode | null;
}

/**
 * Importing what people have. Files are read in a worker of their own, which has no key of the
 * account; nothing is sent before {@link store}.
 */
export interface VaultImports {
  /** Reads one file, or the text files of a folder. */
  readonly read: (files: readonly File[], options: ImportReadOptions) => Promise<ImportReadResult>;
  /**
   * How each item stands, in their order. All are new while nothing was ever kept. `vault_locked`.
   */
  readonly compare: (items: readonly ImportItem[], options?: CallOptions) => Promise<readonly ImportComparison[]>;
  /**
   * Protects the items by all openers, a hundred in a call. One opener is shown for all of them; in
   * an account that begins with them it is a picture, which takes `name`. What is stored stays when
   * it is cancelled or the connection goes: it is answered with `stopReason`, and the same items
   * once more add nothing twice. Progress counts items, in the phase `sending`. While nothing is
   * stored yet and no item has failed: `cancelled`, `quota_exceeded`, `state_conflict`, and those
   * of {@link Vault.unlock}.
   */
  readonly store: (
    items: readonly ImportItem[],
    opener: OpenerHandle,
    options?: CallOptions & { readonly name?: string },
  ) => Promise<ImportResult>;
}

import { z } from "zod";

import { KeyringChange } from "./keyring.ts";
import { maxBatchSecrets, maxLabelLength, maxListPage, maxSmallSecretBytes, maxTicketBytes } from "./limits.ts";
import { bytesB64u, compactJwe, Counter, Digest, Id, Timestamp } from "./wire.ts";

/** One row of the list; all but the counters and times is sealed in `label`. */
export const StoredSecret = z.strictObject({
  secret_db_id: Id,
  version: Counter,
  favorite: z.boolean(),
  label: compactJwe(maxLabelLength),
  /** Bytes of the sealed content. */
  size: z.int().min(0),
  created_at: Timestamp,
  updated_at: Timestamp,
  deleted_at: Timestamp.optional(),
  /** Content and tickets were dropped after 30 days in the trash; the row alone is left. */
  dropped_at: Timestamp.optional(),
});
export type StoredSecret = z.infer<typeof StoredSecret>;

/** `GET /secrets/store`. Pages go by `secret_db_id`, trash included; `since` gives changes only. */
export const ListQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(maxListPage).default(maxListPage),
  cursor: Id.optional(),
  since: z.coerce.number().int().min(0).optional(),
});

export const SecretPage = z.strictObject({
  secrets: z.array(StoredSecret),
  /** All rows of the account, whatever the page. */
  total: z.int().min(0),
  next_cursor: Id.nullable(),
  /** 0 before the first keyring change. */
  state_rev: z.int().min(0),
  /** The account's counter of row changes: the next `since`. */
  changes: z.int().min(0),
  /**
   * With `since`: rows that went for good since then. Absent when they are more than
   * `maxPurgedIds`: then the list is read anew, without `since`.
   */
  purged: z.array(Id).optional(),
});
export type SecretPage = z.infer<typeof SecretPage>;

const sealed = { label: compactJwe(maxLabelLength), ticket: bytesB64u(maxTicketBytes), keyring: KeyringChange };

/**
 * Body of `POST /secrets/store`, one of three: content (a new secret or, with `base_version`, a new
 * version); label or ticket alone; `restore: true` out of the trash.
 */
export const StoreSecret = z.union([
  z.strictObject({
    secret_db_id: Id,
    base_version: Counter.optional(),
    ...sealed,
    content: bytesB64u(maxSmallSecretBytes),
  }),
  z.strictObject({
    secret_db_id: Id,
    base_version: Counter,
    label: sealed.label,
    ticket: sealed.ticket.optional(),
    keyring: KeyringChange,
  }),
  z.strictObject({ secret_db_id: Id, restore: z.literal(true) }),
]);
export type StoreSecret = z.infer<typeof StoreSecret>;

export const SecretStored = z.strictObject({ secret_db_id: Id, version: Counter, state_rev: z.int().min(0) });
export type SecretStored = z.infer<typeof SecretStored>;

const NewSecret = z.strictObject({
  secret_db_id: Id,
  label: sealed.label,
  ticket: sealed.ticket,
  content: bytesB64u(maxSmallSecretBytes),
});
export type NewSecret = z.infer<typeof NewSecret>;

/**
 * Body of `POST /secrets/store/batch`: new secrets, all of them or none, with one keyring change.
 * No id stands there twice.
 */
export const StoreSecrets = z.strictObject({
  secrets: z
    .array(NewSecret)
    .min(1)
    .max(maxBatchSecrets)
    .refine((secrets) => new Set(secrets.map(({ secret_db_id: id }) => id)).size === secrets.length),
  keyring: KeyringChange,
});
export type StoreSecrets = z.infer<typeof StoreSecrets>;

export const SecretsStored = z.strictObject({ state_rev: z.int().min(0) });
export type SecretsStored = z.infer<typeof SecretsStored>;

/** `POST` streams the sealed content (`Range`, `If-Range`). */
export const downloadPath = "/v2/secrets/get-secret";

/** Body of `POST /secrets/store/get-secret`, and of `POST` to {@link downloadPath}. */
export const GetSecret = z.strictObject({ secret_db_id: Id, version: Counter.optional() });

/**
 * One line for every version that there ever was. It stays when content and ticket are gone
 * (`dropped`).
 */
export const VersionLine = z.strictObject({
  version: Counter,
  ticket_sha256: Digest,
  size: z.int().min(0),
  created_at: Timestamp,
  dropped: z.boolean(),
});
export type VersionLine = z.infer<typeof VersionLine>;

/**
 * Answer of `GET /secrets/store/{secret_db_id}/versions`: newest first, the present one included.
 */
export const SecretVersions = z.strictObject({ secret_db_id: Id, versions: z.array(VersionLine) });

export const SecretContent = z.strictObject({
  version: Counter,
  ticket: bytesB64u(maxTicketBytes),
  /** Null when it is large: then the content is streamed. */
  content: bytesB64u(maxSmallSecretBytes).nullable(),
  label: compactJwe(maxLabelLength),
  /** As {@link SecretVersions}. */
  versions: z.array(VersionLine),
});
export type SecretContent = z.infer<typeof SecretContent>;

export const SetFavorite = z.strictObject({ secret_db_id: Id, favorite: z.boolean() });

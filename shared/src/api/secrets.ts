import { z } from "zod";

import { KeyringChange } from "./keyring.ts";
import { maxBatchSecrets, maxLabelLength, maxListPageSize, maxSmallSealedBytes, maxTicketBytes } from "./limits.ts";
import { base64urlBytes, compactJwe, PositiveInt, Digest, Id, Timestamp } from "./wire.ts";

/** One row of the list; all but the counters and times is sealed in `label`. */
export const StoredSecret = z.strictObject({
  secret_db_id: Id,
  version: PositiveInt,
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
export const SecretListQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(maxListPageSize).default(maxListPageSize),
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

const sealedFields = {
  label: compactJwe(maxLabelLength),
  ticket: base64urlBytes(maxTicketBytes),
  keyring: KeyringChange,
};

/**
 * Body of `POST /secrets/store`, one of three: content (a new secret or, with `base_version`, a new
 * version); label or ticket alone; `restore: true` out of the trash.
 */
export const StoreSecretBody = z.union([
  z.strictObject({
    secret_db_id: Id,
    base_version: PositiveInt.optional(),
    ...sealedFields,
    content: base64urlBytes(maxSmallSealedBytes),
  }),
  z.strictObject({
    secret_db_id: Id,
    base_version: PositiveInt,
    label: sealedFields.label,
    ticket: sealedFields.ticket.optional(),
    keyring: KeyringChange,
  }),
  z.strictObject({ secret_db_id: Id, restore: z.literal(true) }),
]);
export type StoreSecretBody = z.infer<typeof StoreSecretBody>;

export const StoreSecretResponse = z.strictObject({
  secret_db_id: Id,
  version: PositiveInt,
  state_rev: z.int().min(0),
});
export type StoreSecretResponse = z.infer<typeof StoreSecretResponse>;

const NewSecret = z.strictObject({
  secret_db_id: Id,
  label: sealedFields.label,
  ticket: sealedFields.ticket,
  content: base64urlBytes(maxSmallSealedBytes),
});
export type NewSecret = z.infer<typeof NewSecret>;

/**
 * Body of `POST /secrets/store/batch`: new secrets, all of them or none, with one keyring change.
 * No id stands there twice.
 */
export const StoreSecretsBody = z.strictObject({
  secrets: z
    .array(NewSecret)
    .min(1)
    .max(maxBatchSecrets)
    .refine((secrets) => new Set(secrets.map(({ secret_db_id: id }) => id)).size === secrets.length),
  keyring: KeyringChange,
});
export type StoreSecretsBody = z.infer<typeof StoreSecretsBody>;

export const StoreSecretsResponse = z.strictObject({ state_rev: z.int().min(0) });
export type StoreSecretsResponse = z.infer<typeof StoreSecretsResponse>;

/** `POST` streams the sealed content (`Range`, `If-Range`). */
export const downloadPath = "/v2/secrets/get-secret";

/** Body of `POST /secrets/store/get-secret`, and of `POST` to {@link downloadPath}. */
export const GetSecretBody = z.strictObject({ secret_db_id: Id, version: PositiveInt.optional() });

/**
 * One line for every version that there ever was. It stays when content and ticket are gone
 * (`dropped`).
 */
export const VersionRecord = z.strictObject({
  version: PositiveInt,
  ticket_sha256: Digest,
  size: z.int().min(0),
  created_at: Timestamp,
  dropped: z.boolean(),
});
export type VersionRecord = z.infer<typeof VersionRecord>;

/**
 * Answer of `GET /secrets/store/{secret_db_id}/versions`: newest first, the present one included.
 */
export const SecretVersions = z.strictObject({ secret_db_id: Id, versions: z.array(VersionRecord) });

export const SecretContent = z.strictObject({
  version: PositiveInt,
  ticket: base64urlBytes(maxTicketBytes),
  /** Null when it is large: then the content is streamed. */
  content: base64urlBytes(maxSmallSealedBytes).nullable(),
  label: compactJwe(maxLabelLength),
  /** As {@link SecretVersions}. */
  versions: z.array(VersionRecord),
});
export type SecretContent = z.infer<typeof SecretContent>;

export const SetFavoriteBody = z.strictObject({ secret_db_id: Id, favorite: z.boolean() });

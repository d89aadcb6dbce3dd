import { z } from "zod";

import { TicketSignature } from "./authority.ts";
import { KeyringChange } from "./keyring.ts";
import {
  defaultListPageSize,
  maxBatchSecrets,
  maxLabelLength,
  maxListPageSize,
  maxPurgedIds,
  maxSmallSealedBytes,
  maxTicketBytes,
} from "./limits.ts";
import { pageQuery } from "./pages.ts";
import { base64urlBytes, compactJwe, Counter, Digest, Id, Timestamp } from "./wire.ts";

/** A row of the list. Everything but counters and times is sealed in `label`. */
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
  /** When a change with `trash_confirm` began its 30 days. */
  trash_confirmed_at: Timestamp.optional(),
  /** When content and tickets were deleted, after 30 days in the trash. Only the row is left. */
  dropped_at: Timestamp.optional(),
});
export type StoredSecret = z.infer<typeof StoredSecret>;

/**
 * Query of `GET /secrets/store`. Pages are in order of `secret_db_id` and include the trash;
 * `since` returns only changes.
 */
export const SecretListQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(maxListPageSize).default(maxListPageSize),
  cursor: Id.optional(),
  since: z.coerce.number().int().min(0).optional(),
});

export const SecretPage = z.strictObject({
  secrets: z.array(StoredSecret),
  /** Number of all rows of the account. */
  total: z.int().min(0),
  next_cursor: Id.nullable(),
  /** 0 before the first keyring change. */
  state_rev: z.int().min(0),
  /** Counter of row changes in the account: the next `since`. */
  changes: z.int().min(0),
  /**
   * With `since`: ids of rows purged since then. Absent if they are more than `maxPurgedIds`; the
   * client then refetches the list without `since`.
   */
  purged: z.array(Id).max(maxPurgedIds).optional(),
});
export type SecretPage = z.infer<typeof SecretPage>;

const sealedFields = {
  label: compactJwe(maxLabelLength),
  ticket: base64urlBytes(maxTicketBytes),
  ticket_sig: TicketSignature,
  keyring: KeyringChange,
};

/**
 * Body of `POST /secrets/store`, in one of four forms.
 * 1. Content: creates a secret or, with `base_version`, a new version.
 * 2. Label and ticket without content.
 * 3. Label alone.
 * 4. `restore: true`: restores the secret from the trash.
 */
export const StoreSecretBody = z.union([
  z.strictObject({
    secret_db_id: Id,
    base_version: Counter.optional(),
    ...sealedFields,
    content: base64urlBytes(maxSmallSealedBytes),
  }),
  z.strictObject({
    secret_db_id: Id,
    base_version: Counter,
    label: sealedFields.label,
    keyring: KeyringChange,
  }),
  z.strictObject({ secret_db_id: Id, base_version: Counter, ...sealedFields }),
  z.strictObject({ secret_db_id: Id, restore: z.literal(true) }),
]);
export type StoreSecretBody = z.infer<typeof StoreSecretBody>;

export const StoreSecretResponse = z.strictObject({
  secret_db_id: Id,
  version: Counter,
  state_rev: z.int().min(0),
});
export type StoreSecretResponse = z.infer<typeof StoreSecretResponse>;

const NewSecret = z.strictObject({
  secret_db_id: Id,
  label: sealedFields.label,
  ticket: sealedFields.ticket,
  ticket_sig: sealedFields.ticket_sig,
  content: base64urlBytes(maxSmallSealedBytes),
});
export type NewSecret = z.infer<typeof NewSecret>;

/**
 * Body of `POST /secrets/store/batch`: new secrets with distinct ids, stored all or none with one
 * keyring change.
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

/** Path of the `POST` that streams sealed content (`Range`, `If-Range`). */
export const downloadPath = "/v2/secrets/get-secret";

/** Body of `POST /secrets/store/get-secret`, and of `POST` to {@link downloadPath}. */
export const GetSecretBody = z.strictObject({ secret_db_id: Id, version: Counter.optional() });

/** Facts of a version. They stay when its content and ticket are deleted (`dropped`). */
export const VersionRecord = z.strictObject({
  version: Counter,
  ticket_sha256: Digest,
  size: z.int().min(0),
  created_at: Timestamp,
  dropped: z.boolean(),
});
export type VersionRecord = z.infer<typeof VersionRecord>;

/** The last version of a page; opaque to clients. */
const VersionCursor = z.string().regex(/^[1-9]\d{0,14}$/);

/** Query of `GET /secrets/store/{secret_db_id}/versions`. */
export const VersionQuery = pageQuery(VersionCursor);
export type VersionQuery = z.output<typeof VersionQuery>;

/**
 * Response of `GET /secrets/store/{secret_db_id}/versions`: newest first, including the current
 * one. A `state_rev` that differs between two pages: read the list again.
 */
export const SecretVersions = z.strictObject({
  secret_db_id: Id,
  versions: z.array(VersionRecord),
  next_cursor: VersionCursor.nullable(),
  state_rev: z.int().min(0),
});
export type SecretVersions = z.infer<typeof SecretVersions>;

export const SecretContent = z.strictObject({
  version: Counter,
  ticket: base64urlBytes(maxTicketBytes),
  /** Null for large content, which has to be streamed. */
  content: base64urlBytes(maxSmallSealedBytes).nullable(),
  label: compactJwe(maxLabelLength),
  /** The first page of {@link SecretVersions}, which `next_cursor` continues. */
  versions: z.array(VersionRecord).max(defaultListPageSize),
  next_cursor: VersionCursor.nullable(),
});
export type SecretContent = z.infer<typeof SecretContent>;

export const SetFavoriteBody = z.strictObject({ secret_db_id: Id, favorite: z.boolean() });

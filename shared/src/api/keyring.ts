import { z } from "zod";

import {
  helperBytes,
  maxBookLength,
  maxLabelLength,
  maxOpeners,
  maxSlotBytes,
  maxStagedContentBytes,
  maxStagedRows,
  maxStagePageSecrets,
  maxStateLength,
  maxStatesPageSize,
  maxTicketBytes,
} from "./limits.ts";
import { pageQuery } from "./pages.ts";
import { base64urlBytes, compactJwe, Counter, Digest, Id, PositiveInt, Signature, Timestamp } from "./wire.ts";

/** Format version of all sealed or signed documents. */
const FormatVersion = z.literal(1);

export const OpenerKind = z.enum(["image", "recovery_code", "passkey"]);
export type OpenerKind = z.infer<typeof OpenerKind>;

/** `slot`: the account key in an age file that only this opener opens. */
export const Slot = z.strictObject({ opener_id: Id, kind: OpenerKind, slot: base64urlBytes(maxSlotBytes) });
export type Slot = z.infer<typeof Slot>;

/** A picture's helper: 454 bytes (docs/formats.md). */
export const ImageRecord = z.strictObject({
  id: Id,
  helper: base64urlBytes(helperBytes, { exact: true }),
  created_at: Timestamp,
});
export type ImageRecord = z.infer<typeof ImageRecord>;

/** Hybrid age recipient: `age1pq1` and 1216 bytes in bech32. */
export const Recipient = z
  .string()
  .max(2_000)
  .regex(/^age1pq1[02-9ac-hj-np-z]{1900,}$/, "not a hybrid recipient");

/** Public keys of an account, signed by its own author key (prefix `key`). */
export const KeyStatement = z.strictObject({
  v: FormatVersion,
  user_id: Id,
  recipient: Recipient,
  signing_key: base64urlBytes(32, { exact: true }),
  author_key: base64urlBytes(32, { exact: true }),
  key_epoch: PositiveInt,
  /** Signature by the previous author key; null for the first. */
  previous_sig: Signature.nullable(),
  sig: Signature,
});
export type KeyStatement = z.infer<typeof KeyStatement>;

/**
 * The only document that changes a keyring. Signed with the registered signing key (prefix `put`),
 * and first with the author key (`author_sig`) where {@link needsAuthorSignature} says so.
 */
export const KeyringChange = z.strictObject({
  v: FormatVersion,
  user_id: Id,
  key_epoch: PositiveInt,
  /** Number of the new state: 1 for the first, then the stored number plus 1. */
  state_rev: PositiveInt,
  state: compactJwe(maxStateLength),
  book: compactJwe(maxBookLength).optional(),
  shares: compactJwe(maxBookLength).optional(),
  requests: compactJwe(maxBookLength).optional(),
  slots: z.strictObject({ set: z.array(Slot).max(maxOpeners), remove: z.array(Id).max(maxOpeners) }).optional(),
  key_statement: KeyStatement.optional(),
  image_records: z
    .strictObject({ set: z.array(ImageRecord).max(maxOpeners), remove: z.array(Id).max(maxOpeners) })
    .optional(),
  /** Secrets in the trash to delete for good. */
  purge: z.array(Id).max(10_000).optional(),
  /**
   * Former versions whose content and ticket are deleted for good. The number and the digest of
   * each version stay.
   */
  purge_versions: z
    .array(z.strictObject({ secret_db_id: Id, versions: z.array(Counter).min(1).max(1_000) }))
    .max(100)
    .optional(),
  /**
   * Stage whose rows the change puts into force. Either both members are set or neither. {@link
   * StageManifest} defines the digest.
   */
  stage_id: Id.optional(),
  stage_sha256: Digest.optional(),
  /** Secrets in the trash whose 30 days begin: without it their contents are never dropped. */
  trash_confirm: z.array(Id).max(10_000).optional(),
  /** By the author key (prefix `author-put`), over the change without both signatures. */
  author_sig: Signature.optional(),
  sig: Signature,
});
export type KeyringChange = z.infer<typeof KeyringChange>;

/**
 * Response of `GET /user/keyring`. Before the first secret the status is 404 with `no_keyring`, or
 * 204 with `?or_none=true`, because browsers log every 404 to the console.
 */
export const Keyring = z.strictObject({
  key_epoch: PositiveInt,
  state_rev: PositiveInt,
  state: compactJwe(maxStateLength),
  book: compactJwe(maxBookLength),
  shares: compactJwe(maxBookLength),
  /** Null before the first request. */
  requests: compactJwe(maxBookLength).nullable(),
  slots: z.array(Slot).max(maxOpeners),
  key_statement: KeyStatement,
  /**
   * With `?states_since=N`: the states N+1 to `state_rev`, oldest first, at most {@link
   * maxStatesPageSize}. A device follows them by their member `previous`.
   */
  states: z
    .array(z.strictObject({ state_rev: PositiveInt, state: compactJwe(maxStateLength) }))
    .max(maxStatesPageSize)
    .optional(),
});
export type Keyring = z.infer<typeof Keyring>;

export const KeyringChangeResponse = z.strictObject({ state_rev: PositiveInt });

export const ImageRecords = z.strictObject({ image_records: z.array(ImageRecord).max(maxOpeners) });

/**
 * A re-sealed row. The current version has a `label`, a former version only a `ticket`. A `content`
 * requires the ticket that names its content identity.
 */
export const StagedRow = z
  .strictObject({
    secret_db_id: Id,
    version: Counter,
    label: compactJwe(maxLabelLength).optional(),
    ticket: base64urlBytes(maxTicketBytes).optional(),
    content: base64urlBytes(maxStagedContentBytes).optional(),
  })
  .refine(
    ({ label, ticket, content }) => ticket !== undefined || (label !== undefined && content === undefined),
    "needs a label or a ticket, and content needs its ticket",
  );
export type StagedRow = z.infer<typeof StagedRow>;

/**
 * Body of `POST /user/keyring/stage`, with each row once; a later call may send it again. An
 * account has one stage; a call with another `stage_id` replaces it.
 */
export const StageRowsBody = z.strictObject({
  stage_id: Id,
  rows: z
    .array(StagedRow)
    .max(maxStagedRows)
    .refine(
      (rows) => new Set(rows.map(({ secret_db_id: id, version }) => `${id} ${String(version)}`)).size === rows.length,
      "has a row twice",
    ),
});
export type StageRowsBody = z.infer<typeof StageRowsBody>;

/** `rows`: number of rows in the stage so far. */
export const StageRowsResponse = z.strictObject({ stage_id: Id, rows: z.int().min(0) });

/** Query of `GET /user/keyring/stage/{stage_id}`; `limit` counts secrets. */
export const StageQuery = pageQuery(Id, maxStagePageSecrets);
export type StageQuery = z.output<typeof StageQuery>;

/**
 * Response of `GET /user/keyring/stage/{stage_id}`, sorted by id and version. `row_sha256` is the
 * SHA-256 of the JCS of the row as it was sent.
 *
 * The change's `stage_sha256` is the SHA-256 of one ASCII line per row, in this order:
 * `secret_db_id SP version SP row_sha256-in-hex LF`.
 */
export const StageManifest = z.strictObject({
  stage_id: Id,
  rows: z.array(z.strictObject({ secret_db_id: Id, version: Counter, row_sha256: Digest })),
  /** Last `secret_db_id` of the page; null on the last page. */
  next_cursor: Id.nullable(),
});
export type StageManifest = z.infer<typeof StageManifest>;

import { z } from "zod";

import {
  helperBytes,
  maxBookLength,
  maxLabelLength,
  maxOpeners,
  maxSlotBytes,
  maxStagedContentBytes,
  maxStagedRows,
  maxStateLength,
  maxTicketBytes,
} from "./limits.ts";
import { base64urlBytes, compactJwe, PositiveInt, Digest, Id, Signature, Timestamp } from "./wire.ts";

/** Format version of every sealed or signed document. */
const FormatVersion = z.literal(1);

export const OpenerKind = z.enum(["image", "recovery_code", "passkey"]);
export type OpenerKind = z.infer<typeof OpenerKind>;

/** `slot` is an age file sealed to that one opener. */
export const Slot = z.strictObject({ opener_id: Id, kind: OpenerKind, slot: base64urlBytes(maxSlotBytes) });
export type Slot = z.infer<typeof Slot>;

/** The 454 bytes of image-key.md, with the client's id and time. */
export const ImageRecord = z.strictObject({
  id: Id,
  helper: base64urlBytes(helperBytes, { exact: true }),
  created_at: Timestamp,
});
export type ImageRecord = z.infer<typeof ImageRecord>;

/** Native age hybrid recipient: `age1pq1` and 1216 bytes in bech32. */
export const Recipient = z
  .string()
  .max(2_000)
  .regex(/^age1pq1[02-9ac-hj-np-z]{1900,}$/, "not a hybrid recipient");

/** Published by an account; signed by its own signing key (prefix `key`). */
export const KeyStatement = z.strictObject({
  v: FormatVersion,
  user_id: Id,
  recipient: Recipient,
  signing_key: base64urlBytes(32, { exact: true }),
  key_epoch: PositiveInt,
  /** By the key before; null at first. */
  previous_sig: Signature.nullable(),
  sig: Signature,
});
export type KeyStatement = z.infer<typeof KeyStatement>;

/** The one way in which a keyring changes; signed by the registered signing key (prefix `put`). */
export const KeyringChange = z.strictObject({
  v: FormatVersion,
  user_id: Id,
  key_epoch: PositiveInt,
  /** The new one: the stored one plus 1, or 1 at first. */
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
  /** Secrets in the trash that go for good. */
  purge: z.array(Id).max(10_000).optional(),
  /** Former versions whose content and ticket go for good; number and digest of each stay. */
  purge_versions: z
    .array(z.strictObject({ secret_db_id: Id, versions: z.array(PositiveInt).min(1).max(1_000) }))
    .max(100)
    .optional(),
  /**
   * Switches to the rows of a stage. Both or neither; the digest is that of {@link StageManifest}.
   */
  stage_id: Id.optional(),
  stage_sha256: Digest.optional(),
  sig: Signature,
});
export type KeyringChange = z.infer<typeof KeyringChange>;

/**
 * Answer of `GET /user/keyring`; 404 `no_keyring` before the first secret, or 204 with
 * `?or_none=true`: browsers write every 404 into the console.
 */
export const Keyring = z.strictObject({
  key_epoch: PositiveInt,
  state_rev: PositiveInt,
  state: compactJwe(maxStateLength),
  book: compactJwe(maxBookLength),
  shares: compactJwe(maxBookLength),
  /** Null until the first request was made. */
  requests: compactJwe(maxBookLength).nullable(),
  slots: z.array(Slot),
  key_statement: KeyStatement,
  /**
   * With `?states_since=N`: the states N+1 … `state_rev`, oldest first, so that a device can follow
   * `previous`; {@link maxStatesPageSize} at most.
   */
  states: z.array(z.strictObject({ state_rev: PositiveInt, state: compactJwe(maxStateLength) })).optional(),
});
export type Keyring = z.infer<typeof Keyring>;

export const KeyringChangeResponse = z.strictObject({ state_rev: PositiveInt });

export const ImageRecords = z.strictObject({ image_records: z.array(ImageRecord) });

/**
 * A row sealed anew. The present version has a `label`; a former one a `ticket` alone. `content`
 * comes with the ticket that names its content identity.
 */
export const StagedRow = z
  .strictObject({
    secret_db_id: Id,
    version: PositiveInt,
    label: compactJwe(maxLabelLength).optional(),
    ticket: base64urlBytes(maxTicketBytes).optional(),
    content: base64urlBytes(maxStagedContentBytes).optional(),
  })
  .refine(
    ({ label, ticket, content }) => ticket !== undefined || (label !== undefined && content === undefined),
    "neither label nor ticket, or a content without its ticket",
  );
export type StagedRow = z.infer<typeof StagedRow>;

/**
 * Body of `POST /user/keyring/stage`. Rows may come again; an account has one stage, and another id
 * begins a new one.
 */
export const StageRowsBody = z.strictObject({ stage_id: Id, rows: z.array(StagedRow).max(maxStagedRows) });
export type StageRowsBody = z.infer<typeof StageRowsBody>;

/** `rows` of the stage so far. */
export const StageRowsResponse = z.strictObject({ stage_id: Id, rows: z.int().min(0) });

/**
 * Answer of `GET /user/keyring/stage/{stage_id}`, sorted by id and version. `row_sha256` is of the
 * JCS of the row as sent; `stage_sha256` of a change is SHA-256 of the ASCII lines `secret_db_id SP
 * version SP row_sha256-in-hex LF` of all rows in this order.
 */
export const StageManifest = z.strictObject({
  stage_id: Id,
  rows: z.array(z.strictObject({ secret_db_id: Id, version: PositiveInt, row_sha256: Digest })),
  /** The last `secret_db_id` of the page; null on the last one. */
  next_cursor: Id.nullable(),
});
export type StageManifest = z.infer<typeof StageManifest>;

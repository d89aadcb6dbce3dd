import {
  base64urlBytes,
  encodeCanonical,
  compactJwe,
  PositiveInt,
  Digest,
  fromBase64url,
  Id,
  maxBookLength,
  OpenerKind,
  Recipient,
  Timestamp,
  toBase64url,
} from "@relicario/shared/api";
import { z } from "zod";

import type { Sketch } from "@relicario/engine";
import { isRecipient } from "./age.ts";
import { sha256 } from "./bytes.ts";
import { parseSketch, serializeSketch } from "./helper.ts";
import { defineDocumentWithInner } from "./document-with-inner.ts";

const HybridRecipient = Recipient.refine((text) => isRecipient(text), "not a hybrid recipient");

const BookOpener = z.strictObject({
  id: Id,
  kind: OpenerKind,
  name: z.string(),
  recipient: HybridRecipient,
  created_at: Timestamp,
});
export type BookOpener = z.infer<typeof BookOpener>;

/** An image ever enrolled, whether it still opens something or not. */
const BookImage = z.strictObject({
  /** Id of its image record, and of its opener while it is one. */
  id: Id,
  status: z.enum(["opener", "removed", "share"]),
  helper_sha256: Digest,
  added_at: Timestamp,
});
type BookImage = z.infer<typeof BookImage>;

/** The keys of a person, pinned at first use. */
const PinnedPerson = z.strictObject({
  user_id: Id,
  name: z.string(),
  recipient: HybridRecipient,
  signing_key: base64urlBytes(32, { exact: true }),
  key_epoch: PositiveInt,
  /** Whether the words were. */
  compared: z.boolean(),
  blocked: z.boolean(),
  pinned_at: Timestamp,
});
export type PinnedPerson = z.infer<typeof PinnedPerson>;

/** Public half of a signing key before a rotation; `key_epoch` is its last one. */
const OldSigningKey = z.strictObject({ key_epoch: PositiveInt, signing_key: base64urlBytes(32, { exact: true }) });

/** What the metadata keys show of the openers. */
export const Book = z.strictObject({
  v: z.literal(1),
  openers: z.array(BookOpener),
  images: z.array(BookImage),
  /** For the marks of imported items; null before the first import. */
  import_key: base64urlBytes(32, { exact: true }).nullable(),
  people: z.array(PinnedPerson),
  old_signing_keys: z.array(OldSigningKey),
  /** {@link BookInner}, sealed. */
  inner: compactJwe(maxBookLength),
});
export type Book = z.infer<typeof Book>;

/** What the account key alone shows. */
export const BookInner = z.strictObject({
  v: z.literal(1),
  /** Must equal those outside: whoever has only metadata keys adds no opener. */
  openers: z.array(BookOpener.pick({ id: true, recipient: true })),
  /**
   * Choice and syndrome of every image ever enrolled, 342 bytes: no picture is ever sketched twice.
   * `image_id` is its id in the book.
   */
  sketches: z.array(z.strictObject({ image_id: Id, sketch: base64urlBytes(342, { exact: true }) })),
  /** Seeds of account identities before a rotation, with their last `key_epoch`. */
  old_identity_seeds: z.array(z.strictObject({ key_epoch: PositiveInt, seed: base64urlBytes(32, { exact: true }) })),
});
export type BookInner = z.infer<typeof BookInner>;

/** What the book of a new account begins with. */
export function createEmptyBook(): Omit<Book, "inner"> {
  return { v: 1, openers: [], images: [], import_key: null, people: [], old_signing_keys: [] };
}

export function createEmptyBookInner(): BookInner {
  return { v: 1, openers: [], sketches: [], old_identity_seeds: [] };
}

export const {
  seal: sealBook,
  open: openBook,
  sealInner: sealBookInner,
  openInner: openBookInner,
} = defineDocumentWithInner("book", Book, BookInner);

/**
 * Digest of a list of openers: whether another list stands in the book than the one that was
 * checked last.
 */
export function computeOpenersDigest(openers: readonly Pick<BookOpener, "id" | "recipient">[]): string {
  return toBase64url(sha256(encodeCanonical(openers.map(({ id, recipient }) => ({ id, recipient })))));
}

/**
 * The sketches of every image, with the ids that the book has of them. @throws PortalError
 * `decryption_failed`.
 */
export function parseInnerSketches(inner: BookInner): { readonly imageId: string; readonly sketch: Sketch }[] {
  return inner.sketches.map(({ image_id: imageId, sketch }) => ({
    imageId,
    sketch: parseSketch(fromBase64url(sketch)),
  }));
}

export function sketchToB64u(sketch: Sketch): string {
  return toBase64url(serializeSketch(sketch));
}

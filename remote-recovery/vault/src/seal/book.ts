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
  stringifyCanonical,
  Timestamp,
  toBase64url,
  type KeyStatement,
} from "@relicario/shared/api";
import { z } from "zod";

import type { Sketch } from "@relicario/engine";
import type { AccountKey } from "./account-key.ts";
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

/** An image that was ever enrolled, whether still in use or not. */
const BookImage = z.strictObject({
  /** Id of the image record, and of the image's opener if it has one. */
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
  author_key: base64urlBytes(32, { exact: true }),
  key_epoch: PositiveInt,
  /** Whether the user compared the safety words with this person. */
  compared: z.boolean(),
  blocked: z.boolean(),
  pinned_at: Timestamp,
});
export type PinnedPerson = z.infer<typeof PinnedPerson>;

/** A pin that only the account key can write. Names the outer keys by the statement's digest. */
const Pin = PinnedPerson.pick({ user_id: true, name: true, compared: true, blocked: true, pinned_at: true }).extend({
  statement_sha256: Digest,
});
type Pin = z.infer<typeof Pin>;

/** The book as opened with the metadata keys. */
export const Book = z.strictObject({
  v: z.literal(1),
  openers: z.array(BookOpener),
  images: z.array(BookImage),
  /** Key that computes the marks of imported items; null before the first import. */
  import_key: base64urlBytes(32, { exact: true }).nullable(),
  people: z.array(PinnedPerson),
  /** Sealed {@link BookInner}. */
  inner: compactJwe(maxBookLength),
});
export type Book = z.infer<typeof Book>;

/** The part of the book that only the account key opens. */
export const BookInner = z.strictObject({
  v: z.literal(1),
  /** Grows by one with every new `inner`. Devices refuse a lower one. */
  inner_rev: PositiveInt,
  /** Must equal the outer list, so that metadata keys alone cannot add an opener. */
  openers: z.array(BookOpener.pick({ id: true, recipient: true })),
  /** Must equal the outer list, so that metadata keys alone cannot pin, compare or block people. */
  people: z.array(Pin),
  /**
   * Choice and syndrome (342 bytes) of every image ever enrolled, so that no image gets two
   * sketches. `image_id` is the image's id in the book.
   */
  sketches: z.array(z.strictObject({ image_id: Id, sketch: base64urlBytes(342, { exact: true }) })),
  /** Seeds of account identities before a rotation, each with its last `key_epoch`. */
  old_identity_seeds: z.array(z.strictObject({ key_epoch: PositiveInt, seed: base64urlBytes(32, { exact: true }) })),
  /** Public halves of author keys before a rotation, with their last `key_epoch`. */
  old_author_keys: z.array(z.strictObject({ key_epoch: PositiveInt, author_key: base64urlBytes(32, { exact: true }) })),
});
export type BookInner = z.infer<typeof BookInner>;

export function createEmptyBook(): Omit<Book, "inner"> {
  return { v: 1, openers: [], images: [], import_key: null, people: [] };
}

/** Before the first book: `inner_rev` begins at 1 when it is sealed. */
export function createEmptyBookInner(): BookInner {
  return { v: 1, inner_rev: 0, openers: [], people: [], sketches: [], old_identity_seeds: [], old_author_keys: [] };
}

export const {
  seal: sealBook,
  open: openBook,
  sealInner: sealBookInner,
  openInner: openBookInner,
} = defineDocumentWithInner("book", Book, BookInner);

/** Seals the next `inner` of a book, which repeats its openers and pins. */
export async function completeBook(
  accountKey: AccountKey,
  userId: string,
  book: Omit<Book, "inner">,
  inner: BookInner,
): Promise<Book> {
  const sealedInner = await sealBookInner(accountKey, userId, {
    ...inner,
    inner_rev: inner.inner_rev + 1,
    openers: toInnerOpeners(book.openers),
    people: book.people.map(toPin),
  });
  return { ...book, inner: sealedInner };
}

/** Whether openers and people outside are those that only the account key could have written. */
export function matchesInner(book: Pick<Book, "openers" | "people">, inner: BookInner): boolean {
  return (
    stringifyCanonical(toInnerOpeners(book.openers)) === stringifyCanonical(inner.openers) &&
    stringifyCanonical(book.people.map(toPin)) === stringifyCanonical(inner.people)
  );
}

function toInnerOpeners(openers: readonly BookOpener[]): BookInner["openers"] {
  return openers.map(({ id, recipient }) => ({ id, recipient }));
}

function toPin(person: PinnedPerson): Pin {
  const { user_id, name, compared, blocked, pinned_at } = person;
  return { user_id, name, statement_sha256: computeStatementDigest(person), compared, blocked, pinned_at };
}

/** SHA-256 (base64url) of the JCS of a key statement without both signatures. */
export function computeStatementDigest({
  user_id,
  recipient,
  signing_key,
  author_key,
  key_epoch,
}: Omit<KeyStatement, "v" | "previous_sig" | "sig">): string {
  return toBase64url(sha256(encodeCanonical({ v: 1, user_id, recipient, signing_key, author_key, key_epoch })));
}

/**
 * Returns the sketches of all images, with their ids in the book.
 *
 * @throws PortalError `decryption_failed`
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

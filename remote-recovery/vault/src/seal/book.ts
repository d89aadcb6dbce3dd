import { bytesB64u, Counter, Digest, fromB64u, Id, OpenerKind, Recipient, Timestamp, toB64u } from "@relicario/shared/api";
import { z } from "zod";

import type { Sketch } from "@relicario/engine";
import type { AccountKeys } from "./account-key.ts";
import { isRecipient } from "./age.ts";
import { sketchBytes } from "./helper.ts";
import { jweTypes, openJwe, sealJwe, type JweHeader } from "./document.ts";

const HybridRecipient = Recipient.refine((text) => isRecipient(text), "not a hybrid recipient");

const BookOpener = z.strictObject({ id: Id, kind: OpenerKind, name: z.string(), recipient: HybridRecipient, created_at: Timestamp });
export type BookOpener = z.infer<typeof BookOpener>;

/** An image ever enrolled, whether it still opens something or not: no picture is ever sketched twice. */
const BookImage = z.strictObject({
  /** Id of its image record, and of its opener while it is one. */
  id: Id,
  status: z.enum(["opener", "removed", "share"]),
  helper_sha256: Digest,
  /** Choice and syndrome, 342 bytes. */
  sketch: bytesB64u(342, { exact: true }),
  added_at: Timestamp,
});
export type BookImage = z.infer<typeof BookImage>;

/** The keys of a person, pinned at first use. */
const PinnedPerson = z.strictObject({
  user_id: Id,
  name: z.string(),
  recipient: HybridRecipient,
  signing_key: bytesB64u(32, { exact: true }),
  key_epoch: Counter,
  compared: z.boolean(),
  pinned_at: Timestamp,
});

/** An account identity and signing key before a rotation; `key_epoch` is their last one. */
const OldKeys = z.strictObject({ key_epoch: Counter, identity_seed: bytesB64u(32, { exact: true }), signing_seed: bytesB64u(32, { exact: true }) });

export const Book = z.strictObject({
  v: z.literal(1),
  openers: z.array(BookOpener),
  images: z.array(BookImage),
  people: z.array(PinnedPerson),
  old_keys: z.array(OldKeys),
});
export type Book = z.infer<typeof Book>;

export function emptyBook(): Book {
  return { v: 1, openers: [], images: [], people: [], old_keys: [] };
}

function header(userId: string, keys: AccountKeys): JweHeader {
  return { typ: jweTypes.book, user_id: userId, key_epoch: keys.keyEpoch };
}

export function sealBook(keys: AccountKeys, userId: string, book: Book): Promise<string> {
  return sealJwe(keys.book, header(userId, keys), book);
}

/** @throws PortalError `decryption_failed`. */
export function openBook(keys: AccountKeys, userId: string, jwe: string): Promise<Book> {
  return openJwe(keys.book, header(userId, keys), jwe, Book);
}

/** The sketches of every image in the book, in its order. */
export function bookSketches(book: Book): Sketch[] {
  return book.images.map((image) => {
    const bytes = fromB64u(image.sketch);
    return { choice: bytes.slice(0, 256), syndrome: bytes.slice(256) };
  });
}

export function sketchB64u(sketch: Sketch): string {
  return toB64u(sketchBytes(sketch));
}

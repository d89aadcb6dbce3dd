import { readFileSync } from "node:fs";
import { join } from "node:path";

import {
  stringifyCanonical,
  fromBase64url,
  needsAuthorSignature,
  toBase64url,
  type KeyringChange,
  type KeyStatement,
  type TicketSignature,
} from "@relicario/shared/api";
import { hasValidAuthorSignature, hasValidSignature, buildSignedMessage } from "@relicario/shared/api/signatures";
import { CompactEncrypt } from "jose";

import { AccountKey, deriveMetadataKeys, type MetadataKeys } from "./account-key.ts";
import { encodeIdentity, isRecipient, deriveRecipient } from "./age.ts";
import { computeStatementDigest, matchesInner, openBook, openBookInner, type Book, type BookInner } from "./book.ts";
import { utf8 } from "./bytes.ts";
import { openContent, padText, unpadText } from "./content.ts";
import {
  createHelperFromRandomness,
  unwrapImageRootKey,
  parseHelper,
  serializeSketch,
  extractSketch,
} from "./helper.ts";
import {
  hasValidPreviousSignature,
  createKeyStatement,
  signKeyringChange,
  signSealedTicket,
} from "./account-signatures.ts";
import { hkdf } from "./kdf.ts";
import { computeFormerVersionsDigest, openLabel, parseUnverifiedRev, type Label } from "./label.ts";
import { deriveOpenerFromImageRootKey, openSlot, computeSlotMac } from "./opener.ts";
import { serializeDocument } from "./document.ts";
import { openRequests, openRequestsInner, type Requests, type RequestsInner } from "./requests.ts";
import { openShares, openSharesInner, type Shares, type SharesInner } from "./shares.ts";
import {
  computeLabelDigest,
  openState,
  parseUnverifiedPrevious,
  computeRoot,
  computeStateDigest,
  type State,
} from "./state.ts";
import { isSignedBy, openTicket, type OwnerTicket } from "./ticket.ts";

jest.unmock("./kdf.ts"); // real costs

/**
 * Made by remote-recovery/vault/vectors/make_vectors.py with Python's cryptography, argon2-cffi and
 * Go's age.
 */
interface Vectors {
  hkdf: { secret: string; label: string; out: string }[];
  identities: { seed: string; identity: string; recipient: string }[];
  account: {
    user_id: string;
    account_key: string;
    derived: Record<string, string>;
    identity: string;
    recipient: string;
    signing_key: string;
    author_key: string;
  };
  image: { id: string; root: string; seed: string; slot_auth: string; identity: string; recipient: string };
  other_opener: { identity: string; recipient: string };
  slot: { document: Record<string, string | number>; sealed: string };
  helper: {
    image_secret: string;
    sketch: string;
    salt: string;
    nonce: string;
    image_root: string;
    unused_bits: string;
    helpers: { passphrase: string | null; sketch_salt: string; bytes: string }[];
  };
  padding: { document: Record<string, string>; padded_length: number; text: { size: number; padded_length: number }[] };
  label: { document: Label; jwe: string; secret_id: string; version: number; rev: number };
  book: { document: Book; inner: BookInner; jwe: string };
  shares: { document: Shares; inner: SharesInner; jwe: string };
  requests: { document: Requests; inner: RequestsInner; jwe: string };
  former: { versions: { version: number; ticket_sha256: string }[]; former_sha256: string };
  root: { rows: { secret_id: string; version: number; rev: number; label: string }[]; root: string };
  state: { first: { document: State; jwe: string }; second: { document: State; jwe: string; previous: string } };
  content: { identity: string; sealed: string; sha256: string; text_utf8: string; size: number };
  ticket: { document: OwnerTicket; sealed: string };
  key_statement: { document: KeyStatement; signed_bytes: string; rotated: KeyStatement };
  keyring_change: {
    document: KeyringChange;
    signed_bytes: string;
    authored: KeyringChange;
    author_signed_bytes: string;
  };
  ticket_signature: { document: TicketSignature; signed_bytes: string };
}
const vectors = JSON.parse(
  readFileSync(join(process.cwd(), "remote-recovery/vault/vectors/sealing.json"), "utf8"),
) as Vectors;

describe("vectors made by other tools", () => {
  let keys: MetadataKeys;
  const accountKey = new AccountKey(fromBase64url(vectors.account.account_key), 1);
  const { user_id: userId } = vectors.account;
  beforeAll(async () => {
    keys = await deriveMetadataKeys(accountKey);
  });

  it.each(vectors.hkdf)("HKDF of $label", ({ secret, label, out }) => {
    expect(toBase64url(hkdf(fromBase64url(secret), label))).toBe(out);
  });

  it.each(vectors.identities)("identity and recipient of seed $seed", async ({ seed, identity, recipient }) => {
    expect(encodeIdentity(fromBase64url(seed))).toBe(identity);
    expect(await deriveRecipient(identity)).toBe(recipient);
    expect(isRecipient(recipient)).toBe(true);
  });

  it("derives everything from the account key", () => {
    expect(keys.recipient).toBe(vectors.account.recipient);
    expect(toBase64url(keys.signingKey)).toBe(vectors.account.signing_key);
    expect(toBase64url(keys.authorKey)).toBe(vectors.account.author_key);
    for (const [name, bytes] of Object.entries(vectors.account.derived))
      expect(toBase64url(accountKey.derive(`relicario/v1/${name}`))).toBe(bytes);
    for (const key of [keys.label, keys.book, keys.shares, keys.requests, keys.state, keys.signer.key])
      expect(key?.extractable).toBe(false);
    expect(JSON.stringify([accountKey, structuredClone(accountKey)])).toBe('[{"keyEpoch":1},{"keyEpoch":1}]');
  });

  it("derives an image's opener from its root", async () => {
    const opener = await deriveOpenerFromImageRootKey(vectors.image.id, fromBase64url(vectors.image.root));
    expect(opener).toMatchObject({ identity: vectors.image.identity, recipient: vectors.image.recipient });
    expect(toBase64url(opener.slotAuth)).toBe(vectors.image.slot_auth);
  });

  it("opens a slot that Go's age sealed, and makes its mac", async () => {
    const opener = await deriveOpenerFromImageRootKey(vectors.image.id, fromBase64url(vectors.image.root));
    const { mac, ...body } = vectors.slot.document;
    expect(toBase64url(computeSlotMac(opener.slotAuth, body))).toBe(mac);
    const key = await openSlot(opener, { userId, keyEpoch: 1 }, fromBase64url(vectors.slot.sealed));
    expect(key.withBytes(toBase64url)).toBe(vectors.account.account_key);
  });

  it.each(vectors.helper.helpers)(
    "assembles and opens the helper with passphrase $passphrase",
    async ({ passphrase, sketch_salt, bytes }) => {
      const { image_secret, sketch, salt, nonce, image_root, unused_bits } = vectors.helper;
      const decodedSketch = fromBase64url(sketch);
      const assembled = await createHelperFromRandomness(
        fromBase64url(image_secret),
        { choice: decodedSketch.slice(0, 256), syndrome: decodedSketch.slice(256) },
        passphrase,
        {
          salt: fromBase64url(salt),
          sketchSalt: fromBase64url(sketch_salt),
          nonce: fromBase64url(nonce),
          imageRootKey: fromBase64url(image_root),
          unusedBits: fromBase64url(unused_bits),
        },
      );
      expect(toBase64url(assembled)).toBe(bytes);
      const helper = parseHelper(assembled);
      const parsedSketch = await extractSketch(helper, passphrase);
      expect(toBase64url(serializeSketch(parsedSketch))).toBe(sketch);
      expect(toBase64url(await unwrapImageRootKey(helper, parsedSketch, fromBase64url(image_secret), passphrase))).toBe(
        image_root,
      );
    },
  );

  it("takes composed and decomposed passphrases as the same one", async () => {
    const helper = parseHelper(fromBase64url(vectors.helper.helpers[1]?.bytes ?? ""));
    const decomposed = (vectors.helper.helpers[1]?.passphrase ?? "").normalize("NFD");
    expect(decomposed).not.toBe(vectors.helper.helpers[1]?.passphrase);
    expect(toBase64url(serializeSketch(await extractSketch(helper, decomposed)))).toBe(vectors.helper.sketch);
    expect(toBase64url(serializeSketch(await extractSketch(helper, decomposed.trim())))).not.toBe(
      vectors.helper.sketch,
    );
  });

  it("pads", () => {
    expect(serializeDocument(vectors.padding.document)).toHaveLength(vectors.padding.padded_length);
    for (const { size, padded_length } of vectors.padding.text) {
      const padded = padText(new Uint8Array(size).fill(65));
      expect(padded).toHaveLength(padded_length);
      expect(unpadText(padded, size)).toHaveLength(size);
    }
  });

  it("opens label, book, shares and requests, and their inner documents", async () => {
    const { secret_id: secretId, version, rev } = vectors.label;
    expect(await openLabel(keys, userId, { secretId, version, rev }, vectors.label.jwe)).toEqual(
      vectors.label.document,
    );
    expect(parseUnverifiedRev(vectors.label.jwe)).toBe(rev);
    expect(await openBook(keys, userId, vectors.book.jwe)).toEqual(vectors.book.document);
    expect(await openBookInner(accountKey, userId, vectors.book.document)).toEqual(vectors.book.inner);
    expect(await openShares(keys, userId, vectors.shares.jwe)).toEqual(vectors.shares.document);
    expect(await openSharesInner(accountKey, userId, vectors.shares.document)).toEqual(vectors.shares.inner);
    expect(await openRequests(keys, userId, vectors.requests.jwe)).toEqual(vectors.requests.document);
    expect(await openRequestsInner(accountKey, userId, vectors.requests.document)).toEqual(vectors.requests.inner);
  });

  it("computes the digest of former versions, in any order", () => {
    const lines = vectors.former.versions.map(({ version, ticket_sha256: ticketSha256 }) => ({
      version,
      ticketSha256,
    }));
    expect(computeFormerVersionsDigest(lines)).toBe(vectors.former.former_sha256);
    expect(computeFormerVersionsDigest(lines.toReversed())).toBe(vectors.former.former_sha256);
    expect(computeFormerVersionsDigest([])).toBeNull();
  });

  it("opens the chain of states", async () => {
    const { first, second } = vectors.state;
    expect(await openState(keys, userId, 1, first.jwe)).toEqual({ ...first.document, previous: null });
    expect(await openState(keys, userId, 2, second.jwe)).toEqual({ ...second.document, previous: second.previous });
    expect(parseUnverifiedPrevious(second.jwe)).toBe(computeStateDigest(first.jwe));
  });

  it("computes the root, in any order of rows", () => {
    const rows = vectors.root.rows.map((row) => ({
      secretId: row.secret_id,
      version: row.version,
      rev: row.rev,
      labelHex: computeLabelDigest(row.label),
    }));
    expect(computeRoot(rows)).toBe(vectors.root.root);
    expect(computeRoot(rows.toReversed())).toBe(vectors.root.root);
  });

  it("opens a ticket and a content that Go's age sealed", async () => {
    const opener = await deriveOpenerFromImageRootKey(vectors.image.id, fromBase64url(vectors.image.root));
    const ticket = await openTicket(opener, fromBase64url(vectors.ticket.sealed));
    expect(ticket).toEqual(vectors.ticket.document);
    expect(isSignedBy(ticket, [keys.authorKey])).toBe(true);
    expect(isSignedBy(ticket, [keys.signingKey])).toBe(false);
    const { sealed, sha256, identity, size, text_utf8: text } = vectors.content;
    expect(await openContent("text", fromBase64url(sealed), { sha256, identity, size })).toEqual(utf8(text));
  });

  it("signs key statement and keyring change", async () => {
    expect(await createKeyStatement(accountKey, userId)).toEqual(vectors.key_statement.document);
    expect(toBase64url(buildSignedMessage("key", vectors.key_statement.document))).toBe(
      vectors.key_statement.signed_bytes,
    );
    const { sig, ...change } = vectors.keyring_change.document;
    expect(await signKeyringChange(keys, null, change)).toEqual({ ...change, sig });
    expect(toBase64url(buildSignedMessage("put", vectors.keyring_change.document))).toBe(
      vectors.keyring_change.signed_bytes,
    );
    expect(hasValidSignature("put", vectors.keyring_change.document, keys.signingKey)).toBe(true);
    expect(hasValidSignature("key", vectors.keyring_change.document, keys.signingKey)).toBe(false);
  });

  it("signs a change that needs the author key, and a sealed ticket", async () => {
    const { authored, author_signed_bytes: authorSignedBytes } = vectors.keyring_change;
    const { sig, author_sig: authorSig, ...change } = authored;
    expect(await signKeyringChange(keys, accountKey, change)).toEqual(authored);
    expect(toBase64url(buildSignedMessage("author-put", change))).toBe(authorSignedBytes);
    await expect(signKeyringChange(keys, null, change)).rejects.toMatchObject({ code: "show_opener_first" });
    expect(needsAuthorSignature(change)).toBe(true);
    expect(hasValidAuthorSignature(authored, vectors.account.author_key)).toBe(true);
    expect(hasValidAuthorSignature(authored, vectors.account.signing_key)).toBe(false);
    expect(hasValidAuthorSignature({ ...authored, author_sig: sig }, vectors.account.author_key)).toBe(false);
    expect(hasValidAuthorSignature({ ...change, sig }, vectors.account.author_key)).toBe(false);
    expect(authorSig).toBeDefined();

    const { document, signed_bytes: signedBytes } = vectors.ticket_signature;
    const facts = { userId, secretId: document.secret_id, version: 1, rev: 1, shareId: null };
    expect(
      await signSealedTicket(accountKey, fromBase64url(vectors.ticket.sealed), {
        ...facts,
        contentSha256: vectors.content.sha256,
      }),
    ).toEqual(document);
    expect(toBase64url(buildSignedMessage("author-ticket", document))).toBe(signedBytes);
  });

  it("pins a person by the digest of the statement without its signatures", () => {
    const { document, inner } = vectors.book;
    expect(document.people.map((person) => computeStatementDigest(person))).toEqual(
      inner.people.map(({ statement_sha256: digest }) => digest),
    );
    expect(matchesInner(document, inner)).toBe(true);
    const [person] = document.people;
    if (person === undefined) throw new TypeError("no person");
    for (const change of [{ compared: false }, { blocked: true }, { name: "Ben" }, { key_epoch: 4 }])
      expect(matchesInner({ ...document, people: [{ ...person, ...change }] }, inner)).toBe(false);
    expect(matchesInner({ ...document, people: [] }, inner)).toBe(false);
    expect(matchesInner({ ...document, openers: [] }, inner)).toBe(false);
  });

  it("verifies a key statement by the key before", () => {
    const { rotated } = vectors.key_statement;
    const previousKeys = [{ keyEpoch: 1, authorKey: keys.authorKey }];
    expect(hasValidPreviousSignature(rotated, previousKeys)).toBe(true);
    expect(hasValidPreviousSignature(vectors.key_statement.document, previousKeys)).toBe(true);
    expect(hasValidPreviousSignature(rotated, [])).toBe(false);
    expect(hasValidPreviousSignature(rotated, [{ keyEpoch: 1, authorKey: fromBase64url(rotated.author_key) }])).toBe(
      false,
    );
    expect(hasValidPreviousSignature(rotated, [{ keyEpoch: 2, authorKey: keys.authorKey }])).toBe(false);
    expect(hasValidPreviousSignature({ ...rotated, recipient: vectors.account.recipient }, previousKeys)).toBe(false);
  });

  it("refuses the same document with its members in another order", async () => {
    const { jwe, secret_id: secretId, version, rev } = vectors.label;
    const header = JSON.parse(new TextDecoder().decode(fromBase64url(jwe.split(".")[0] ?? ""))) as {
      alg: string;
      enc: string;
    };
    const padded = (text: string): Uint8Array => utf8(text + " ".repeat(512 - (utf8(text).length % 512)));
    const canonical = stringifyCanonical(vectors.label.document);
    const shuffled = JSON.stringify(Object.fromEntries(Object.entries(vectors.label.document).toReversed()));
    const seal = (text: string): Promise<string> =>
      new CompactEncrypt(padded(text)).setProtectedHeader(header).encrypt(keys.label);
    await expect(openLabel(keys, userId, { secretId, version, rev }, await seal(canonical))).resolves.toEqual(
      vectors.label.document,
    );
    await expect(openLabel(keys, userId, { secretId, version, rev }, await seal(shuffled))).rejects.toMatchObject({
      code: "decryption_failed",
    });
  });
});

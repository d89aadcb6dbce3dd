import { readFileSync } from "node:fs";
import { join } from "node:path";

import { fromBase64url, toBase64url } from "@relicario/shared/api";

import { AccountKey } from "./account-key.ts";
import { encodeIdentity } from "./age.ts";
import { sha256, utf8 } from "./bytes.ts";
import { openContent } from "./content.ts";
import { deriveLinkAuth } from "./link-keys.ts";
import { openProvidedTicket, deriveReceiptWords, type ProvidedTicket } from "./provided-ticket.ts";
import { openRequestDocument, type RequestDocument } from "./request-document.ts";

/** Made by remote-recovery/vault/vectors/make_request_vectors.py. */
interface Vectors {
  link: { link_key: string; link_auth: string; link_auth_sha256: string };
  request: { account_key: string; request_id: string; document: RequestDocument; jwe: string };
  provided: { document: ProvidedTicket; sealed: string; content: string; text_utf8: string };
  receipt: { ticket_sha256: string; words: string[] };
  words: { ticket_sha256: string; words: string[] }[];
}
const vectors = JSON.parse(
  readFileSync(join(process.cwd(), "remote-recovery/vault/vectors/requests.json"), "utf8"),
) as Vectors;

describe("vectors, made by other tools, of secret requests", () => {
  const linkKey = fromBase64url(vectors.link.link_key);
  const { request_id: requestId } = vectors.request;

  it("derives link auth and its digest", () => {
    expect(toBase64url(deriveLinkAuth(linkKey))).toBe(vectors.link.link_auth);
    expect(toBase64url(sha256(deriveLinkAuth(linkKey)))).toBe(vectors.link.link_auth_sha256);
  });

  it("opens the document of a request", async () => {
    expect(await openRequestDocument(linkKey, requestId, vectors.request.jwe)).toEqual(vectors.request.document);
  });

  it("opens the ticket and the content of an answer, both sealed by Go's age", async () => {
    const accountIdentity = encodeIdentity(
      new AccountKey(fromBase64url(vectors.request.account_key), 1).derive("relicario/v1/identity"),
    );
    const ticket = await openProvidedTicket(
      [accountIdentity],
      linkKey,
      requestId,
      fromBase64url(vectors.provided.sealed),
    );
    expect(ticket).toEqual(vectors.provided.document);
    const { content_sha256, content_identity: identity, size } = ticket;
    expect(
      await openContent("text", fromBase64url(vectors.provided.content), { sha256: content_sha256, identity, size }),
    ).toEqual(utf8(vectors.provided.text_utf8));
  });

  it("makes the words of a receipt", () => {
    for (const { ticket_sha256: digest, words } of [vectors.receipt, ...vectors.words])
      expect(deriveReceiptWords(fromBase64url(digest))).toEqual(words);
    expect(toBase64url(sha256(fromBase64url(vectors.provided.sealed)))).toBe(vectors.receipt.ticket_sha256);
  });
});

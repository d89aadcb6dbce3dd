import { readFileSync } from "node:fs";
import { join } from "node:path";

import { fromBase64url, toBase64url } from "@relicario/shared/api";

import { deriveSafetyWords } from "../people/pinned-keys.ts";
import { deriveRecipient } from "./age.ts";
import { utf8 } from "./bytes.ts";
import { openContent } from "./content.ts";
import { deriveLinkAuth, deriveLinkIdentity, derivePassAuth, deriveStretchedLinkKey } from "./link-keys.ts";
import { openShareTicket, type ExpectedShareTicket, type ShareTicket } from "./share-ticket.ts";

jest.unmock("./kdf.ts"); // real costs

/**
 * Made by remote-recovery/vault/vectors/make_share_vectors.py with Python's cryptography,
 * argon2-cffi and Go's age.
 */
interface Vectors {
  link: {
    link_key: string;
    share_id: string;
    links: {
      password: string | null;
      image_root: string | null;
      stretched: string;
      link_auth: string;
      pass_auth: string;
      identity: string;
      recipient: string;
    }[];
  };
  share_ticket: { document: ShareTicket; sealed: string; content: string; text_utf8: string };
  people: { user_id: string; recipient: string; signing_key: string; author_key: string; words: string[] };
}
const vectors = JSON.parse(
  readFileSync(join(process.cwd(), "remote-recovery/vault/vectors/shares.json"), "utf8"),
) as Vectors;

describe("vectors of shares made by other tools", () => {
  const linkKey = fromBase64url(vectors.link.link_key);
  const { share_id: shareId, links } = vectors.link;

  it.each(links)(
    "derives proofs and identity of a link (password $password, picture $image_root)",
    async ({ password, image_root: root, ...expected }) => {
      const stretched = await deriveStretchedLinkKey(linkKey, shareId, password);
      const identity = deriveLinkIdentity(stretched, root === null ? null : fromBase64url(root));
      const derived = {
        stretched: toBase64url(stretched),
        link_auth: toBase64url(deriveLinkAuth(linkKey)),
        pass_auth: toBase64url(derivePassAuth(stretched)),
        identity,
        recipient: await deriveRecipient(identity),
      };
      expect(derived).toEqual(expected);
    },
  );

  it("opens a ticket that Go's age sealed, and its content", async () => {
    const { document, sealed, content, text_utf8: text } = vectors.share_ticket;
    const [{ identity, recipient } = { identity: "", recipient: "" }] = links;
    const expected: ExpectedShareTicket = {
      shareId,
      audience: "public",
      owner: document.owner,
      ownerKey: document.owner_key,
      recipient,
    };
    await expect(openShareTicket(identity, fromBase64url(sealed), expected)).resolves.toEqual(document);
    const { content_sha256: sha256, content_identity: contentIdentity, size } = document;
    expect(await openContent("text", fromBase64url(content), { sha256, identity: contentIdentity, size })).toEqual(
      utf8(text),
    );
  });

  it.each<[string, Partial<ExpectedShareTicket>]>([
    ["of another share", { shareId: "AAAAAAAAAAAAAAAAAAAAAA" }],
    ["for others", { audience: "signed_in" }],
    ["of another account", { owner: "019a9e2c-7c1e-7abc-8def-000000000000" }],
    ["signed by another key", { ownerKey: toBase64url(new Uint8Array(32).fill(1)) }],
    ["to another recipient", { recipient: links[1]?.recipient ?? "" }],
  ])("refuses a ticket that should be %s", async (_case, difference) => {
    const { document, sealed } = vectors.share_ticket;
    const [{ identity, recipient } = { identity: "", recipient: "" }] = links;
    const expected: ExpectedShareTicket = {
      shareId,
      audience: "public",
      owner: document.owner,
      ownerKey: document.owner_key,
      recipient,
      ...difference,
    };
    await expect(openShareTicket(identity, fromBase64url(sealed), expected)).rejects.toMatchObject({
      code: "decryption_failed",
    });
  });

  it("opens to null, without an error, for another identity", async () => {
    const { document, sealed } = vectors.share_ticket;
    const other = links[1];
    const expected: ExpectedShareTicket = {
      shareId,
      audience: "public",
      owner: document.owner,
      ownerKey: null,
      recipient: other?.recipient ?? "",
    };
    await expect(openShareTicket(other?.identity ?? "", fromBase64url(sealed), expected)).resolves.toBeNull();
  });

  it("makes the safety words of a person's keys", () => {
    const { words, ...keys } = vectors.people;
    expect(deriveSafetyWords(keys)).toEqual(words);
  });
});

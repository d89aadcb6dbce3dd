import { maxFileBytes, maxSealedBytes, toBase64url, type Json } from "@relicario/shared/api";
import { CompactEncrypt } from "jose";
import * as fc from "fast-check";

import { userId } from "../testing/world.ts";
import { AccountKey, signDocument } from "./account-key.ts";
import { createKeyStatement } from "./account-signatures.ts";
import { encodeIdentity, generateIdentity, deriveRecipient, sealTo } from "./age.ts";
import { randomBytes, utf8, type Bytes } from "./bytes.ts";
import { computeMaxSealedLength, computeMaxPlainLength, computeSealedLength } from "./content-sizes.ts";
import { serializeDocument } from "./document.ts";
import { deriveLinkAesKey, generateLinkKey } from "./link-keys.ts";
import { openProvidedTicket, computeProvidedMac, sealProvidedTicket, type ProvidedTicket } from "./provided-ticket.ts";
import { openRequestDocument, sealRequestDocument, type RequestDocument } from "./request-document.ts";

const decryptionFailed = { code: "decryption_failed" };
const requestId = toBase64url(randomBytes(16));
const otherId = toBase64url(randomBytes(16));
const linkKey = generateLinkKey();

const accountKey = AccountKey.generate(1);
const identity = encodeIdentity(accountKey.derive("relicario/v1/identity"));
let document: RequestDocument;
let ticket: Omit<ProvidedTicket, "mac">;

beforeAll(async () => {
  document = {
    v: 1,
    request_id: requestId,
    title: "The deed",
    note: "",
    asked_by: "José",
    statement: await createKeyStatement(accountKey, userId),
    expires_at: "2026-11-28T10:04:05.678Z",
    max_size: 1_000_000,
  };
  ticket = {
    v: 1,
    kind: "provided",
    request_id: requestId,
    name: "deed.pdf",
    mime: "application/pdf",
    content_kind: "file",
    size: 10,
    content_sha256: toBase64url(randomBytes(32)),
    content_identity: generateIdentity(),
    note: "as agreed",
    created_at: "2026-11-22T10:04:05.678Z",
  };
});

/** Returns copies of the document: without each member, and with an added one. */
function mutateMembers(original: Readonly<Record<string, Json>>): [string, Record<string, Json>][] {
  const mutationsWithoutMember = Object.keys(original).map((name): [string, Record<string, Json>] => {
    const { [name]: _, ...rest } = original;
    return [`${name} dropped`, rest];
  });
  return [...mutationsWithoutMember, ["a member added", { ...original, more: 1 }]];
}

describe("the document of a request", () => {
  /** Seals a document with the link key alone, which is all that a recipient of the link has. */
  const sealWithLinkKey = async (value: Json, header: Record<string, unknown> = {}): Promise<string> =>
    new CompactEncrypt(serializeDocument(value))
      .setProtectedHeader({ alg: "dir", enc: "A256GCM", typ: "relicario-request", request_id: requestId, ...header })
      .encrypt(await deriveLinkAesKey(linkKey, "relicario/v1/request"));
  const open = (jwe: string, id = requestId, key = linkKey): Promise<RequestDocument> =>
    openRequestDocument(key, id, jwe);

  it("opens only with its link key and for its own request", async () => {
    const jwe = await sealRequestDocument(linkKey, document);
    expect(await open(jwe)).toEqual(document);
    expect(await open(await sealWithLinkKey(document))).toEqual(document);
    await expect(open(jwe, otherId)).rejects.toMatchObject(decryptionFailed);
    await expect(open(jwe, requestId, generateLinkKey())).rejects.toMatchObject(decryptionFailed);
  });

  it.each([
    ["header", 0],
    ["IV", 2],
    ["ciphertext", 3],
    ["tag", 4],
  ])("is refused with its %s altered", async (_case, part) => {
    const parts = (await sealRequestDocument(linkKey, document)).split(".");
    const text = parts[part] ?? "";
    parts[part] = `${text.slice(0, 4)}${text[4] === "A" ? "B" : "A"}${text.slice(5)}`;
    await expect(open(parts.join("."))).rejects.toMatchObject(decryptionFailed);
  });

  it("is refused with another member in its header, or as another document", async () => {
    await expect(open(await sealWithLinkKey(document, { user_id: userId }))).rejects.toMatchObject(decryptionFailed);
    await expect(open(await sealWithLinkKey(document, { typ: "relicario-requests" }))).rejects.toMatchObject(
      decryptionFailed,
    );
    await expect(open(await sealWithLinkKey({ ...document, request_id: otherId }))).rejects.toMatchObject(
      decryptionFailed,
    );
    await expect(open(await sealWithLinkKey({ ...document, max_size: maxSealedBytes + 1 }))).rejects.toMatchObject(
      decryptionFailed,
    );
    await expect(open(await sealWithLinkKey({ ...document, v: 2 }))).rejects.toMatchObject(decryptionFailed);
  });

  it("is refused with members missing or added", async () => {
    for (const [description, changed] of mutateMembers(document))
      expect([description, await open(await sealWithLinkKey(changed)).catch((error: unknown) => error)]).toEqual([
        description,
        expect.objectContaining(decryptionFailed),
      ]);
  });

  it("is refused if a text exceeds the limit, counted in code points", async () => {
    for (const [name, maxLength] of Object.entries({ title: 200, note: 2_000, asked_by: 200 })) {
      expect(await open(await sealWithLinkKey({ ...document, [name]: "🔑".repeat(maxLength) }))).toMatchObject({
        title: expect.any(String) as string,
      });
      await expect(
        open(await sealWithLinkKey({ ...document, [name]: "n".repeat(maxLength + 1) })),
      ).rejects.toMatchObject(decryptionFailed);
    }
  });

  it("is refused with another key or recipient in its statement", async () => {
    const foreign = await createKeyStatement(AccountKey.generate(1), userId);
    for (const statement of [
      { ...document.statement, recipient: foreign.recipient },
      { ...document.statement, signing_key: foreign.signing_key },
      { ...document.statement, user_id: "019a9e2c-7c1e-7abc-8def-00000000dead" },
      { ...document.statement, key_epoch: 2 },
      { ...document.statement, sig: foreign.sig },
      await signDocument(
        "key",
        {
          ...document.statement,
          recipient: `${document.statement.recipient.slice(0, -1)}${document.statement.recipient.endsWith("q") ? "p" : "q"}`,
        },
        await AccountKey.generate(1).getAuthor(),
      ),
    ])
      await expect(open(await sealWithLinkKey({ ...document, statement }))).rejects.toMatchObject(decryptionFailed);
  });
});

describe("an answer's ticket", () => {
  const recipient = (): string => document.statement.recipient;
  const sealTicketBody = async (value: Json, recipients?: readonly string[]): Promise<Bytes> =>
    sealTo(recipients ?? [recipient()], serializeDocument(value));
  const open = (sealed: Bytes, id = requestId, key = linkKey): Promise<ProvidedTicket> =>
    openProvidedTicket([generateIdentity(), identity], key, id, sealed);
  const completeTicket = async (): Promise<ProvidedTicket> => ({
    ...ticket,
    mac: toBase64url(await computeProvidedMac(linkKey, ticket)),
  });

  it("opens only for the requester, as the answer to that request", async () => {
    const sealed = await sealProvidedTicket(linkKey, recipient(), ticket);
    expect(await open(sealed)).toEqual(await completeTicket());
    await expect(openProvidedTicket([generateIdentity()], linkKey, requestId, sealed)).rejects.toMatchObject(
      decryptionFailed,
    );
    await expect(open(sealed, otherId)).rejects.toMatchObject(decryptionFailed);
    await expect(open(sealed, requestId, generateLinkKey())).rejects.toMatchObject(decryptionFailed);
  });

  it("is refused with any member changed under the old MAC, as by a forger without the link", async () => {
    const { mac, ...body } = await completeTicket();
    for (const [name, value] of Object.entries({
      request_id: otherId,
      name: "x",
      mime: "x",
      content_kind: "text",
      size: 11,
      content_sha256: toBase64url(randomBytes(32)),
      content_identity: generateIdentity(),
      note: "x",
      created_at: "2026-11-22T10:04:05.679Z",
    })) {
      expect([
        name,
        await open(await sealTicketBody({ ...body, [name]: value, mac })).catch((error: unknown) => error),
      ]).toEqual([name, expect.objectContaining(decryptionFailed)]);
    }
    await expect(open(await sealTicketBody({ ...body, mac: toBase64url(randomBytes(32)) }))).rejects.toMatchObject(
      decryptionFailed,
    );
  });

  it("is refused with members missing or added, even under a matching MAC", async () => {
    for (const [description, changed] of mutateMembers(ticket)) {
      const sealed = await sealTicketBody({ ...changed, mac: toBase64url(await computeProvidedMac(linkKey, changed)) });
      expect([description, await open(sealed).catch((error: unknown) => error)]).toEqual([
        description,
        expect.objectContaining(decryptionFailed),
      ]);
    }
    await expect(open(await sealTicketBody({ ...ticket }))).rejects.toMatchObject(decryptionFailed);
  });

  it("is refused if a text exceeds the limit, even under a matching MAC", async () => {
    const sealChanged = async (change: Readonly<Record<string, string>>): Promise<Bytes> => {
      const changed = { ...ticket, ...change };
      return sealTicketBody({ ...changed, mac: toBase64url(await computeProvidedMac(linkKey, changed)) });
    };
    for (const [name, maxLength] of Object.entries({ name: 255, mime: 255, note: 2_000 })) {
      expect(await open(await sealChanged({ [name]: "🔑".repeat(maxLength) }))).toMatchObject({ kind: "provided" });
      await expect(open(await sealChanged({ [name]: "n".repeat(maxLength + 1) }))).rejects.toMatchObject(
        decryptionFailed,
      );
    }
  });

  it("is refused if it is sealed to a second recipient", async () => {
    await expect(
      open(await sealTicketBody(await completeTicket(), [recipient(), await deriveRecipient(generateIdentity())])),
    ).rejects.toMatchObject(decryptionFailed);
  });

  it("is refused if it is truncated or extended", async () => {
    const sealed = await sealProvidedTicket(linkKey, recipient(), ticket);
    await expect(open(sealed.slice(0, -1))).rejects.toMatchObject(decryptionFailed);
    await expect(open(new Uint8Array([...sealed, 0]))).rejects.toMatchObject(decryptionFailed);
    await expect(open(utf8("age"))).rejects.toMatchObject(decryptionFailed);
  });
});

describe("the size of an answer", () => {
  it("is counted in sealed bytes, so that the requested number of plain bytes always fits", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: maxFileBytes }), (plain) => {
        expect(computeMaxPlainLength(computeMaxSealedLength(plain))).toBe(plain);
        expect(computeMaxSealedLength(computeMaxPlainLength(plain + 2064))).toBeLessThanOrEqual(plain + 2064);
      }),
    );
    expect(computeMaxSealedLength(maxFileBytes)).toBeLessThanOrEqual(maxSealedBytes);
    expect(computeMaxPlainLength(1)).toBe(0);
  });

  it("leaves room for the padding of a text", async () => {
    const sealed = await sealTo([await deriveRecipient(generateIdentity())], new Uint8Array(256));
    expect(computeSealedLength(sealed.length - 256 - 16, 256)).toBe(sealed.length);
    expect(sealed.length).toBeLessThanOrEqual(computeMaxSealedLength(1));
  });
});

import "fake-indexeddb/auto";

import { fromBase64url, toBase64url } from "@relicario/shared/api";

import { protect } from "../operations/protect.ts";
import { setDeviceKind } from "../operations/set-device-kind.ts";
import { createRequest } from "../requests/create-request.ts";
import { listRequests } from "../requests/list-requests.ts";
import { openAnswer } from "../requests/open-answer.ts";
import { dropRequest, markCollected } from "../requests/end-requests.ts";
import { AccountKey } from "../seal/account-key.ts";
import { createKeyStatement } from "../seal/account-signatures.ts";
import { randomBytes } from "../seal/bytes.ts";
import { generateLinkKey } from "../seal/link-keys.ts";
import { sealProvidedTicket, type ProvidedTicket } from "../seal/provided-ticket.ts";
import { sealRequestDocument } from "../seal/request-document.ts";
import { sealContent } from "../seal/content.ts";
import { createResumableDigest } from "../transfer/resumable-digest.ts";
import { openContentHead } from "../seal/content-stream.ts";
import { contentHeadSize } from "../seal/content-sizes.ts";
import { saveContent } from "../transfer/save-content.ts";
import {
  makeFileAnswer,
  createRequestWithSender,
  makeRequest,
  makeTextAnswer,
  requireStoredRequest,
  type RequestSender,
} from "../testing/request-sender.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import { randomFile } from "../testing/uploading-tab.ts";
import { createWorld, makePicture, textSecret, userId, type World } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";

const decryptionFailed = { code: "decryption_failed" };

let world: World;
let laptop: VaultSession;
let sender: RequestSender;
let requestId: string;

beforeEach(async () => {
  world = createWorld();
  laptop = await world.open();
  await protect(laptop, textSecret("First", makePicture("market")), {});
  await setDeviceKind(laptop, "own");
  ({ sender: sender, requestId } = await createRequestWithSender(world, laptop));
});

const listAnswerCalls = (): string[] => world.service.calls.filter((call) => call.includes("/requests/answer"));

describe("a service between a request and its answer", () => {
  it("replaces the request's document with its own: nothing is sent", async () => {
    const statement = await createKeyStatement(AccountKey.generate(1), userId);
    const document = {
      v: 1,
      request_id: requestId,
      title: "The deed",
      note: "",
      asked_by: "José",
      statement,
      expires_at: "2026-11-28T10:00:00.000Z",
      max_size: 1_000_000,
    } as const;
    requireStoredRequest(world, requestId).document = await sealRequestDocument(generateLinkKey(), document);
    await expect(sender.inspect()).rejects.toMatchObject(decryptionFailed);
    await expect(sender.answer(makeTextAnswer("the words"))).rejects.toMatchObject(decryptionFailed);
    expect(listAnswerCalls()).toEqual([]);
  });

  it("changes the request's document: nothing is sent", async () => {
    const record = requireStoredRequest(world, requestId);
    const jweParts = record.document.split(".");
    for (const offset of [0, 100, 1_000]) {
      const bytes = fromBase64url(jweParts[3] ?? "");
      bytes[offset] = (bytes[offset] ?? 0) ^ 1;
      record.document = [...jweParts.slice(0, 3), toBase64url(bytes), jweParts[4]].join(".");
      await expect(sender.answer(makeTextAnswer("the words"))).rejects.toMatchObject(decryptionFailed);
    }
    expect(listAnswerCalls()).toEqual([]);
  });

  it("serves the document of another request of the account: nothing is sent", async () => {
    const other = await createRequestWithSender(world, laptop, { title: "Another" });
    requireStoredRequest(world, requestId).document = requireStoredRequest(world, other.requestId).document;
    await expect(sender.inspect()).rejects.toMatchObject(decryptionFailed);
    await expect(sender.answer(makeTextAnswer("the words"))).rejects.toMatchObject(decryptionFailed);
    expect(listAnswerCalls()).toEqual([]);
  });

  it("serves a document whose key statement combines two others: refused", async () => {
    const foreignStatement = await createKeyStatement(AccountKey.generate(1), userId);
    const ownStatement = await createKeyStatement(laptop.requireAccountKey(), userId);
    // Anyone with the link can write a document, but a statement combined from two does not verify.
    const statement = { ...ownStatement, recipient: foreignStatement.recipient };
    requireStoredRequest(world, requestId).document = await sealRequestDocument(sender.linkKey, {
      v: 1,
      request_id: requestId,
      title: "",
      note: "",
      asked_by: "José",
      statement,
      expires_at: "2026-11-28T10:00:00.000Z",
      max_size: 1_000_000,
    });
    await expect(sender.inspect()).rejects.toMatchObject(decryptionFailed);
  });

  it("answers the request itself, with the recipient but without the link: refused", async () => {
    const { recipient } = laptop.requireKeys();
    const content = await sealContent("text", new TextEncoder().encode("pay here"));
    const ticket: Omit<ProvidedTicket, "mac"> = {
      v: 1,
      kind: "provided",
      request_id: requestId,
      name: "words.txt",
      mime: "text/plain",
      content_kind: "text",
      size: content.size,
      content_sha256: content.sha256,
      content_identity: content.identity,
      note: "",
      created_at: "2026-11-22T10:00:00.000Z",
    };
    const sealed = await sealProvidedTicket(generateLinkKey(), recipient, ticket);
    Object.assign(requireStoredRequest(world, requestId), {
      state: "provided",
      provided: { ticket: toBase64url(sealed), content: content.sealed, at: "2026-11-22T10:00:00.000Z", call: "" },
    });
    await expect(openAnswer(laptop, requestId, null)).rejects.toMatchObject(decryptionFailed);
    expect(await readRecordedDigest()).toBeNull();
  });

  it("serves the answer to another request of the account: refused", async () => {
    const other = await createRequestWithSender(world, laptop, { title: "Another" });
    await other.sender.answer(makeTextAnswer("for the other one"));
    await sender.answer(makeTextAnswer("for this one"));
    requireStoredRequest(world, requestId).provided = requireStoredRequest(world, other.requestId).provided;
    await expect(openAnswer(laptop, requestId, null)).rejects.toMatchObject(decryptionFailed);
    expect(await readRecordedDigest()).toBeNull();
    expect(await readRecordedDigest(other.requestId)).toBeNull();
  });

  it("replaces an opened answer, even with one sent with the link: refused", async () => {
    await sender.answer(makeTextAnswer("the first"));
    await openAnswer(laptop, requestId, null);
    const firstAnswer = requireStoredRequest(world, requestId).provided;
    Object.assign(requireStoredRequest(world, requestId), { state: "awaiting", provided: null });
    await sender.answer(makeTextAnswer("the second"));
    await expect(openAnswer(laptop, requestId, null)).rejects.toMatchObject(decryptionFailed);
    const phone = await world.open("phone");
    // the requests document reaches other devices
    await expect(openAnswer(phone, requestId, makePicture("market"))).rejects.toMatchObject(decryptionFailed);
    requireStoredRequest(world, requestId).provided = firstAnswer;
    expect(new TextDecoder().decode((await openAnswer(laptop, requestId, null)).content ?? new Uint8Array())).toBe(
      "the first",
    );
  });

  it("serves different answers to two devices at the same time: only one is shown", async () => {
    await sender.answer(makeTextAnswer("the first"));
    const firstAnswer = requireStoredRequest(world, requestId).provided;
    Object.assign(requireStoredRequest(world, requestId), { state: "awaiting", provided: null });
    await sender.answer(makeTextAnswer("the second"));
    const phone = await world.open("phone");
    const secondAnswer = requireStoredRequest(world, requestId).provided;
    let collectCount = 0;
    world.service.transformResponse = (call, response) => {
      if (call !== "POST /requests/collect") return response;
      return { ...(response as object), ticket: (collectCount++ === 0 ? firstAnswer : secondAnswer)?.ticket };
    };
    const results = await Promise.allSettled([
      openAnswer(laptop, requestId, null),
      openAnswer(phone, requestId, makePicture("market")),
    ]);
    const codes = results.map((result) =>
      result.status === "fulfilled" ? "opened" : (result.reason as { code: string }).code,
    );
    expect(collectCount).toBe(2);
    expect(codes).toContain("decryption_failed");
    expect(await readRecordedDigest()).not.toBeNull();
  });

  it("truncates, changes or replaces the content: refused", async () => {
    await sender.answer(makeTextAnswer("the words"));
    const { provided } = requireStoredRequest(world, requestId);
    if (provided === null) throw new TypeError("expected an answer");
    const { content } = provided;
    const alteredContent = content.slice();
    alteredContent[content.length - 1] = (alteredContent[content.length - 1] ?? 0) ^ 1;
    const other = await sealContent("text", new TextEncoder().encode("the words"));
    for (const bytes of [
      content.slice(0, -1),
      content.slice(0, 300),
      alteredContent,
      other.sealed,
      new Uint8Array([...content, 0]),
    ]) {
      provided.content = bytes;
      await expect(openAnswer(laptop, requestId, null)).rejects.toMatchObject(decryptionFailed);
    }
    provided.content = content;
    expect((await openAnswer(laptop, requestId, null)).size).toBe(9);
  });

  it("truncates a large content: nothing of the content is saved", async () => {
    const { plaintext, file } = randomFile(4 * fakePartBytes);
    await sender.answer(makeFileAnswer(file));
    const { sealed } = await openAnswer(laptop, requestId, null);
    const { bytes } = await laptop.service.content.range(sealed, 0, contentHeadSize);
    const save = async (): Promise<Uint8Array> => {
      const chunks: Uint8Array[] = [];
      const sink = {
        write: async (chunk: Uint8Array) => void chunks.push(chunk.slice()),
        commit: () => Promise.resolve(new Blob(chunks.map((chunk) => new Uint8Array(chunk)))),
        discard: () => Promise.resolve(void chunks.splice(0)),
      };
      const content = { ...sealed, ...(await openContentHead(sealed.identity, bytes)) };
      const deps = {
        calls: laptop.service.content,
        digest: createResumableDigest(),
        retryPolicy: { wait: () => Promise.reject(new Error("expected no call to fail")) },
        sink,
      };
      const saved = await saveContent(deps, content, {
        signal: new AbortController().signal,
        onProgress: () => undefined,
      });
      return new Uint8Array(await saved.arrayBuffer());
    };
    expect(await save()).toEqual(plaintext);
    const { provided } = requireStoredRequest(world, requestId);
    if (provided === null) throw new TypeError("expected an answer");
    provided.content = provided.content.slice(0, -70_000);
    await expect(save()).rejects.toMatchObject(decryptionFailed);
  });

  it("claims a larger limit: the signed limit counts", async () => {
    const smallRequest = await createRequestWithSender(world, laptop, { maxSize: 1_000 });
    requireStoredRequest(world, smallRequest.requestId).maxSize = 10_000_000;
    await expect(smallRequest.sender.answer(makeFileAnswer(new Blob([randomBytes(5_000)])))).rejects.toMatchObject({
      code: "payload_too_large",
    });
  });

  it("asks for parts above the limit: refused", async () => {
    jest.replaceProperty(
      jest.requireMock<typeof import("../transfer/part-sizes.ts")>("../transfer/part-sizes.ts").partSizeLimits,
      "max",
      1_000,
    );
    await expect(sender.answer(makeTextAnswer("the words"))).rejects.toMatchObject({ code: "bad_answer" });
    jest.restoreAllMocks();
  });
});

async function readRecordedDigest(id = requestId): Promise<string | null> {
  const { refreshKeyring } = await import("../keyring/refresh-keyring.ts");
  const view = await refreshKeyring(laptop);
  return (
    view?.openedKeyring?.requests?.requests.find(({ request_id: entryId }) => entryId === id)?.answer_sha256 ?? null
  );
}

describe("a service that lies about requests", () => {
  const listDiscrepancies = async (): Promise<unknown> =>
    (await listRequests(laptop, { includeEnded: true })).map(({ state, discrepancy }) => [state, discrepancy]);

  it("hides a request", async () => {
    world.service.account.requests?.clear();
    expect(await listDiscrepancies()).toEqual([["awaiting", "hidden"]]);
  });

  it("hides an opened answer", async () => {
    await sender.answer(makeTextAnswer("the words"));
    await openAnswer(laptop, requestId, null);
    world.service.account.requests?.clear();
    const laterLaptop = Object.assign(laptop, { now: () => Date.now() + 8 * 86_400_000 });
    expect(await listRequests(laterLaptop)).toEqual([
      expect.objectContaining({ state: "provided", discrepancy: "hidden" }),
    ]);
  });

  it("claims that a request is revoked, collected or expired", async () => {
    for (const state of ["revoked", "collected", "expired"] as const) {
      requireStoredRequest(world, requestId).state = state;
      expect(await listDiscrepancies()).toEqual([[state, "not_revoked_here"]]);
    }
    await sender.answer(makeTextAnswer("the words")).catch(() => null);
    requireStoredRequest(world, requestId).state = "provided";
    await markCollected(laptop, requestId);
    requireStoredRequest(world, requestId).state = "revoked";
    expect(await listDiscrepancies()).toEqual([["collected", "not_revoked_here"]]);
  });

  it("lists an unknown request: dropping that request removes it from the service", async () => {
    const unknownId = "AAAAAAAAAAAAAAAAAAAAAA";
    world.service.account.requests?.set(unknownId, { ...requireStoredRequest(world, requestId), answers: new Map() });
    expect(await listDiscrepancies()).toEqual(
      expect.arrayContaining([
        ["awaiting", "unknown"],
        ["awaiting", null],
      ]),
    );
    await dropRequest(laptop, unknownId);
    expect(requireStoredRequest(world, unknownId).state).toBe("revoked");
    expect(await listDiscrepancies()).toEqual([["awaiting", null]]);
    await expect(dropRequest(laptop, "../user/me")).rejects.toMatchObject({ code: "not_found" });
  });

  it("lists an unknown request to an account without requests: dropping that request needs an opener", async () => {
    const otherWorld = createWorld();
    const otherVault = await otherWorld.open();
    await protect(otherVault, textSecret("First", makePicture("market")), {});
    await setDeviceKind(otherVault, "own");
    const unknownId = "AAAAAAAAAAAAAAAAAAAAAA";
    otherWorld.service.account.requests = new Map([
      [unknownId, { ...requireStoredRequest(world, requestId), answers: new Map() }],
    ]);
    await expect(dropRequest(await otherWorld.open(), unknownId)).rejects.toMatchObject({ code: "show_opener_first" });
    await dropRequest(otherVault, unknownId);
    expect(requireStoredRequest(otherWorld, unknownId).state).toBe("revoked");
    expect(await listRequests(otherVault, { includeEnded: true })).toEqual([]);
  });

  it("no longer knows a request: dropping that request is recorded in the document", async () => {
    world.service.account.requests?.clear();
    await dropRequest(laptop, requestId);
    expect(await listDiscrepancies()).toEqual([["revoked", null]]);
  });

  it("keeps serving a revoked request", async () => {
    await dropRequest(laptop, requestId);
    expect(await listDiscrepancies()).toEqual([["revoked", null]]);
    requireStoredRequest(world, requestId).state = "awaiting";
    expect(await listDiscrepancies()).toEqual([["revoked", "still_served"]]);
  });

  it("lists a request that this account never created", async () => {
    world.service.account.requests?.set("AAAAAAAAAAAAAAAAAAAAAA", { ...requireStoredRequest(world, requestId) });
    expect((await listRequests(laptop)).find(({ requestId: id }) => id === "AAAAAAAAAAAAAAAAAAAAAA")).toMatchObject({
      title: "",
      discrepancy: "unknown",
    });
  });

  it("serves an older requests document: refused, because the state commits to the current one", async () => {
    const { keyring } = world.service.account;
    const olderDocument = keyring?.requests ?? null;
    await createRequest(laptop, makeRequest(laptop, { title: "Another" }), null);
    if (world.service.account.keyring !== null) world.service.account.keyring.requests = olderDocument;
    await expect(listRequests(laptop)).rejects.toMatchObject({ code: "older_state" });
  });
});

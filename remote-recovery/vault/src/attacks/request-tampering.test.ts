import "fake-indexeddb/auto";

import { fromBase64url, toBase64url } from "@relicario/shared/api";

import { protect } from "../operations/protect.ts";
import { setDeviceKind } from "../operations/set-device-kind.ts";
import { createRequest } from "../requests/create-request.ts";
import { listRequests } from "../requests/list-requests.ts";
import { openAnswer } from "../requests/open-answer.ts";
import { dropRequest, markCollected } from "../requests/end-requests.ts";
import { AccountKey, deriveMetadataKeys } from "../seal/account-key.ts";
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
  createRequestWithProvider,
  makeRequest,
  makeTextAnswer,
  storedRequest,
  type Provider,
} from "../testing/answer-provider.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import { randomFile } from "../testing/uploading-tab.ts";
import { createWorld, makePicture, textSecret, userId, type World } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";

const decryptionFailed = { code: "decryption_failed" };

let world: World;
let laptop: VaultSession;
let provider: Provider;
let requestId: string;

beforeEach(async () => {
  world = createWorld();
  laptop = await world.open();
  await protect(laptop, textSecret("First", makePicture("market")), {});
  await setDeviceKind(laptop, "own");
  ({ provider, requestId } = await createRequestWithProvider(world, laptop));
});

const answerCalls = (): string[] => world.service.calls.filter((call) => call.includes("/requests/answer"));

describe("a service that stands between a request and its answer", () => {
  it("puts a document of its own in the place of mine: nothing is sent", async () => {
    const foreignKeys = await deriveMetadataKeys(AccountKey.generate(1));
    const statement = await createKeyStatement(foreignKeys, userId);
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
    storedRequest(world, requestId).document = await sealRequestDocument(generateLinkKey(), document);
    await expect(provider.inspect()).rejects.toMatchObject(decryptionFailed);
    await expect(provider.answer(makeTextAnswer("the words"))).rejects.toMatchObject(decryptionFailed);
    expect(answerCalls()).toEqual([]);
  });

  it("changes the key in my document: nothing is sent", async () => {
    const stored = storedRequest(world, requestId);
    const parts = stored.document.split(".");
    for (const offset of [0, 100, 1_000]) {
      const bytes = fromBase64url(parts[3] ?? "");
      bytes[offset] = (bytes[offset] ?? 0) ^ 1;
      stored.document = [...parts.slice(0, 3), toBase64url(bytes), parts[4]].join(".");
      await expect(provider.answer(makeTextAnswer("the words"))).rejects.toMatchObject(decryptionFailed);
    }
    expect(answerCalls()).toEqual([]);
  });

  it("gives the document of another request of mine: nothing is sent", async () => {
    const other = await createRequestWithProvider(world, laptop, { title: "Another" });
    storedRequest(world, requestId).document = storedRequest(world, other.requestId).document;
    await expect(provider.inspect()).rejects.toMatchObject(decryptionFailed);
    await expect(provider.answer(makeTextAnswer("the words"))).rejects.toMatchObject(decryptionFailed);
    expect(answerCalls()).toEqual([]);
  });

  it("makes a document that somebody with another link sealed to their own keys: nothing is sent", async () => {
    const foreign = await createKeyStatement(await deriveMetadataKeys(AccountKey.generate(1)), userId);
    const mine = await createKeyStatement(laptop.requireKeys(), userId);
    // Whoever has the link could write a document; one whose statement was put together from two
    // does not pass for anybody's.
    const statement = { ...mine, recipient: foreign.recipient };
    storedRequest(world, requestId).document = await sealRequestDocument(provider.linkKey, {
      v: 1,
      request_id: requestId,
      title: "",
      note: "",
      asked_by: "José",
      statement,
      expires_at: "2026-11-28T10:00:00.000Z",
      max_size: 1_000_000,
    });
    await expect(provider.inspect()).rejects.toMatchObject(decryptionFailed);
  });

  it("answers by itself: it has the recipient, but not the link", async () => {
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
    Object.assign(storedRequest(world, requestId), {
      state: "provided",
      provided: { ticket: toBase64url(sealed), content: content.sealed, at: "2026-11-22T10:00:00.000Z", call: "" },
    });
    await expect(openAnswer(laptop, requestId, null)).rejects.toMatchObject(decryptionFailed);
    expect(await readRecordedDigest()).toBeNull();
  });

  it("gives the answer of another request of mine", async () => {
    const other = await createRequestWithProvider(world, laptop, { title: "Another" });
    await other.provider.answer(makeTextAnswer("for the other one"));
    await provider.answer(makeTextAnswer("for this one"));
    storedRequest(world, requestId).provided = storedRequest(world, other.requestId).provided;
    await expect(openAnswer(laptop, requestId, null)).rejects.toMatchObject(decryptionFailed);
    expect(await readRecordedDigest()).toBeNull();
    expect(await readRecordedDigest(other.requestId)).toBeNull();
  });

  it("replaces the answer after the first opening, even by one of somebody who had the link", async () => {
    await provider.answer(makeTextAnswer("the first"));
    await openAnswer(laptop, requestId, null);
    const first = storedRequest(world, requestId).provided;
    Object.assign(storedRequest(world, requestId), { state: "awaiting", provided: null });
    await provider.answer(makeTextAnswer("the second"));
    await expect(openAnswer(laptop, requestId, null)).rejects.toMatchObject(decryptionFailed);
    const phone = await world.open("phone");
    // the document travels
    await expect(openAnswer(phone, requestId, makePicture("market"))).rejects.toMatchObject(decryptionFailed);
    storedRequest(world, requestId).provided = first;
    expect(new TextDecoder().decode((await openAnswer(laptop, requestId, null)).content ?? new Uint8Array())).toBe(
      "the first",
    );
  });

  it("replaces it on one of two devices that open it at the same time: one answer alone is shown", async () => {
    await provider.answer(makeTextAnswer("the first"));
    const first = storedRequest(world, requestId).provided;
    Object.assign(storedRequest(world, requestId), { state: "awaiting", provided: null });
    await provider.answer(makeTextAnswer("the second"));
    const phone = await world.open("phone");
    const second = storedRequest(world, requestId).provided;
    let collectCount = 0;
    world.service.transformAnswer = (call, answer) => {
      if (call !== "POST /requests/collect") return answer;
      return { ...(answer as object), ticket: (collectCount++ === 0 ? first : second)?.ticket };
    };
    const results = await Promise.allSettled([
      openAnswer(laptop, requestId, null),
      openAnswer(phone, requestId, makePicture("market")),
    ]);
    const codes = results.map((end) => (end.status === "fulfilled" ? "opened" : (end.reason as { code: string }).code));
    expect(collectCount).toBe(2);
    expect(codes).toContain("decryption_failed");
    expect(await readRecordedDigest()).not.toBeNull();
  });

  it("cuts the content short, changes it, or gives another one", async () => {
    await provider.answer(makeTextAnswer("the words"));
    const { provided } = storedRequest(world, requestId);
    if (provided === null) throw new TypeError("nothing was provided");
    const { content } = provided;
    const altered = content.slice();
    altered[content.length - 1] = (altered[content.length - 1] ?? 0) ^ 1;
    const other = await sealContent("text", new TextEncoder().encode("the words"));
    for (const bytes of [
      content.slice(0, -1),
      content.slice(0, 300),
      altered,
      other.sealed,
      new Uint8Array([...content, 0]),
    ]) {
      provided.content = bytes;
      await expect(openAnswer(laptop, requestId, null)).rejects.toMatchObject(decryptionFailed);
    }
    provided.content = content;
    expect((await openAnswer(laptop, requestId, null)).size).toBe(9);
  });

  it("cuts a large content short: nothing of it stays", async () => {
    const { plain, file } = randomFile(4 * fakePartBytes);
    await provider.answer(makeFileAnswer(file));
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
        retryPolicy: { wait: () => Promise.reject(new Error("no call was to fail")) },
        sink,
      };
      const saved = await saveContent(deps, content, {
        signal: new AbortController().signal,
        onProgress: () => undefined,
      });
      return new Uint8Array(await (saved ?? new Blob()).arrayBuffer());
    };
    expect(await save()).toEqual(plain);
    const { provided } = storedRequest(world, requestId);
    if (provided === null) throw new TypeError("nothing was provided");
    provided.content = provided.content.slice(0, -70_000);
    await expect(save()).rejects.toMatchObject(decryptionFailed);
  });

  it("says a larger limit than mine: mine counts", async () => {
    const smallRequest = await createRequestWithProvider(world, laptop, { maxSize: 1_000 });
    storedRequest(world, smallRequest.requestId).maxSize = 10_000_000;
    await expect(smallRequest.provider.answer(makeFileAnswer(new Blob([randomBytes(5_000)])))).rejects.toMatchObject({
      code: "payload_too_large",
    });
  });

  it("asks for parts that no memory holds", async () => {
    jest.replaceProperty(
      jest.requireMock<typeof import("../transfer/part-sizes.ts")>("../transfer/part-sizes.ts").partSizeLimits,
      "max",
      1_000,
    );
    await expect(provider.answer(makeTextAnswer("the words"))).rejects.toMatchObject({ code: "bad_answer" });
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

describe("a service that lies about what was asked for", () => {
  const listDoubts = async (): Promise<unknown> =>
    (await listRequests(laptop, { includeEnded: true })).map(({ state, discrepancy }) => [state, discrepancy]);

  it("hides a request", async () => {
    world.service.account.requests?.clear();
    expect(await listDoubts()).toEqual([["awaiting", "hidden"]]);
  });

  it("hides an answer that was opened", async () => {
    await provider.answer(makeTextAnswer("the words"));
    await openAnswer(laptop, requestId, null);
    world.service.account.requests?.clear();
    const laterLaptop = Object.assign(laptop, { now: () => Date.now() + 8 * 86_400_000 });
    expect(await listRequests(laterLaptop)).toEqual([
      expect.objectContaining({ state: "provided", discrepancy: "hidden" }),
    ]);
  });

  it("says that it is revoked, collected or expired, and it is not", async () => {
    for (const state of ["revoked", "collected", "expired"] as const) {
      storedRequest(world, requestId).state = state;
      expect(await listDoubts()).toEqual([[state, "not_revoked_here"]]);
    }
    await provider.answer(makeTextAnswer("the words")).catch(() => null);
    storedRequest(world, requestId).state = "provided";
    await markCollected(laptop, requestId);
    storedRequest(world, requestId).state = "revoked";
    expect(await listDoubts()).toEqual([["collected", "not_revoked_here"]]);
  });

  it("names one that nobody made: it ends there", async () => {
    const unknownId = "AAAAAAAAAAAAAAAAAAAAAA";
    world.service.account.requests?.set(unknownId, { ...storedRequest(world, requestId), answers: new Map() });
    expect(await listDoubts()).toEqual(
      expect.arrayContaining([
        ["awaiting", "unknown"],
        ["awaiting", null],
      ]),
    );
    await dropRequest(laptop, unknownId);
    expect(storedRequest(world, unknownId).state).toBe("revoked");
    expect(await listDoubts()).toEqual([["awaiting", null]]);
    await expect(dropRequest(laptop, "../user/me")).rejects.toMatchObject({ code: "not_found" });
  });

  it("names one to an account that never asked: ending it takes an opener", async () => {
    const other = createWorld();
    const desk = await other.open();
    await protect(desk, textSecret("First", makePicture("market")), {});
    await setDeviceKind(desk, "own");
    const unknownId = "AAAAAAAAAAAAAAAAAAAAAA";
    other.service.account.requests = new Map([[unknownId, { ...storedRequest(world, requestId), answers: new Map() }]]);
    await expect(dropRequest(await other.open(), unknownId)).rejects.toMatchObject({ code: "show_opener_first" });
    await dropRequest(desk, unknownId);
    expect(storedRequest(other, unknownId).state).toBe("revoked");
    expect(await listRequests(desk, { includeEnded: true })).toEqual([]);
  });

  it("does not know one any more: it ends in the document", async () => {
    world.service.account.requests?.clear();
    await dropRequest(laptop, requestId);
    expect(await listDoubts()).toEqual([["revoked", null]]);
  });

  it("goes on serving what was revoked", async () => {
    await dropRequest(laptop, requestId);
    expect(await listDoubts()).toEqual([["revoked", null]]);
    storedRequest(world, requestId).state = "awaiting";
    expect(await listDoubts()).toEqual([["revoked", "still_served"]]);
  });

  it("names one that this account never made", async () => {
    world.service.account.requests?.set("AAAAAAAAAAAAAAAAAAAAAA", { ...storedRequest(world, requestId) });
    expect((await listRequests(laptop)).find(({ requestId: id }) => id === "AAAAAAAAAAAAAAAAAAAAAA")).toMatchObject({
      title: "",
      discrepancy: "unknown",
    });
  });

  it("gives an older requests document: the state says which one it has to be", async () => {
    const { keyring } = world.service.account;
    const before = keyring?.requests ?? null;
    await createRequest(laptop, makeRequest(laptop, { title: "Another" }), null);
    if (world.service.account.keyring !== null) world.service.account.keyring.requests = before;
    await expect(listRequests(laptop)).rejects.toMatchObject({ code: "older_state" });
  });
});

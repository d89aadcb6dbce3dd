import "fake-indexeddb/auto";

import { fromB64u, toB64u } from "@relicario/shared/api";

import { protect } from "../acts/protect.ts";
import { answerDevice } from "../acts/unlock.ts";
import { askForSecret } from "../requests/ask.ts";
import { listAsked } from "../requests/asked.ts";
import { openAnswer } from "../requests/open-answer.ts";
import { dropRequest, markCollected } from "../requests/settle.ts";
import { AccountKey, deriveTitlesKeys } from "../seal/account-key.ts";
import { makeKeyStatement } from "../seal/account-signatures.ts";
import { randomBytes } from "../seal/bytes.ts";
import { newLinkKey } from "../seal/link.ts";
import { sealProvided, type ProvidedTicket } from "../seal/provided.ts";
import { sealRequestDocument } from "../seal/request-document.ts";
import { sealContent } from "../seal/content.ts";
import { createRunningDigest } from "../transfer/running-digest.ts";
import { openContentHead } from "../seal/content-stream.ts";
import { contentHeadBytes } from "../seal/content-pieces.ts";
import { saveContent } from "../transfer/save-content.ts";
import { aFile, asked, aRequest, aText, storedRequest, type Provider } from "../testing/answering.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import { randomFile } from "../testing/uploading.ts";
import { createWorld, shown, textSecret, userId, type World } from "../testing/world.ts";
import { requireKeys, type VaultContext } from "../vault-context.ts";

const failed = { code: "decryption_failed" };

let world: World;
let laptop: VaultContext;
let provider: Provider;
let requestId: string;

beforeEach(async () => {
  world = createWorld();
  laptop = await world.open();
  await protect(laptop, textSecret("First", shown("market")), {});
  await answerDevice(laptop, "own");
  ({ provider, requestId } = await asked(world, laptop));
});

const sent = (): string[] => world.service.calls.filter((call) => call.includes("/requests/answer"));

describe("a service that stands between a request and its answer", () => {
  it("puts a document of its own in the place of mine: nothing is sent", async () => {
    const own = await deriveTitlesKeys(AccountKey.make(1));
    const statement = await makeKeyStatement(own, userId);
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
    storedRequest(world, requestId).document = await sealRequestDocument(newLinkKey(), document);
    await expect(provider.look()).rejects.toMatchObject(failed);
    await expect(provider.answer(aText("the words"))).rejects.toMatchObject(failed);
    expect(sent()).toEqual([]);
  });

  it("changes the key in my document: nothing is sent", async () => {
    const stored = storedRequest(world, requestId);
    const parts = stored.document.split(".");
    for (const at of [0, 100, 1_000]) {
      const bytes = fromB64u(parts[3] ?? "");
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      stored.document = [...parts.slice(0, 3), toB64u(bytes), parts[4]].join(".");
      await expect(provider.answer(aText("the words"))).rejects.toMatchObject(failed);
    }
    expect(sent()).toEqual([]);
  });

  it("gives the document of another request of mine: nothing is sent", async () => {
    const other = await asked(world, laptop, { title: "Another" });
    storedRequest(world, requestId).document = storedRequest(world, other.requestId).document;
    await expect(provider.look()).rejects.toMatchObject(failed);
    await expect(provider.answer(aText("the words"))).rejects.toMatchObject(failed);
    expect(sent()).toEqual([]);
  });

  it("makes a document that somebody with another link sealed to their own keys: nothing is sent", async () => {
    const foreign = await makeKeyStatement(await deriveTitlesKeys(AccountKey.make(1)), userId);
    const mine = await makeKeyStatement(requireKeys(laptop), userId);
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
    await expect(provider.look()).rejects.toMatchObject(failed);
  });

  it("answers by itself: it has the recipient, but not the link", async () => {
    const { recipient } = requireKeys(laptop);
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
    const sealed = await sealProvided(newLinkKey(), recipient, ticket);
    Object.assign(storedRequest(world, requestId), {
      state: "provided",
      provided: { ticket: toB64u(sealed), content: content.sealed, at: "2026-11-22T10:00:00.000Z", call: "" },
    });
    await expect(openAnswer(laptop, requestId, null)).rejects.toMatchObject(failed);
    expect(await noted()).toBeNull();
  });

  it("gives the answer of another request of mine", async () => {
    const other = await asked(world, laptop, { title: "Another" });
    await other.provider.answer(aText("for the other one"));
    await provider.answer(aText("for this one"));
    storedRequest(world, requestId).provided = storedRequest(world, other.requestId).provided;
    await expect(openAnswer(laptop, requestId, null)).rejects.toMatchObject(failed);
    expect(await noted()).toBeNull();
    expect(await noted(other.requestId)).toBeNull();
  });

  it("replaces the answer after the first opening, even by one of somebody who had the link", async () => {
    await provider.answer(aText("the first"));
    await openAnswer(laptop, requestId, null);
    const first = storedRequest(world, requestId).provided;
    Object.assign(storedRequest(world, requestId), { state: "awaiting", provided: null });
    await provider.answer(aText("the second"));
    await expect(openAnswer(laptop, requestId, null)).rejects.toMatchObject(failed);
    const phone = await world.open("phone");
    await expect(openAnswer(phone, requestId, shown("market"))).rejects.toMatchObject(failed); // the document travels
    storedRequest(world, requestId).provided = first;
    expect(new TextDecoder().decode((await openAnswer(laptop, requestId, null)).content ?? new Uint8Array())).toBe(
      "the first",
    );
  });

  it("replaces it on one of two devices that open it at the same time: one answer alone is shown", async () => {
    await provider.answer(aText("the first"));
    const first = storedRequest(world, requestId).provided;
    Object.assign(storedRequest(world, requestId), { state: "awaiting", provided: null });
    await provider.answer(aText("the second"));
    const phone = await world.open("phone");
    const second = storedRequest(world, requestId).provided;
    let asking = 0;
    world.service.answer = (call, answer) => {
      if (call !== "POST /requests/collect") return answer;
      return { ...(answer as object), ticket: (asking++ === 0 ? first : second)?.ticket };
    };
    const ends = await Promise.allSettled([
      openAnswer(laptop, requestId, null),
      openAnswer(phone, requestId, shown("market")),
    ]);
    const codes = ends.map((end) => (end.status === "fulfilled" ? "opened" : (end.reason as { code: string }).code));
    expect(asking).toBe(2);
    expect(codes).toContain("decryption_failed");
    expect(await noted()).not.toBeNull();
  });

  it("cuts the content short, changes it, or gives another one", async () => {
    await provider.answer(aText("the words"));
    const { provided } = storedRequest(world, requestId);
    if (provided === null) throw new TypeError("nothing was provided");
    const { content } = provided;
    const flipped = content.slice();
    flipped[content.length - 1] = (flipped[content.length - 1] ?? 0) ^ 1;
    const other = await sealContent("text", new TextEncoder().encode("the words"));
    for (const bytes of [
      content.slice(0, -1),
      content.slice(0, 300),
      flipped,
      other.sealed,
      new Uint8Array([...content, 0]),
    ]) {
      provided.content = bytes;
      await expect(openAnswer(laptop, requestId, null)).rejects.toMatchObject(failed);
    }
    provided.content = content;
    expect((await openAnswer(laptop, requestId, null)).size).toBe(9);
  });

  it("cuts a large content short: nothing of it stays", async () => {
    const { plain, file } = randomFile(4 * fakePartBytes);
    await provider.answer(aFile(file));
    const { sealed } = await openAnswer(laptop, requestId, null);
    const { bytes } = await laptop.service.content.range(sealed, 0, contentHeadBytes);
    const save = async (): Promise<Uint8Array> => {
      const written: Uint8Array[] = [];
      const sink = {
        write: async (piece: Uint8Array) => void written.push(piece.slice()),
        commit: () => Promise.resolve(new Blob(written.map((piece) => new Uint8Array(piece)))),
        discard: () => Promise.resolve(void written.splice(0)),
      };
      const content = { ...sealed, ...(await openContentHead(sealed.identity, bytes)) };
      const parts = {
        calls: laptop.service.content,
        digest: createRunningDigest(),
        patience: { wait: () => Promise.reject(new Error("no call was to fail")) },
        sink,
      };
      const saved = await saveContent(parts, content, {
        signal: new AbortController().signal,
        onProgress: () => undefined,
      });
      return new Uint8Array(await (saved ?? new Blob()).arrayBuffer());
    };
    expect(await save()).toEqual(plain);
    const { provided } = storedRequest(world, requestId);
    if (provided === null) throw new TypeError("nothing was provided");
    provided.content = provided.content.slice(0, -70_000);
    await expect(save()).rejects.toMatchObject(failed);
  });

  it("says a larger limit than mine: mine counts", async () => {
    const small = await asked(world, laptop, { maxSize: 1_000 });
    storedRequest(world, small.requestId).maxSize = 10_000_000;
    await expect(small.provider.answer(aFile(new Blob([randomBytes(5_000)])))).rejects.toMatchObject({
      code: "payload_too_large",
    });
  });

  it("asks for parts that no memory holds", async () => {
    jest.replaceProperty(
      jest.requireMock<typeof import("../transfer/part-sizes.ts")>("../transfer/part-sizes.ts").partSizes,
      "most",
      1_000,
    );
    await expect(provider.answer(aText("the words"))).rejects.toMatchObject({ code: "bad_answer" });
    jest.restoreAllMocks();
  });
});

async function noted(id = requestId): Promise<string | null> {
  const { readKeyring } = await import("../steps/read-keyring.ts");
  const view = await readKeyring(laptop);
  return view?.opened?.requests?.requests.find(({ request_id: one }) => one === id)?.answer_sha256 ?? null;
}

describe("a service that lies about what was asked for", () => {
  const doubts = async (): Promise<unknown> =>
    (await listAsked(laptop, { ended: true })).map(({ state, doubt }) => [state, doubt]);

  it("hides a request", async () => {
    world.service.account.requests?.clear();
    expect(await doubts()).toEqual([["awaiting", "hidden"]]);
  });

  it("hides an answer that was opened", async () => {
    await provider.answer(aText("the words"));
    await openAnswer(laptop, requestId, null);
    world.service.account.requests?.clear();
    const later = Object.assign(laptop, { now: () => Date.now() + 8 * 86_400_000 });
    expect(await listAsked(later)).toEqual([expect.objectContaining({ state: "provided", doubt: "hidden" })]);
  });

  it("says that it is revoked, collected or expired, and it is not", async () => {
    for (const state of ["revoked", "collected", "expired"] as const) {
      storedRequest(world, requestId).state = state;
      expect(await doubts()).toEqual([[state, "not_revoked_here"]]);
    }
    await provider.answer(aText("the words")).catch(() => null);
    storedRequest(world, requestId).state = "provided";
    await markCollected(laptop, requestId);
    storedRequest(world, requestId).state = "revoked";
    expect(await doubts()).toEqual([["collected", "not_revoked_here"]]);
  });

  it("names one that nobody made: it ends there", async () => {
    const made = "AAAAAAAAAAAAAAAAAAAAAA";
    world.service.account.requests?.set(made, { ...storedRequest(world, requestId), answers: new Map() });
    expect(await doubts()).toEqual(
      expect.arrayContaining([
        ["awaiting", "unknown"],
        ["awaiting", null],
      ]),
    );
    await dropRequest(laptop, made);
    expect(storedRequest(world, made).state).toBe("revoked");
    expect(await doubts()).toEqual([["awaiting", null]]);
    await expect(dropRequest(laptop, "../user/me")).rejects.toMatchObject({ code: "not_found" });
  });

  it("names one to an account that never asked: ending it takes an opener", async () => {
    const other = createWorld();
    const desk = await other.open();
    await protect(desk, textSecret("First", shown("market")), {});
    await answerDevice(desk, "own");
    const made = "AAAAAAAAAAAAAAAAAAAAAA";
    other.service.account.requests = new Map([[made, { ...storedRequest(world, requestId), answers: new Map() }]]);
    await expect(dropRequest(await other.open(), made)).rejects.toMatchObject({ code: "show_opener_first" });
    await dropRequest(desk, made);
    expect(storedRequest(other, made).state).toBe("revoked");
    expect(await listAsked(desk, { ended: true })).toEqual([]);
  });

  it("does not know one any more: it ends in the document", async () => {
    world.service.account.requests?.clear();
    await dropRequest(laptop, requestId);
    expect(await doubts()).toEqual([["revoked", null]]);
  });

  it("goes on serving what was revoked", async () => {
    await dropRequest(laptop, requestId);
    expect(await doubts()).toEqual([["revoked", null]]);
    storedRequest(world, requestId).state = "awaiting";
    expect(await doubts()).toEqual([["revoked", "still_served"]]);
  });

  it("names one that this account never made", async () => {
    world.service.account.requests?.set("AAAAAAAAAAAAAAAAAAAAAA", { ...storedRequest(world, requestId) });
    expect((await listAsked(laptop)).find(({ requestId: id }) => id === "AAAAAAAAAAAAAAAAAAAAAA")).toMatchObject({
      title: "",
      doubt: "unknown",
    });
  });

  it("gives an older requests document: the state says which one it has to be", async () => {
    const { keyring } = world.service.account;
    const before = keyring?.requests ?? null;
    await askForSecret(laptop, aRequest(laptop, { title: "Another" }), null);
    if (world.service.account.keyring !== null) world.service.account.keyring.requests = before;
    await expect(listAsked(laptop)).rejects.toMatchObject({ code: "older_state" });
  });
});

import "fake-indexeddb/auto";

import { maxSealedBytes, uploadExpiryHours } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { protect } from "../operations/protect.ts";
import { setDeviceKind } from "../operations/set-device-kind.ts";
import {
  makeFileAnswer,
  createRequestWithProvider,
  makeTextAnswer,
  openProvider,
  storedRequest,
  type Provider,
} from "../testing/answer-provider.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import { randomFile } from "../testing/uploading-tab.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { answerRequest } from "./answer.ts";
import type { AnswerCalls } from "./answer-calls.ts";
import { openAnswer } from "./open-answer.ts";
import { dropRequest } from "./end-requests.ts";

let world: World;
let laptop: VaultSession;
let provider: Provider;
let requestId: string;
let link: string;

beforeEach(async () => {
  world = createWorld();
  laptop = await world.open();
  await protect(laptop, textSecret("First", makePicture("market")), {});
  await setDeviceKind(laptop, "own");
  ({ provider, requestId, link } = await createRequestWithProvider(world, laptop));
});

const { plain, file } = randomFile(3 * fakePartBytes + 12_345);

/**
 * The connection goes when so many parts have arrived, until this resolves; the tab is closed
 * meanwhile.
 */
async function interruptAfter(parts: number, answerer = provider, content = file): Promise<void> {
  const closing = new AbortController();
  let sent = 0;
  world.service.beforeCall = (call) => {
    if (!/^POST \/requests\/answer\/./.test(call)) return;
    if (sent++ >= parts) closing.abort();
    if (closing.signal.aborted) throw new PortalError("service_unavailable");
  };
  await expect(answerer.answer(makeFileAnswer(content), { signal: closing.signal })).rejects.toMatchObject({
    code: "cancelled",
  });
  world.service.beforeCall = () => undefined;
}

const countParts = (): number => world.service.calls.filter((call) => /^POST \/requests\/answer\/./.test(call)).length;

describe("answering with a file", () => {
  it("sends it in parts with progress, and whoever asked gets it", async () => {
    const progress: [number, number][] = [];
    const { receiptWords } = await provider.answer(makeFileAnswer(file, "here it is"), {
      onProgress: ({ done, total }) => progress.push([done, total]),
    });
    expect(countParts()).toBe(4);
    expect(progress).toHaveLength(4);
    const [, total] = progress[0] ?? [0, 0];
    expect(progress.at(-1)).toEqual([total, total]);
    const answer = await openAnswer(laptop, requestId, null);
    expect(answer).toMatchObject({
      contentKind: "file",
      name: "film.mp4",
      mime: "video/mp4",
      size: plain.length,
      note: "here it is",
      receiptWords,
      content: null,
    });
    const { bytes, size } = await laptop.service.content.range(answer.sealed, 0, 100);
    expect([bytes.length, size]).toEqual([100, storedRequest(world, requestId).provided?.content.length]);
  });

  it("takes an empty one", async () => {
    await provider.answer(makeFileAnswer(new Blob()));
    expect((await openAnswer(laptop, requestId, null)).content).toHaveLength(0);
  });

  it("goes on where it stopped, in the same browser with the link", async () => {
    await interruptAfter(2);
    const reopened = await openProvider(world, link);
    expect((await reopened.inspect()).unfinishedAnswer).toEqual({
      name: "film.mp4",
      size: plain.length,
      sent: 2 * fakePartBytes,
    });
    const before = countParts();
    await reopened.answer(makeFileAnswer(file));
    expect(countParts() - before).toBe(2);
    expect(world.service.calls.filter((call) => call === "POST /requests/answer")).toHaveLength(1);
    expect(await reopened.records.get(requestId)).toBeNull();
    expect((await openAnswer(laptop, requestId, null)).size).toBe(plain.length);
  });

  it("sends nothing of another file of the same size, and begins once more when that is wanted", async () => {
    await interruptAfter(2);
    const before = countParts();
    const otherFile = randomFile(plain.length);
    await expect(provider.answer(makeFileAnswer(otherFile.file))).rejects.toMatchObject({ code: "file_changed" });
    await expect(provider.answer(makeFileAnswer(otherFile.file.slice(1)))).rejects.toMatchObject({
      code: "file_changed",
    });
    await expect(provider.answer({ ...makeFileAnswer(file), contentKind: "text" })).rejects.toMatchObject({
      code: "file_changed",
    });
    expect(countParts()).toBe(before);
    expect((await provider.inspect()).unfinishedAnswer).not.toBeNull();
    await provider.answer(makeFileAnswer(otherFile.file), { restart: true });
    expect(countParts() - before).toBe(4);
    expect(storedRequest(world, requestId).answers.size).toBe(2);
  });

  it("begins anew when the service has dropped what was sent", async () => {
    await interruptAfter(2);
    storedRequest(world, requestId).answers.clear();
    await provider.answer(makeFileAnswer(file));
    expect((await openAnswer(laptop, requestId, null)).size).toBe(plain.length);
  });

  it("is not gone on with after a day", async () => {
    await interruptAfter(2);
    provider.clock.now += uploadExpiryHours * 3_600_000 + 60_000;
    expect((await provider.inspect()).unfinishedAnswer).toBeNull();
    const reopened = await openProvider(world, link, provider.clock);
    await reopened.answer(makeFileAnswer(file));
    expect(storedRequest(world, requestId).answers.size).toBe(2);
  });

  it("keeps nothing that opens without the link", async () => {
    await interruptAfter(2);
    const record = await provider.records.get(requestId);
    const serialized = JSON.stringify(record, (_, value: unknown) =>
      value instanceof Uint8Array ? new TextDecoder("latin1").decode(value) : value,
    );
    expect(serialized).not.toContain("AGE-SECRET-KEY");
    expect(serialized).not.toContain("film");
    expect(serialized).not.toContain("token of");
    const otherRequest = await createRequestWithProvider(world, laptop);
    if (record === null) throw new TypeError("nothing was kept");
    await otherRequest.provider.records.put({ ...record, requestId: otherRequest.requestId });
    await expect(otherRequest.provider.inspect()).rejects.toMatchObject({ code: "not_found" });
  });

  it("waits for a service that is away", async () => {
    let failuresLeft = 3;
    world.service.beforeCall = (call) => {
      if (/^(POST|PUT) \/requests\/answer\/./.test(call) && failuresLeft-- > 0)
        throw new PortalError("service_unavailable");
    };
    await provider.answer(makeFileAnswer(file));
    expect(storedRequest(world, requestId).state).toBe("provided");
  });

  it("refuses what is larger than was asked for, before anything is sent", async () => {
    const smallRequest = await createRequestWithProvider(world, laptop, { maxSize: 1_000 });
    expect((await smallRequest.provider.inspect()).maxSize).toBe(1_000);
    await smallRequest.provider.answer(makeFileAnswer(new Blob([plain.slice(0, 1_000)])));
    const otherRequest = await createRequestWithProvider(world, laptop, { maxSize: 1_000 });
    const before = world.service.calls.length;
    await expect(otherRequest.provider.answer(makeFileAnswer(new Blob([plain.slice(0, 2_000)])))).rejects.toMatchObject(
      {
        code: "payload_too_large",
        details: { limit: 1_000 },
      },
    );
    expect(world.service.calls.slice(before)).toEqual(["POST /requests/get"]);
    expect(maxSealedBytes).toBeGreaterThan(storedRequest(world, otherRequest.requestId).maxSize);
  });

  it("is refused with a name or a note that cannot be sealed", async () => {
    await expect(provider.answer({ ...makeFileAnswer(file), name: "" })).rejects.toMatchObject({
      code: "validation_error",
      details: { fields: ["name"] },
    });
    await expect(provider.answer(makeFileAnswer(file, "n".repeat(2_001)))).rejects.toMatchObject({
      code: "validation_error",
      details: { fields: ["note"] },
    });
  });
});

describe("the first finished answer wins", () => {
  /** It is finished, and the tab closed before that is heard. */
  async function finishWithLostAnswer(): Promise<void> {
    const closing = new AbortController();
    world.service.transformAnswer = (call, answer) => {
      if (!call.startsWith("PUT /requests/answer/")) return answer;
      closing.abort();
      throw new PortalError("service_unavailable");
    };
    await expect(
      provider.answer(makeTextAnswer("the words", "as agreed"), { signal: closing.signal }),
    ).rejects.toMatchObject({
      code: "cancelled",
    });
    world.service.transformAnswer = (_, answer) => answer;
  }

  it("closes the request to whoever comes later, and to whoever had begun", async () => {
    const second = await openProvider(world, link);
    await interruptAfter(1, second);
    const record = await second.records.get(requestId);
    await second.records.remove(requestId); // as in another browser
    await provider.answer(makeTextAnswer("the first"));
    const third = await openProvider(world, link);
    expect((await third.inspect()).state).toBe("provided");
    await expect(third.answer(makeTextAnswer("too late"))).rejects.toMatchObject({ code: "request_closed" });
    if (record === null) throw new TypeError("nothing was kept");
    await second.records.put(record);
    await expect(second.answer(makeFileAnswer(file))).rejects.toMatchObject({ code: "request_closed" });
    expect(await second.records.get(requestId)).toBeNull();
    expect(new TextDecoder().decode((await openAnswer(laptop, requestId, null)).content ?? new Uint8Array())).toBe(
      "the first",
    );
  });

  it("closes it when it is revoked meanwhile", async () => {
    await interruptAfter(1);
    const stored = storedRequest(world, requestId);
    world.service.beforeCall = async (call) => {
      if (!call.startsWith("GET /requests/answer/") || stored.state === "revoked") return;
      await dropRequest(laptop, requestId);
    };
    await expect(provider.answer(makeFileAnswer(file))).rejects.toMatchObject({ code: "request_closed" });
    expect(await provider.records.get(requestId)).toBeNull();
    await expect(provider.inspect()).rejects.toMatchObject({ code: "request_unavailable" });
  });

  it("gives the receipt when the answer to finishing was lost, in a tab opened later too", async () => {
    await finishWithLostAnswer();
    const reopened = await openProvider(world, link);
    await expect(reopened.answer(makeTextAnswer("other one", "as agreed"))).rejects.toMatchObject({
      code: "file_changed",
    });
    await expect(reopened.answer(makeTextAnswer("the words", "another note"))).rejects.toMatchObject({
      code: "file_changed",
    });
    const { receiptWords } = await reopened.answer(makeTextAnswer("the words", "as agreed"));
    expect((await openAnswer(laptop, requestId, null)).receiptWords).toEqual(receiptWords);
  });

  it("gives that receipt, and says so, when beginning again with another content finds it taken", async () => {
    await finishWithLostAnswer();
    const reopened = await openProvider(world, link);
    const { receiptWords, fromEarlierAnswer } = await reopened.answer(makeTextAnswer("other one"), { restart: true });
    expect(fromEarlierAnswer).toBe(true);
    expect((await openAnswer(laptop, requestId, null)).receiptWords).toEqual(receiptWords);
    expect(await reopened.records.get(requestId)).toBeNull();
  });

  it("gives it too when the first one arrives while another is sent in its place", async () => {
    await interruptAfter(0, provider, new Blob(["the words"]));
    let heldFinish: (() => Promise<void>) | null = null;
    const { calls } = provider.deps;
    const finish: AnswerCalls["finish"] = (place, body) => {
      heldFinish = () => calls.finish(place, body);
      return Promise.reject(new PortalError("not_found"));
    };
    const slowDeps = { ...provider.deps, calls: { ...calls, finish } };
    await expect(answerRequest(slowDeps, provider, makeFileAnswer(new Blob(["the words"])))).rejects.toMatchObject({
      code: "not_found",
    });
    world.service.beforeCall = async (call) => {
      if (!call.startsWith("PUT /requests/answer/") || heldFinish === null) return;
      const deliver = heldFinish;
      heldFinish = null;
      await deliver();
    };
    const { receiptWords, fromEarlierAnswer } = await provider.answer(makeTextAnswer("other one"), { restart: true });
    expect(fromEarlierAnswer).toBe(true);
    expect((await openAnswer(laptop, requestId, null)).receiptWords).toEqual(receiptWords);
  });

  it("keeps what would give the receipt while the service is away", async () => {
    await finishWithLostAnswer();
    world.service.beforeCall = (call) => {
      if (call.startsWith("PUT /requests/answer/")) throw new PortalError("offline");
    };
    await expect(provider.answer(makeTextAnswer("other one"), { restart: true })).rejects.toMatchObject({
      code: "offline",
    });
    world.service.beforeCall = () => undefined;
    expect((await provider.inspect()).receiptWords).toHaveLength(8);
  });

  it("sends the other content where the first never arrived", async () => {
    const closing = new AbortController();
    world.service.beforeCall = (call) => {
      if (!call.startsWith("PUT /requests/answer/")) return;
      closing.abort();
      throw new PortalError("service_unavailable");
    };
    await expect(provider.answer(makeTextAnswer("the wrong words"), { signal: closing.signal })).rejects.toMatchObject({
      code: "cancelled",
    });
    world.service.beforeCall = () => undefined;
    expect(await provider.answer(makeTextAnswer("the words"), { restart: true })).not.toHaveProperty(
      "fromEarlierAnswer",
    );
    expect(new TextDecoder().decode((await openAnswer(laptop, requestId, null)).content ?? new Uint8Array())).toBe(
      "the words",
    );
  });

  it("gives that receipt when the link is opened once more, to this browser alone", async () => {
    await finishWithLostAnswer();
    const record = await provider.records.get(requestId);
    const { receiptWords, unfinishedAnswer } = await provider.inspect();
    expect(unfinishedAnswer).toBeNull();
    expect((await openAnswer(laptop, requestId, null)).receiptWords).toEqual(receiptWords);
    expect(await provider.inspect()).not.toHaveProperty("receiptWords");
    const { provided } = storedRequest(world, requestId);
    if (record === null || provided === null) throw new TypeError("nothing was kept");
    provided.call = "of somebody else";
    await provider.records.put(record);
    expect(await provider.inspect()).toEqual(expect.objectContaining({ unfinishedAnswer: null }));
    expect(await provider.records.get(requestId)).toBeNull();
  });
});

it("answers in a browser that keeps nothing", async () => {
  const originalFactory = globalThis.indexedDB;
  Object.defineProperty(globalThis, "indexedDB", {
    value: {
      open: () => {
        throw new DOMException("no", "SecurityError");
      },
    },
    configurable: true,
  });
  try {
    const privateProvider = await openProvider(world, link);
    await privateProvider.answer(makeFileAnswer(file));
    expect(storedRequest(world, requestId).state).toBe("provided");
  } finally {
    Object.defineProperty(globalThis, "indexedDB", { value: originalFactory, configurable: true });
  }
});

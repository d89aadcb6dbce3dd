import "fake-indexeddb/auto";

import { maxSealedBytes, uploadExpiryHours } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { protect } from "../operations/protect.ts";
import { setDeviceKind } from "../operations/set-device-kind.ts";
import {
  makeFileAnswer,
  createRequestWithSender,
  makeTextAnswer,
  openRequestSender,
  requireStoredRequest,
  type RequestSender,
} from "../testing/request-sender.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import { randomFile } from "../testing/uploading-tab.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { answerRequest } from "./answer.ts";
import type { AnswerCalls } from "./answer-calls.ts";
import { openAnswer } from "./open-answer.ts";
import { dropRequest } from "./end-requests.ts";

let world: World;
let requesterVault: VaultSession;
let sender: RequestSender;
let requestId: string;
let link: string;

beforeEach(async () => {
  world = createWorld();
  requesterVault = await world.open();
  await protect(requesterVault, textSecret("First", makePicture("market")), {});
  await setDeviceKind(requesterVault, "own");
  ({ sender: sender, requestId, link } = await createRequestWithSender(world, requesterVault));
});

const { plaintext: plainBytes, file } = randomFile(3 * fakePartBytes + 12_345);

/** Closes the tab and fails all calls after this many parts have arrived. */
async function interruptAfter(partCount: number, answeringSender = sender, content = file): Promise<void> {
  const abortController = new AbortController();
  let sentCount = 0;
  world.service.beforeCall = (call) => {
    if (!/^POST \/requests\/answer\/./.test(call)) return;
    if (sentCount++ >= partCount) abortController.abort();
    if (abortController.signal.aborted) throw new PortalError("service_unavailable");
  };
  await expect(
    answeringSender.answer(makeFileAnswer(content), { signal: abortController.signal }),
  ).rejects.toMatchObject({
    code: "cancelled",
  });
  world.service.beforeCall = () => undefined;
}

const countParts = (): number => world.service.calls.filter((call) => /^POST \/requests\/answer\/./.test(call)).length;

describe("answering with a file", () => {
  it("sends the file in parts with progress, and the requester opens it", async () => {
    const progressEvents: [number, number][] = [];
    const { receiptWords } = await sender.answer(makeFileAnswer(file, "here it is"), {
      onProgress: ({ done, total }) => progressEvents.push([done, total]),
    });
    expect(countParts()).toBe(4);
    expect(progressEvents).toHaveLength(4);
    const [, total] = progressEvents[0] ?? [0, 0];
    expect(progressEvents.at(-1)).toEqual([total, total]);
    const answer = await openAnswer(requesterVault, requestId, null);
    expect(answer).toMatchObject({
      contentKind: "file",
      name: "film.mp4",
      mime: "video/mp4",
      size: plainBytes.length,
      note: "here it is",
      receiptWords,
      content: null,
    });
    const { bytes, size } = await requesterVault.service.content.range(answer.sealed, 0, 100);
    expect([bytes.length, size]).toEqual([100, requireStoredRequest(world, requestId).provided?.content.length]);
  });

  it("accepts an empty file", async () => {
    await sender.answer(makeFileAnswer(new Blob()));
    expect((await openAnswer(requesterVault, requestId, null)).content).toHaveLength(0);
  });

  it("resumes in the same browser with the link", async () => {
    await interruptAfter(2);
    const reopenedSender = await openRequestSender(world, link);
    expect((await reopenedSender.inspect()).unfinishedAnswer).toEqual({
      name: "film.mp4",
      size: plainBytes.length,
      sentBytes: 2 * fakePartBytes,
    });
    const partCountBefore = countParts();
    await reopenedSender.answer(makeFileAnswer(file));
    expect(countParts() - partCountBefore).toBe(2);
    expect(world.service.calls.filter((call) => call === "POST /requests/answer")).toHaveLength(1);
    expect(await reopenedSender.records.get(requestId)).toBeNull();
    expect((await openAnswer(requesterVault, requestId, null)).size).toBe(plainBytes.length);
  });

  it("sends nothing of another file, but restarts with that file on request", async () => {
    await interruptAfter(2);
    const partCountBefore = countParts();
    const otherFile = randomFile(plainBytes.length);
    await expect(sender.answer(makeFileAnswer(otherFile.file))).rejects.toMatchObject({ code: "file_changed" });
    await expect(sender.answer(makeFileAnswer(otherFile.file.slice(1)))).rejects.toMatchObject({
      code: "file_changed",
    });
    await expect(sender.answer({ ...makeFileAnswer(file), contentKind: "text" })).rejects.toMatchObject({
      code: "file_changed",
    });
    expect(countParts()).toBe(partCountBefore);
    expect((await sender.inspect()).unfinishedAnswer).not.toBeNull();
    await sender.answer(makeFileAnswer(otherFile.file), { restart: true });
    expect(countParts() - partCountBefore).toBe(4);
    expect(requireStoredRequest(world, requestId).answers.size).toBe(2);
  });

  it("restarts when the service has dropped the parts", async () => {
    await interruptAfter(2);
    requireStoredRequest(world, requestId).answers.clear();
    await sender.answer(makeFileAnswer(file));
    expect((await openAnswer(requesterVault, requestId, null)).size).toBe(plainBytes.length);
  });

  it("does not resume after a day", async () => {
    await interruptAfter(2);
    sender.clock.now += uploadExpiryHours * 3_600_000 + 60_000;
    expect((await sender.inspect()).unfinishedAnswer).toBeNull();
    const reopenedSender = await openRequestSender(world, link, sender.clock);
    await reopenedSender.answer(makeFileAnswer(file));
    expect(requireStoredRequest(world, requestId).answers.size).toBe(2);
  });

  it("saves nothing that opens without the link", async () => {
    await interruptAfter(2);
    const record = await sender.records.get(requestId);
    const serialized = JSON.stringify(record, (_, value: unknown) =>
      value instanceof Uint8Array ? new TextDecoder("latin1").decode(value) : value,
    );
    expect(serialized).not.toContain("AGE-SECRET-KEY");
    expect(serialized).not.toContain("film");
    expect(serialized).not.toContain("token of");
    const otherRequest = await createRequestWithSender(world, requesterVault);
    if (record === null) throw new TypeError("expected a stored record");
    await otherRequest.sender.records.put({ ...record, requestId: otherRequest.requestId });
    await expect(otherRequest.sender.inspect()).rejects.toMatchObject({ code: "not_found" });
  });

  it("waits for an unavailable service", async () => {
    let failuresLeft = 3;
    world.service.beforeCall = (call) => {
      if (/^(POST|PUT) \/requests\/answer\/./.test(call) && failuresLeft-- > 0)
        throw new PortalError("service_unavailable");
    };
    await sender.answer(makeFileAnswer(file));
    expect(requireStoredRequest(world, requestId).state).toBe("provided");
  });

  it("refuses a content over the requested size before anything is sent", async () => {
    const smallRequest = await createRequestWithSender(world, requesterVault, { maxSize: 1_000 });
    expect((await smallRequest.sender.inspect()).maxSize).toBe(1_000);
    await smallRequest.sender.answer(makeFileAnswer(new Blob([plainBytes.slice(0, 1_000)])));
    const otherRequest = await createRequestWithSender(world, requesterVault, { maxSize: 1_000 });
    const callCountBefore = world.service.calls.length;
    await expect(
      otherRequest.sender.answer(makeFileAnswer(new Blob([plainBytes.slice(0, 2_000)]))),
    ).rejects.toMatchObject({
      code: "payload_too_large",
      details: { limit: 1_000 },
    });
    expect(world.service.calls.slice(callCountBefore)).toEqual(["POST /requests/get"]);
    expect(maxSealedBytes).toBeGreaterThan(requireStoredRequest(world, otherRequest.requestId).maxSize);
  });

  it("refuses an empty name or a note over the limit", async () => {
    await expect(sender.answer({ ...makeFileAnswer(file), name: "" })).rejects.toMatchObject({
      code: "validation_error",
      details: { fields: ["name"] },
    });
    await expect(sender.answer(makeFileAnswer(file, "n".repeat(2_001)))).rejects.toMatchObject({
      code: "validation_error",
      details: { fields: ["note"] },
    });
  });
});

describe("the first finished answer wins", () => {
  /** Finishes an answer, and closes the tab before the response arrives. */
  async function finishWithLostAnswer(): Promise<void> {
    const abortController = new AbortController();
    world.service.transformResponse = (call, response) => {
      if (!call.startsWith("PUT /requests/answer/")) return response;
      abortController.abort();
      throw new PortalError("service_unavailable");
    };
    await expect(
      sender.answer(makeTextAnswer("the words", "as agreed"), { signal: abortController.signal }),
    ).rejects.toMatchObject({
      code: "cancelled",
    });
    world.service.transformResponse = (_, response) => response;
  }

  it("closes the request for later senders and for started answers", async () => {
    const startedSender = await openRequestSender(world, link);
    await interruptAfter(1, startedSender);
    const record = await startedSender.records.get(requestId);
    await startedSender.records.remove(requestId); // like another browser
    await sender.answer(makeTextAnswer("the first"));
    const lateSender = await openRequestSender(world, link);
    expect((await lateSender.inspect()).state).toBe("provided");
    await expect(lateSender.answer(makeTextAnswer("too late"))).rejects.toMatchObject({ code: "request_closed" });
    if (record === null) throw new TypeError("expected a stored record");
    await startedSender.records.put(record);
    await expect(startedSender.answer(makeFileAnswer(file))).rejects.toMatchObject({ code: "request_closed" });
    expect(await startedSender.records.get(requestId)).toBeNull();
    expect(
      new TextDecoder().decode((await openAnswer(requesterVault, requestId, null)).content ?? new Uint8Array()),
    ).toBe("the first");
  });

  it("refuses a started answer when the request is revoked meanwhile", async () => {
    await interruptAfter(1);
    const request = requireStoredRequest(world, requestId);
    world.service.beforeCall = async (call) => {
      if (!call.startsWith("GET /requests/answer/") || request.state === "revoked") return;
      await dropRequest(requesterVault, requestId);
    };
    await expect(sender.answer(makeFileAnswer(file))).rejects.toMatchObject({ code: "request_closed" });
    expect(await sender.records.get(requestId)).toBeNull();
    await expect(sender.inspect()).rejects.toMatchObject({ code: "request_unavailable" });
  });

  it("gives the receipt to a later tab when the finishing response was lost", async () => {
    await finishWithLostAnswer();
    const reopenedSender = await openRequestSender(world, link);
    await expect(reopenedSender.answer(makeTextAnswer("other one", "as agreed"))).rejects.toMatchObject({
      code: "file_changed",
    });
    await expect(reopenedSender.answer(makeTextAnswer("the words", "another note"))).rejects.toMatchObject({
      code: "file_changed",
    });
    const { receiptWords } = await reopenedSender.answer(makeTextAnswer("the words", "as agreed"));
    expect((await openAnswer(requesterVault, requestId, null)).receiptWords).toEqual(receiptWords);
  });

  it("returns the earlier receipt, marked as such, if a restart finds that the answer was accepted", async () => {
    await finishWithLostAnswer();
    const reopenedSender = await openRequestSender(world, link);
    const { receiptWords, fromEarlierAnswer } = await reopenedSender.answer(makeTextAnswer("other one"), {
      restart: true,
    });
    expect(fromEarlierAnswer).toBe(true);
    expect((await openAnswer(requesterVault, requestId, null)).receiptWords).toEqual(receiptWords);
    expect(await reopenedSender.records.get(requestId)).toBeNull();
  });

  it("gives the earlier receipt when the first finishing call arrives during the restart", async () => {
    await interruptAfter(0, sender, new Blob(["the words"]));
    let heldFinish: (() => Promise<void>) | null = null;
    const { calls } = sender.deps;
    const finish: AnswerCalls["finish"] = (upload, body) => {
      heldFinish = () => calls.finish(upload, body);
      return Promise.reject(new PortalError("not_found"));
    };
    const depsHoldingFinish = { ...sender.deps, calls: { ...calls, finish } };
    await expect(
      answerRequest(depsHoldingFinish, sender, makeFileAnswer(new Blob(["the words"]))),
    ).rejects.toMatchObject({
      code: "not_found",
    });
    world.service.beforeCall = async (call) => {
      if (!call.startsWith("PUT /requests/answer/") || heldFinish === null) return;
      const deliver = heldFinish;
      heldFinish = null;
      await deliver();
    };
    const { receiptWords, fromEarlierAnswer } = await sender.answer(makeTextAnswer("other one"), { restart: true });
    expect(fromEarlierAnswer).toBe(true);
    expect((await openAnswer(requesterVault, requestId, null)).receiptWords).toEqual(receiptWords);
  });

  it("keeps the record for the receipt while the service is unavailable", async () => {
    await finishWithLostAnswer();
    world.service.beforeCall = (call) => {
      if (call.startsWith("PUT /requests/answer/")) throw new PortalError("offline");
    };
    await expect(sender.answer(makeTextAnswer("other one"), { restart: true })).rejects.toMatchObject({
      code: "offline",
    });
    world.service.beforeCall = () => undefined;
    expect((await sender.inspect()).receiptWords).toHaveLength(8);
  });

  it("sends the other content when the first finishing call never arrived", async () => {
    const abortController = new AbortController();
    world.service.beforeCall = (call) => {
      if (!call.startsWith("PUT /requests/answer/")) return;
      abortController.abort();
      throw new PortalError("service_unavailable");
    };
    await expect(
      sender.answer(makeTextAnswer("the wrong words"), { signal: abortController.signal }),
    ).rejects.toMatchObject({
      code: "cancelled",
    });
    world.service.beforeCall = () => undefined;
    expect(await sender.answer(makeTextAnswer("the words"), { restart: true })).not.toHaveProperty("fromEarlierAnswer");
    expect(
      new TextDecoder().decode((await openAnswer(requesterVault, requestId, null)).content ?? new Uint8Array()),
    ).toBe("the words");
  });

  it("shows the receipt when the link is opened again, but only in this browser", async () => {
    await finishWithLostAnswer();
    const record = await sender.records.get(requestId);
    const { receiptWords, unfinishedAnswer } = await sender.inspect();
    expect(unfinishedAnswer).toBeNull();
    expect((await openAnswer(requesterVault, requestId, null)).receiptWords).toEqual(receiptWords);
    expect(await sender.inspect()).not.toHaveProperty("receiptWords");
    const { provided } = requireStoredRequest(world, requestId);
    if (record === null || provided === null) throw new TypeError("expected a stored record");
    provided.call = "of somebody else";
    await sender.records.put(record);
    expect(await sender.inspect()).toEqual(expect.objectContaining({ unfinishedAnswer: null }));
    expect(await sender.records.get(requestId)).toBeNull();
  });
});

it("works in a browser without IndexedDB", async () => {
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
    const privateSender = await openRequestSender(world, link);
    await privateSender.answer(makeFileAnswer(file));
    expect(requireStoredRequest(world, requestId).state).toBe("provided");
  } finally {
    Object.defineProperty(globalThis, "indexedDB", { value: originalFactory, configurable: true });
  }
});

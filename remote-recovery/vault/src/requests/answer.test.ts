import "fake-indexeddb/auto";

import { maxSealedBytes, uploadHours } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { protect } from "../acts/protect.ts";
import { answerDevice } from "../acts/unlock.ts";
import { aFile, asked, aText, providerWith, storedRequest, type Provider } from "../testing/answering.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import { randomFile } from "../testing/uploading.ts";
import { createWorld, shown, textSecret, type World } from "../testing/world.ts";
import type { VaultContext } from "../vault-context.ts";
import { answerRequest } from "./answer.ts";
import type { AnswerCalls } from "./answer-calls.ts";
import { openAnswer } from "./open-answer.ts";
import { dropRequest } from "./settle.ts";

let world: World;
let laptop: VaultContext;
let provider: Provider;
let requestId: string;
let link: string;

beforeEach(async () => {
  world = createWorld();
  laptop = await world.open();
  await protect(laptop, textSecret("First", shown("market")), {});
  await answerDevice(laptop, "own");
  ({ provider, requestId, link } = await asked(world, laptop));
});

const { plain, file } = randomFile(3 * fakePartBytes + 12_345);

/**
 * The connection goes when so many parts have arrived, until `mend` is called; the tab is closed
 * meanwhile.
 */
async function interruptedAfter(parts: number, who = provider, content = file): Promise<void> {
  const closing = new AbortController();
  let sent = 0;
  world.service.before = (call) => {
    if (!/^POST \/requests\/answer\/./.test(call)) return;
    if (sent++ >= parts) closing.abort();
    if (closing.signal.aborted) throw new PortalError("service_unavailable");
  };
  await expect(who.answer(aFile(content), { signal: closing.signal })).rejects.toMatchObject({ code: "cancelled" });
  world.service.before = () => undefined;
}

const parts = (): number => world.service.calls.filter((call) => /^POST \/requests\/answer\/./.test(call)).length;

describe("answering with a file", () => {
  it("sends it in parts with progress, and whoever asked gets it", async () => {
    const told: [number, number][] = [];
    const { words } = await provider.answer(aFile(file, "here it is"), {
      onProgress: ({ done, total }) => told.push([done, total]),
    });
    expect(parts()).toBe(4);
    expect(told).toHaveLength(4);
    const [, total] = told[0] ?? [0, 0];
    expect(told.at(-1)).toEqual([total, total]);
    const answer = await openAnswer(laptop, requestId, null);
    expect(answer).toMatchObject({
      contentKind: "file",
      name: "film.mp4",
      mime: "video/mp4",
      size: plain.length,
      note: "here it is",
      words,
      content: null,
    });
    const { bytes, size } = await laptop.service.content.range(answer.sealed, 0, 100);
    expect([bytes.length, size]).toEqual([100, storedRequest(world, requestId).provided?.content.length]);
  });

  it("takes an empty one", async () => {
    await provider.answer(aFile(new Blob()));
    expect((await openAnswer(laptop, requestId, null)).content).toHaveLength(0);
  });

  it("goes on where it stopped, in the same browser with the link", async () => {
    await interruptedAfter(2);
    const again = await providerWith(world, link);
    expect((await again.look()).begun).toEqual({ name: "film.mp4", size: plain.length, sent: 2 * fakePartBytes });
    const before = parts();
    await again.answer(aFile(file));
    expect(parts() - before).toBe(2);
    expect(world.service.calls.filter((call) => call === "POST /requests/answer")).toHaveLength(1);
    expect(await again.records.get(requestId)).toBeNull();
    expect((await openAnswer(laptop, requestId, null)).size).toBe(plain.length);
  });

  it("sends nothing of another file of the same size, and begins once more when that is wanted", async () => {
    await interruptedAfter(2);
    const before = parts();
    const other = randomFile(plain.length);
    await expect(provider.answer(aFile(other.file))).rejects.toMatchObject({ code: "file_changed" });
    await expect(provider.answer(aFile(other.file.slice(1)))).rejects.toMatchObject({ code: "file_changed" });
    await expect(provider.answer({ ...aFile(file), contentKind: "text" })).rejects.toMatchObject({
      code: "file_changed",
    });
    expect(parts()).toBe(before);
    expect((await provider.look()).begun).not.toBeNull();
    await provider.answer(aFile(other.file), { anew: true });
    expect(parts() - before).toBe(4);
    expect(storedRequest(world, requestId).answers.size).toBe(2);
  });

  it("begins anew when the service has dropped what was sent", async () => {
    await interruptedAfter(2);
    storedRequest(world, requestId).answers.clear();
    await provider.answer(aFile(file));
    expect((await openAnswer(laptop, requestId, null)).size).toBe(plain.length);
  });

  it("is not gone on with after a day", async () => {
    await interruptedAfter(2);
    provider.clock.now += uploadHours * 3_600_000 + 60_000;
    expect((await provider.look()).begun).toBeNull();
    const later = await providerWith(world, link, provider.clock);
    await later.answer(aFile(file));
    expect(storedRequest(world, requestId).answers.size).toBe(2);
  });

  it("keeps nothing that opens without the link", async () => {
    await interruptedAfter(2);
    const record = await provider.records.get(requestId);
    const kept = JSON.stringify(record, (_, value: unknown) =>
      value instanceof Uint8Array ? new TextDecoder("latin1").decode(value) : value,
    );
    expect(kept).not.toContain("AGE-SECRET-KEY");
    expect(kept).not.toContain("film");
    expect(kept).not.toContain("token of");
    const elsewhere = await asked(world, laptop);
    if (record === null) throw new TypeError("nothing was kept");
    await elsewhere.provider.records.put({ ...record, requestId: elsewhere.requestId });
    await expect(elsewhere.provider.look()).rejects.toMatchObject({ code: "not_found" });
  });

  it("waits for a service that is away", async () => {
    let away = 3;
    world.service.before = (call) => {
      if (/^(POST|PUT) \/requests\/answer\/./.test(call) && away-- > 0) throw new PortalError("service_unavailable");
    };
    await provider.answer(aFile(file));
    expect(storedRequest(world, requestId).state).toBe("provided");
  });

  it("refuses what is larger than was asked for, before anything is sent", async () => {
    const small = await asked(world, laptop, { maxSize: 1_000 });
    expect((await small.provider.look()).maxSize).toBe(1_000);
    await small.provider.answer(aFile(new Blob([plain.slice(0, 1_000)])));
    const other = await asked(world, laptop, { maxSize: 1_000 });
    const before = world.service.calls.length;
    await expect(other.provider.answer(aFile(new Blob([plain.slice(0, 2_000)])))).rejects.toMatchObject({
      code: "payload_too_large",
      details: { limit: 1_000 },
    });
    expect(world.service.calls.slice(before)).toEqual(["POST /requests/get"]);
    expect(maxSealedBytes).toBeGreaterThan(storedRequest(world, other.requestId).maxSize);
  });

  it("is refused with a name or a note that cannot be sealed", async () => {
    await expect(provider.answer({ ...aFile(file), name: "" })).rejects.toMatchObject({
      code: "validation_error",
      details: { fields: ["name"] },
    });
    await expect(provider.answer(aFile(file, "n".repeat(2_001)))).rejects.toMatchObject({
      code: "validation_error",
      details: { fields: ["note"] },
    });
  });
});

describe("the first finished answer wins", () => {
  /** It is finished, and the tab closed before that is heard. */
  async function finishUnheard(): Promise<void> {
    const closing = new AbortController();
    world.service.answer = (call, answer) => {
      if (!call.startsWith("PUT /requests/answer/")) return answer;
      closing.abort();
      throw new PortalError("service_unavailable");
    };
    await expect(provider.answer(aText("the words", "as agreed"), { signal: closing.signal })).rejects.toMatchObject({
      code: "cancelled",
    });
    world.service.answer = (_, answer) => answer;
  }

  it("closes the request to whoever comes later, and to whoever had begun", async () => {
    const second = await providerWith(world, link);
    await interruptedAfter(1, second);
    const kept = await second.records.get(requestId);
    await second.records.remove(requestId); // as in another browser
    await provider.answer(aText("the first"));
    const third = await providerWith(world, link);
    expect((await third.look()).state).toBe("provided");
    await expect(third.answer(aText("too late"))).rejects.toMatchObject({ code: "request_closed" });
    if (kept === null) throw new TypeError("nothing was kept");
    await second.records.put(kept);
    await expect(second.answer(aFile(file))).rejects.toMatchObject({ code: "request_closed" });
    expect(await second.records.get(requestId)).toBeNull();
    expect(new TextDecoder().decode((await openAnswer(laptop, requestId, null)).content ?? new Uint8Array())).toBe(
      "the first",
    );
  });

  it("closes it when it is revoked meanwhile", async () => {
    await interruptedAfter(1);
    const revoking = storedRequest(world, requestId);
    world.service.before = async (call) => {
      if (!call.startsWith("GET /requests/answer/") || revoking.state === "revoked") return;
      await dropRequest(laptop, requestId);
    };
    await expect(provider.answer(aFile(file))).rejects.toMatchObject({ code: "request_closed" });
    expect(await provider.records.get(requestId)).toBeNull();
    await expect(provider.look()).rejects.toMatchObject({ code: "request_unavailable" });
  });

  it("gives the receipt when the answer to finishing was lost, in a tab opened later too", async () => {
    await finishUnheard();
    const again = await providerWith(world, link);
    await expect(again.answer(aText("other one", "as agreed"))).rejects.toMatchObject({ code: "file_changed" });
    await expect(again.answer(aText("the words", "another note"))).rejects.toMatchObject({ code: "file_changed" });
    const { words } = await again.answer(aText("the words", "as agreed"));
    expect((await openAnswer(laptop, requestId, null)).words).toEqual(words);
  });

  it("gives that receipt, and says so, when beginning again with another content finds it taken", async () => {
    await finishUnheard();
    const again = await providerWith(world, link);
    const { words, earlier } = await again.answer(aText("other one"), { anew: true });
    expect(earlier).toBe(true);
    expect((await openAnswer(laptop, requestId, null)).words).toEqual(words);
    expect(await again.records.get(requestId)).toBeNull();
  });

  it("gives it too when the first one arrives while another is sent in its place", async () => {
    await interruptedAfter(0, provider, new Blob(["the words"]));
    let held: (() => Promise<void>) | null = null;
    const { calls } = provider.parts;
    const finish: AnswerCalls["finish"] = (place, body) => {
      held = () => calls.finish(place, body);
      return Promise.reject(new PortalError("not_found"));
    };
    const slow = { ...provider.parts, calls: { ...calls, finish } };
    await expect(answerRequest(slow, provider, aFile(new Blob(["the words"])))).rejects.toMatchObject({
      code: "not_found",
    });
    world.service.before = async (call) => {
      if (!call.startsWith("PUT /requests/answer/") || held === null) return;
      const arrives = held;
      held = null;
      await arrives();
    };
    const { words, earlier } = await provider.answer(aText("other one"), { anew: true });
    expect(earlier).toBe(true);
    expect((await openAnswer(laptop, requestId, null)).words).toEqual(words);
  });

  it("keeps what would give the receipt while the service is away", async () => {
    await finishUnheard();
    world.service.before = (call) => {
      if (call.startsWith("PUT /requests/answer/")) throw new PortalError("offline");
    };
    await expect(provider.answer(aText("other one"), { anew: true })).rejects.toMatchObject({ code: "offline" });
    world.service.before = () => undefined;
    expect((await provider.look()).receipt).toHaveLength(8);
  });

  it("sends the other content where the first never arrived", async () => {
    const closing = new AbortController();
    world.service.before = (call) => {
      if (!call.startsWith("PUT /requests/answer/")) return;
      closing.abort();
      throw new PortalError("service_unavailable");
    };
    await expect(provider.answer(aText("the wrong words"), { signal: closing.signal })).rejects.toMatchObject({
      code: "cancelled",
    });
    world.service.before = () => undefined;
    expect(await provider.answer(aText("the words"), { anew: true })).not.toHaveProperty("earlier");
    expect(new TextDecoder().decode((await openAnswer(laptop, requestId, null)).content ?? new Uint8Array())).toBe(
      "the words",
    );
  });

  it("gives that receipt when the link is opened once more, to this browser alone", async () => {
    await finishUnheard();
    const kept = await provider.records.get(requestId);
    const { receipt, begun } = await provider.look();
    expect(begun).toBeNull();
    expect((await openAnswer(laptop, requestId, null)).words).toEqual(receipt);
    expect(await provider.look()).not.toHaveProperty("receipt");
    const { provided } = storedRequest(world, requestId);
    if (kept === null || provided === null) throw new TypeError("nothing was kept");
    provided.call = "of somebody else";
    await provider.records.put(kept);
    expect(await provider.look()).toEqual(expect.objectContaining({ begun: null }));
    expect(await provider.records.get(requestId)).toBeNull();
  });
});

it("answers in a browser that keeps nothing", async () => {
  const there = globalThis.indexedDB;
  Object.defineProperty(globalThis, "indexedDB", {
    value: {
      open: () => {
        throw new DOMException("no", "SecurityError");
      },
    },
    configurable: true,
  });
  try {
    const private_ = await providerWith(world, link);
    await private_.answer(aFile(file));
    expect(storedRequest(world, requestId).state).toBe("provided");
  } finally {
    Object.defineProperty(globalThis, "indexedDB", { value: there, configurable: true });
  }
});

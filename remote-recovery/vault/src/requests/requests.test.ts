import "fake-indexeddb/auto";

import { maxOpenRequests } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { setDeviceKind } from "../operations/set-device-kind.ts";
import { protect } from "../operations/protect.ts";
import { openRequestsInner } from "../seal/requests.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import {
  createRequestWithProvider,
  makeRequest,
  makeTextAnswer,
  openProvider,
  storedRequest,
} from "../testing/answer-provider.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { createRequest, revealRequestLink } from "./create-request.ts";
import { listRequests } from "./list-requests.ts";
import { openAnswer } from "./open-answer.ts";
import { dropRequest, markCollected } from "./end-requests.ts";

const textOf = (content: Uint8Array | null): string => new TextDecoder().decode(content ?? new Uint8Array());

async function openLaptopWithFirst(world: World): Promise<VaultSession> {
  const laptop = await world.open();
  await protect(laptop, textSecret("First", makePicture("market")), {});
  await setDeviceKind(laptop, "own");
  return laptop;
}

describe("a request for a secret", () => {
  it("is made, looked at, answered by a text, opened, collected and dropped", async () => {
    const world = createWorld();
    const laptop = await openLaptopWithFirst(world);
    const { requestId, link, provider } = await createRequestWithProvider(world, laptop);
    expect(await listRequests(laptop)).toEqual([
      expect.objectContaining({ requestId, title: "The deed", state: "awaiting", size: null, discrepancy: null }),
    ]);
    await expect(openAnswer(laptop, requestId, null)).rejects.toMatchObject({ code: "not_found" });

    expect(await provider.inspect()).toEqual({
      title: "The deed",
      note: "for the notary",
      requesterName: "José",
      expiresAt: expect.any(String) as string,
      maxSize: 10_000_000,
      state: "awaiting",
      unfinishedAnswer: null,
    });
    const { receiptWords } = await provider.answer(makeTextAnswer("the words", "as agreed"));
    expect(receiptWords).toHaveLength(8);
    expect((await provider.inspect()).state).toBe("provided");
    expect(await provider.records.get(requestId)).toBeNull();

    expect(await listRequests(laptop)).toEqual([
      expect.objectContaining({ state: "provided", discrepancy: null, size: expect.any(Number) as number }),
    ]);
    const answer = await openAnswer(laptop, requestId, null);
    expect(answer).toMatchObject({
      requestId,
      contentKind: "text",
      name: "words.txt",
      mime: "text/plain",
      size: 9,
      note: "as agreed",
      receiptWords,
    });
    expect(textOf(answer.content)).toBe("the words");
    expect(textOf((await openAnswer(laptop, requestId, null)).content)).toBe("the words"); // only reads
    expect(await revealRequestLink(laptop, requestId, null)).toBe(link);

    await markCollected(laptop, requestId);
    await markCollected(laptop, requestId);
    expect(await listRequests(laptop)).toEqual([expect.objectContaining({ state: "collected", discrepancy: null })]);
    await dropRequest(laptop, requestId);
    expect(await listRequests(laptop, { includeEnded: true })).toEqual([]);
    expect(storedRequest(world, requestId)).toMatchObject({ state: "collected", provided: null });
  });

  it("takes an opener, unless one was shown since load; collecting and dropping take none", async () => {
    const world = createWorld();
    const laptop = await openLaptopWithFirst(world);
    const { requestId, link, provider } = await createRequestWithProvider(world, laptop);
    await provider.answer(makeTextAnswer("the words"));

    const reloaded = await world.open();
    expect(reloaded.accountKey).toBeNull();
    const openerNeeded = { code: "show_opener_first" };
    await expect(createRequest(reloaded, makeRequest(reloaded), null)).rejects.toMatchObject(openerNeeded);
    await expect(revealRequestLink(reloaded, requestId, null)).rejects.toMatchObject(openerNeeded);
    await expect(openAnswer(reloaded, requestId, null)).rejects.toMatchObject(openerNeeded);
    expect(world.service.calls.filter((call) => call === "POST /requests/collect")).toEqual([]);
    await markCollected(reloaded, requestId);
    expect(await listRequests(reloaded)).toEqual([expect.objectContaining({ state: "collected" })]);

    expect(await revealRequestLink(reloaded, requestId, makePicture("market"))).toBe(link);
    expect(textOf((await openAnswer(reloaded, requestId, null)).content)).toBe("the words");
  });

  it("unlocks a locked device with the opener that is shown", async () => {
    const world = createWorld();
    const laptop = await openLaptopWithFirst(world);
    const { requestId, provider } = await createRequestWithProvider(world, laptop);
    await provider.answer(makeTextAnswer("the words"));
    const phone = await world.open("phone");
    await expect(listRequests(phone)).rejects.toMatchObject({ code: "vault_locked" });
    await expect(openAnswer(phone, requestId, null)).rejects.toMatchObject({ code: "vault_locked" });
    expect(textOf((await openAnswer(phone, requestId, makePicture("market"))).content)).toBe("the words");
    expect(await listRequests(phone)).toEqual([expect.objectContaining({ state: "provided" })]);
  });

  it("needs an account that has something", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await expect(createRequest(laptop, makeRequest(laptop), makePicture("market"))).rejects.toMatchObject({
      code: "no_keyring",
    });
    expect(await listRequests(laptop)).toEqual([]);
  });

  it("is refused before anything is sent when it cannot be sealed or kept", async () => {
    const world = createWorld();
    const laptop = await openLaptopWithFirst(world);
    const before = world.service.calls.length;
    const daysAhead = (days: number): string => new Date(laptop.now() + days * 86_400_000).toISOString();
    for (const [field, change] of Object.entries({
      title: "",
      note: "n".repeat(2_001),
      requesterName: "",
      expiresAt: daysAhead(31),
      maxSize: 0,
    })) {
      await expect(createRequest(laptop, makeRequest(laptop, { [field]: change }), null)).rejects.toMatchObject({
        code: "validation_error",
        details: { fields: [field] },
      });
    }
    await expect(createRequest(laptop, makeRequest(laptop, { expiresAt: daysAhead(-1) }), null)).rejects.toMatchObject({
      code: "validation_error",
    });
    await expect(createRequest(laptop, makeRequest(laptop, { title: "\ud800" }), null)).rejects.toMatchObject({
      code: "validation_error",
    });
    expect(world.service.calls).toHaveLength(before);
  });

  it("says when too many are open", async () => {
    const world = createWorld();
    const laptop = await openLaptopWithFirst(world);
    for (let created = 0; created < maxOpenRequests; created++)
      await createRequest(laptop, makeRequest(laptop, { title: `number ${String(created)}` }), null);
    await expect(createRequest(laptop, makeRequest(laptop), null)).rejects.toMatchObject({ code: "limit_reached" });
    expect(await listRequests(laptop)).toHaveLength(maxOpenRequests);
  });

  it("is published once when the answer of the service is lost", async () => {
    const world = createWorld();
    const laptop = await openLaptopWithFirst(world);
    let lost = 0;
    world.service.transformAnswer = (call, answer) => {
      if (call !== "POST /requests" || ++lost > 3) return answer;
      throw new PortalError("service_unavailable");
    };
    const { requestId, provider } = await createRequestWithProvider(world, laptop);
    expect(lost).toBe(3);
    expect([...(world.service.account.requests?.keys() ?? [])]).toEqual([requestId]);
    expect((await provider.inspect()).title).toBe("The deed");
  });

  it("is made anew from the account as another device left it", async () => {
    const world = createWorld();
    const laptop = await openLaptopWithFirst(world);
    const phone = await world.open("phone");
    await revealUnknownLink(phone);
    let phoneRequest: Promise<unknown> | null = null;
    world.service.beforeCall = async (call) => {
      if (call !== "POST /requests" || phoneRequest !== null) return;
      phoneRequest = Promise.resolve();
      await createRequest(phone, makeRequest(phone, { title: "from the phone" }), null);
    };
    await createRequest(laptop, makeRequest(laptop, { title: "from the laptop" }), null);
    expect((await listRequests(laptop)).map(({ title, discrepancy }) => [title, discrepancy]).sort()).toEqual([
      ["from the laptop", null],
      ["from the phone", null],
    ]);
  });

  it("revoked, is closed to whoever has the link, and its key goes with the next one that is made", async () => {
    const world = createWorld();
    const laptop = await openLaptopWithFirst(world);
    const { requestId, provider } = await createRequestWithProvider(world, laptop);
    await dropRequest(laptop, requestId);
    await dropRequest(laptop, requestId);
    await expect(revealRequestLink(laptop, requestId, null)).rejects.toMatchObject({ code: "not_found" });
    await expect(provider.answer(makeTextAnswer("too late"))).rejects.toMatchObject({ code: "request_unavailable" });
    expect(await listRequests(laptop)).toEqual([]);
    expect(await listRequests(laptop, { includeEnded: true })).toEqual([
      expect.objectContaining({ state: "revoked", discrepancy: null }),
    ]);
    await createRequestWithProvider(world, laptop, { title: "another" });
    expect(await listRequests(laptop, { includeEnded: true })).toHaveLength(2);
    await expect(openAnswer(laptop, requestId, null)).rejects.toMatchObject({ code: "not_found" });
    await expect(markCollected(laptop, "AAAAAAAAAAAAAAAAAAAAAA")).rejects.toMatchObject({ code: "not_found" });
  });

  describe("over", () => {
    const start = Date.now();
    const readEntries = async (
      vault: VaultSession,
    ): Promise<readonly [titles: readonly string[], notes: readonly string[]]> => {
      const { requests } = (await refreshKeyring(vault))?.openedKeyring ?? {};
      if (requests == null || vault.accountKey === null) throw new TypeError("nothing was asked for");
      const inner = await openRequestsInner(vault.accountKey, vault.userId, requests);
      return [requests.requests.map(({ title }) => title), inner.requests.map(({ note }) => note)];
    };

    /**
     * One that nobody answered, one with an answer, one that was collected, one that was opened and
     * not collected.
     */
    async function createFourRequests(): Promise<{
      readonly world: World;
      readonly laptop: VaultSession;
      readonly setDay: (day: number) => void;
    }> {
      const world = createWorld();
      const laptop = await openLaptopWithFirst(world);
      const setDay = (day: number): void => {
        for (const clock of [laptop, world.service]) Object.assign(clock, { now: () => start + day * 86_400_000 });
      };
      await createRequestWithProvider(world, laptop, { title: "silent", note: "silent" });
      for (const title of ["answered", "collected", "opened"]) {
        const { requestId, provider } = await createRequestWithProvider(world, laptop, { title, note: title });
        await provider.answer(makeTextAnswer("the words"));
        if (title !== "answered") await openAnswer(laptop, requestId, null);
        if (title === "collected") await markCollected(laptop, requestId);
      }
      return { world, laptop, setDay };
    }
    const createAnotherRequest = (laptop: VaultSession): Promise<unknown> =>
      createRequest(laptop, makeRequest(laptop, { title: "new", note: "new" }), null);
    /** As the service does with time. */
    const sweep = (world: World): void => {
      for (const request of world.service.account.requests?.values() ?? []) {
        if (request.state === "collected") request.provided = null;
        if (request.state === "awaiting") request.state = "expired";
      }
    };

    it("keeps the key of whatever can still be opened or finished", async () => {
      const { laptop, setDay } = await createFourRequests();
      setDay(36);
      await createAnotherRequest(laptop);
      expect(await readEntries(laptop)).toEqual([
        ["silent", "answered", "collected", "opened", "new"],
        ["silent", "answered", "collected", "opened", "new"],
      ]);
    });

    it("leaves its key and note out once nothing can be opened by it, and all of it 90 days after its time", async () => {
      const { world, laptop, setDay } = await createFourRequests();
      sweep(world);
      setDay(38);
      await createAnotherRequest(laptop);
      expect(await readEntries(laptop)).toEqual([
        ["silent", "answered", "collected", "opened", "new"],
        ["answered", "opened", "new"],
      ]);
      setDay(98);
      await createAnotherRequest(laptop);
      const [titles, notes] = await readEntries(laptop);
      expect(titles).toEqual(["answered", "opened", "new", "new"]);
      expect(notes).toEqual(["answered", "opened", "new"]);
      expect(
        (await listRequests(laptop, { includeEnded: true })).every(({ discrepancy }) => discrepancy === null),
      ).toBe(true);
    });

    it("can be deleted from the list: expired, or collected and gone", async () => {
      const { world, laptop, setDay } = await createFourRequests();
      sweep(world);
      setDay(8);
      for (const row of await listRequests(laptop, { includeEnded: true }))
        if (row.title === "silent" || row.title === "collected") await dropRequest(laptop, row.requestId);
      expect(
        (await listRequests(laptop, { includeEnded: true }))
          .map(({ title, discrepancy }) => [title, discrepancy])
          .sort(),
      ).toEqual([
        ["answered", null],
        ["opened", null],
      ]);
    });
  });

  it("names nothing of itself to the service but sizes and dates", async () => {
    const world = createWorld();
    const laptop = await openLaptopWithFirst(world);
    const { requestId, link, provider } = await createRequestWithProvider(world, laptop, {
      title: "sentinel title",
      note: "sentinel note",
      requesterName: "sentinel name",
    });
    await provider.answer(makeTextAnswer("sentinel content", "sentinel words"));
    const serialized = JSON.stringify([storedRequest(world, requestId), world.service.bodies], (_, value: unknown) =>
      value instanceof Map ? [...(value as Map<unknown, unknown>)] : value,
    );
    expect(serialized).not.toContain("sentinel");
    expect(serialized).not.toContain(link.split("#s=")[1]);
  });
});

/** An unlocked device with the account key in memory. */
async function revealUnknownLink(vault: VaultSession): Promise<void> {
  await revealRequestLink(vault, "AAAAAAAAAAAAAAAAAAAAAA", makePicture("market")).catch((error: unknown) => {
    expect(error).toMatchObject({ code: "not_found" });
  });
}

describe("the list of what was asked for", () => {
  it("shows what expired among what ended, and never as awaiting", async () => {
    const world = createWorld();
    const laptop = await openLaptopWithFirst(world);
    const { requestId } = await createRequestWithProvider(world, laptop);
    storedRequest(world, requestId).state = "expired";
    const laterLaptop = Object.assign(laptop, { now: () => Date.now() + 8 * 86_400_000 });
    expect(await listRequests(laterLaptop)).toEqual([]);
    expect(await listRequests(laterLaptop, { includeEnded: true })).toEqual([
      expect.objectContaining({ state: "expired", discrepancy: null }),
    ]);
    storedRequest(world, requestId).state = "awaiting"; // an answer that was begun before may still be finished
    expect(await listRequests(laterLaptop, { includeEnded: true })).toEqual([
      expect.objectContaining({ state: "expired", discrepancy: null }),
    ]);
    world.service.account.requests?.clear();
    expect(await listRequests(laterLaptop, { includeEnded: true })).toEqual([
      expect.objectContaining({ state: "expired", discrepancy: null }),
    ]);
  });

  it("is not alarmed by what another device writes between two readings", async () => {
    const world = createWorld();
    const laptop = await openLaptopWithFirst(world);
    const phone = await world.open("phone");
    await revealUnknownLink(phone);
    let isWritten = false;
    world.service.beforeCall = async (call) => {
      if (call !== "GET /requests" || isWritten) return;
      isWritten = true;
      await createRequest(phone, makeRequest(phone, { title: "from the phone" }), null);
    };
    expect(await listRequests(laptop)).toEqual([
      expect.objectContaining({ title: "from the phone", discrepancy: null }),
    ]);
  });

  it("is newest first", async () => {
    const world = createWorld();
    const laptop = await openLaptopWithFirst(world);
    const start = Date.now();
    for (const [index, title] of ["first", "second", "third"].entries()) {
      await createRequest(
        Object.assign(laptop, { now: () => start + index * 1_000 }),
        makeRequest(laptop, { title }),
        null,
      );
    }
    expect((await listRequests(laptop)).map(({ title }) => title)).toEqual(["third", "second", "first"]);
  });
});

it("a link with another key opens nothing", async () => {
  const world = createWorld();
  const laptop = await openLaptopWithFirst(world);
  const { link } = await createRequestWithProvider(world, laptop);
  const stranger = await openProvider(world, `${link.slice(0, -3)}AAA`);
  await expect(stranger.inspect()).rejects.toMatchObject({ code: "request_unavailable" });
});

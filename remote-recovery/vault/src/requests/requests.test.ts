import "fake-indexeddb/auto";

import { maxOpenRequests } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { setDeviceKind } from "../operations/set-device-kind.ts";
import { protect } from "../operations/protect.ts";
import { rotateAccountKey } from "../operations/rotate.ts";
import { openRequestsInner } from "../seal/requests.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import {
  createRequestWithSender,
  makeRequest,
  makeTextAnswer,
  openRequestSender,
  requireStoredRequest,
} from "../testing/request-sender.ts";
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
  it("is sealed under the new account key if a rotation runs before the request is published", async () => {
    const world = createWorld();
    const laptop = await openLaptopWithFirst(world);
    await protect(laptop, textSecret("Second"), {}); // the opener has provided the account key
    let releaseRotation: () => void = () => undefined;
    const rotationReleased = new Promise<void>((resolve) => (releaseRotation = resolve));
    let announceRotation: () => void = () => undefined;
    const rotationSent = new Promise<void>((resolve) => (announceRotation = resolve));
    const { changeKeyring } = laptop.service;
    Object.assign(laptop.service, {
      changeKeyring: async (...args: Parameters<typeof changeKeyring>) => {
        announceRotation();
        await changeKeyring(...args);
        await rotationReleased;
      },
    });
    const rotation = rotateAccountKey(laptop, [makePicture("market")], {});
    await rotationSent;
    const creation = createRequest(laptop, makeRequest(laptop), null);
    await new Promise<void>((resolve) => {
      setTimeout(resolve); // the creation waits for the rotation
    });
    releaseRotation();
    await rotation;
    const { requestId, link } = await creation;
    expect(await revealRequestLink(laptop, requestId, null)).toBe(link);
    await rotateAccountKey(laptop, [makePicture("market")], {});
  });

  it("is created, inspected, answered, opened, collected and deleted", async () => {
    const world = createWorld();
    const laptop = await openLaptopWithFirst(world);
    const { requestId, link, sender } = await createRequestWithSender(world, laptop);
    expect(await listRequests(laptop)).toEqual([
      expect.objectContaining({ requestId, title: "The deed", state: "awaiting", size: null, discrepancy: null }),
    ]);
    await expect(openAnswer(laptop, requestId, null)).rejects.toMatchObject({ code: "not_found" });

    expect(await sender.inspect()).toEqual({
      title: "The deed",
      note: "for the notary",
      requesterName: "José",
      expiresAt: expect.any(String) as string,
      maxSize: 10_000_000,
      state: "awaiting",
      unfinishedAnswer: null,
    });
    const { receiptWords } = await sender.answer(makeTextAnswer("the words", "as agreed"));
    expect(receiptWords).toHaveLength(8);
    expect((await sender.inspect()).state).toBe("provided");
    expect(await sender.records.get(requestId)).toBeNull();

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
    expect(requireStoredRequest(world, requestId)).toMatchObject({ state: "collected", provided: null });
  });

  it("needs an opener unless one was presented since load, also for collecting and dropping", async () => {
    const world = createWorld();
    const laptop = await openLaptopWithFirst(world);
    const { requestId, link, sender } = await createRequestWithSender(world, laptop);
    await sender.answer(makeTextAnswer("the words"));

    const reloadedLaptop = await world.open();
    expect(reloadedLaptop.accountKey).toBeNull();
    const openerNeeded = { code: "show_opener_first" };
    await expect(createRequest(reloadedLaptop, makeRequest(reloadedLaptop), null)).rejects.toMatchObject(openerNeeded);
    await expect(revealRequestLink(reloadedLaptop, requestId, null)).rejects.toMatchObject(openerNeeded);
    await expect(openAnswer(reloadedLaptop, requestId, null)).rejects.toMatchObject(openerNeeded);
    expect(world.service.calls.filter((call) => call === "POST /requests/collect")).toEqual([]);
    await expect(markCollected(reloadedLaptop, requestId)).rejects.toMatchObject(openerNeeded);
    await expect(dropRequest(reloadedLaptop, requestId)).rejects.toMatchObject(openerNeeded);

    expect(await revealRequestLink(reloadedLaptop, requestId, makePicture("market"))).toBe(link);
    expect(textOf((await openAnswer(reloadedLaptop, requestId, null)).content)).toBe("the words");
    await markCollected(reloadedLaptop, requestId);
    expect(await listRequests(reloadedLaptop)).toEqual([expect.objectContaining({ state: "collected" })]);
  });

  it("unlocks a locked device with the presented opener", async () => {
    const world = createWorld();
    const laptop = await openLaptopWithFirst(world);
    const { requestId, sender } = await createRequestWithSender(world, laptop);
    await sender.answer(makeTextAnswer("the words"));
    const phone = await world.open("phone");
    await expect(listRequests(phone)).rejects.toMatchObject({ code: "vault_locked" });
    await expect(openAnswer(phone, requestId, null)).rejects.toMatchObject({ code: "vault_locked" });
    expect(textOf((await openAnswer(phone, requestId, makePicture("market"))).content)).toBe("the words");
    expect(await listRequests(phone)).toEqual([expect.objectContaining({ state: "provided" })]);
  });

  it("needs an account", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await expect(createRequest(laptop, makeRequest(laptop), makePicture("market"))).rejects.toMatchObject({
      code: "no_keyring",
    });
    expect(await listRequests(laptop)).toEqual([]);
  });

  it("is refused with invalid fields before anything is sent", async () => {
    const world = createWorld();
    const laptop = await openLaptopWithFirst(world);
    const callCountBefore = world.service.calls.length;
    const daysAhead = (days: number): string => new Date(laptop.now() + days * 86_400_000).toISOString();
    for (const [field, invalidValue] of Object.entries({
      title: "",
      note: "n".repeat(2_001),
      requesterName: "",
      expiresAt: daysAhead(31),
      maxSize: 0,
    })) {
      await expect(createRequest(laptop, makeRequest(laptop, { [field]: invalidValue }), null)).rejects.toMatchObject({
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
    expect(world.service.calls).toHaveLength(callCountBefore);
  });

  it("reports limit_reached when too many are open", async () => {
    const world = createWorld();
    const laptop = await openLaptopWithFirst(world);
    for (let created = 0; created < maxOpenRequests; created++)
      await createRequest(laptop, makeRequest(laptop, { title: `number ${String(created)}` }), null);
    await expect(createRequest(laptop, makeRequest(laptop), null)).rejects.toMatchObject({ code: "limit_reached" });
    expect(await listRequests(laptop)).toHaveLength(maxOpenRequests);
  });

  it("is published once when responses are lost", async () => {
    const world = createWorld();
    const laptop = await openLaptopWithFirst(world);
    let callCount = 0;
    world.service.transformResponse = (call, response) => {
      if (call !== "POST /requests" || ++callCount > 3) return response;
      throw new PortalError("service_unavailable");
    };
    const { requestId, sender } = await createRequestWithSender(world, laptop);
    expect(callCount).toBe(3);
    expect([...(world.service.account.requests?.keys() ?? [])]).toEqual([requestId]);
    expect((await sender.inspect()).title).toBe("The deed");
  });

  it("is built again after another device's change", async () => {
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

  it("refuses answers after its revocation, and loses its key when the next request is created", async () => {
    const world = createWorld();
    const laptop = await openLaptopWithFirst(world);
    const { requestId, sender } = await createRequestWithSender(world, laptop);
    await dropRequest(laptop, requestId);
    await dropRequest(laptop, requestId);
    await expect(revealRequestLink(laptop, requestId, null)).rejects.toMatchObject({ code: "not_found" });
    await expect(sender.answer(makeTextAnswer("too late"))).rejects.toMatchObject({ code: "request_unavailable" });
    expect(await listRequests(laptop)).toEqual([]);
    expect(await listRequests(laptop, { includeEnded: true })).toEqual([
      expect.objectContaining({ state: "revoked", discrepancy: null }),
    ]);
    await createRequestWithSender(world, laptop, { title: "another" });
    expect(await listRequests(laptop, { includeEnded: true })).toHaveLength(2);
    await expect(openAnswer(laptop, requestId, null)).rejects.toMatchObject({ code: "not_found" });
    await expect(markCollected(laptop, "AAAAAAAAAAAAAAAAAAAAAA")).rejects.toMatchObject({ code: "not_found" });
  });

  describe("that has ended", () => {
    const start = Date.now();
    const readEntries = async (
      vault: VaultSession,
    ): Promise<readonly [titles: readonly string[], notes: readonly string[]]> => {
      const { requests } = (await refreshKeyring(vault))?.openedKeyring ?? {};
      if (requests == null || vault.accountKey === null) throw new TypeError("expected a requests document");
      const inner = await openRequestsInner(vault.accountKey, vault.userId, requests);
      return [requests.requests.map(({ title }) => title), inner.requests.map(({ note }) => note)];
    };

    /** Creates four requests: unanswered, answered, collected, and opened but not collected. */
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
      await createRequestWithSender(world, laptop, { title: "silent", note: "silent" });
      for (const title of ["answered", "collected", "opened"]) {
        const { requestId, sender } = await createRequestWithSender(world, laptop, { title, note: title });
        await sender.answer(makeTextAnswer("the words"));
        if (title !== "answered") await openAnswer(laptop, requestId, null);
        if (title === "collected") await markCollected(laptop, requestId);
      }
      return { world, laptop, setDay };
    }
    const createAnotherRequest = (laptop: VaultSession): Promise<unknown> =>
      createRequest(laptop, makeRequest(laptop, { title: "new", note: "new" }), null);
    /** Simulates the service's periodic deletions. */
    const sweep = (world: World): void => {
      for (const request of world.service.account.requests?.values() ?? []) {
        if (request.state === "collected") request.provided = null;
        if (request.state === "awaiting") request.state = "expired";
      }
    };

    it("keeps its key while it can still be opened or finished", async () => {
      const { laptop, setDay } = await createFourRequests();
      setDay(36);
      await createAnotherRequest(laptop);
      expect(await readEntries(laptop)).toEqual([
        ["silent", "answered", "collected", "opened", "new"],
        ["silent", "answered", "collected", "opened", "new"],
      ]);
    });

    it("loses key and note when these open nothing any more, and its entry 90 days after expiry", async () => {
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

    it("can be deleted when expired, or when collected and deleted by the service", async () => {
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

  it("tells the service only sizes and dates", async () => {
    const world = createWorld();
    const laptop = await openLaptopWithFirst(world);
    const { requestId, link, sender } = await createRequestWithSender(world, laptop, {
      title: "sentinel title",
      note: "sentinel note",
      requesterName: "sentinel name",
    });
    await sender.answer(makeTextAnswer("sentinel content", "sentinel words"));
    const serialized = JSON.stringify(
      [requireStoredRequest(world, requestId), world.service.bodies],
      (_, value: unknown) => (value instanceof Map ? [...(value as Map<unknown, unknown>)] : value),
    );
    expect(serialized).not.toContain("sentinel");
    expect(serialized).not.toContain(link.split("#s=")[1]);
  });
});

/** Runs on an unlocked device with the account key in memory. */
async function revealUnknownLink(vault: VaultSession): Promise<void> {
  await revealRequestLink(vault, "AAAAAAAAAAAAAAAAAAAAAA", makePicture("market")).catch((error: unknown) => {
    expect(error).toMatchObject({ code: "not_found" });
  });
}

describe("the list of requests", () => {
  it("shows an expired request as ended, never as awaiting", async () => {
    const world = createWorld();
    const laptop = await openLaptopWithFirst(world);
    const { requestId } = await createRequestWithSender(world, laptop);
    requireStoredRequest(world, requestId).state = "expired";
    const laterLaptop = Object.assign(laptop, { now: () => Date.now() + 8 * 86_400_000 });
    expect(await listRequests(laterLaptop)).toEqual([]);
    expect(await listRequests(laterLaptop, { includeEnded: true })).toEqual([
      expect.objectContaining({ state: "expired", discrepancy: null }),
    ]);
    requireStoredRequest(world, requestId).state = "awaiting"; // a started answer may still be finished
    expect(await listRequests(laterLaptop, { includeEnded: true })).toEqual([
      expect.objectContaining({ state: "expired", discrepancy: null }),
    ]);
    world.service.account.requests?.clear();
    expect(await listRequests(laterLaptop, { includeEnded: true })).toEqual([
      expect.objectContaining({ state: "expired", discrepancy: null }),
    ]);
  });

  it("reports no discrepancy when another device writes between two calls", async () => {
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

  it("is sorted from newest to oldest", async () => {
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

it("a request link with another key opens nothing", async () => {
  const world = createWorld();
  const laptop = await openLaptopWithFirst(world);
  const { link } = await createRequestWithSender(world, laptop);
  const stranger = await openRequestSender(world, `${link.slice(0, -3)}AAA`);
  await expect(stranger.inspect()).rejects.toMatchObject({ code: "request_unavailable" });
});

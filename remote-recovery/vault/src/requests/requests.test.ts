import "fake-indexeddb/auto";

import { maxOpenRequests } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { answerDevice } from "../acts/unlock.ts";
import { protect } from "../acts/protect.ts";
import { openRequestsInner } from "../seal/requests.ts";
import { readKeyring } from "../steps/read-keyring.ts";
import { asked, aRequest, aText, providerWith, storedRequest } from "../testing/answering.ts";
import { createWorld, shown, textSecret, type World } from "../testing/world.ts";
import type { VaultContext } from "../vault-context.ts";
import { askForSecret, showRequestLink } from "./ask.ts";
import { listAsked } from "./asked.ts";
import { openAnswer } from "./open-answer.ts";
import { dropRequest, markCollected } from "./settle.ts";

const textOf = (content: Uint8Array | null): string => new TextDecoder().decode(content ?? new Uint8Array());

async function laptopWithFirst(world: World): Promise<VaultContext> {
  const laptop = await world.open();
  await protect(laptop, textSecret("First", shown("market")), {});
  await answerDevice(laptop, "own");
  return laptop;
}

describe("a request for a secret", () => {
  it("is made, looked at, answered by a text, opened, collected and dropped", async () => {
    const world = createWorld();
    const laptop = await laptopWithFirst(world);
    const { requestId, link, provider } = await asked(world, laptop);
    expect(await listAsked(laptop)).toEqual([
      expect.objectContaining({ requestId, title: "The deed", state: "awaiting", size: null, doubt: null }),
    ]);
    await expect(openAnswer(laptop, requestId, null)).rejects.toMatchObject({ code: "not_found" });

    expect(await provider.look()).toEqual({
      title: "The deed",
      note: "for the notary",
      askedBy: "José",
      expiresAt: expect.any(String) as string,
      maxSize: 10_000_000,
      state: "awaiting",
      begun: null,
    });
    const { words } = await provider.answer(aText("the words", "as agreed"));
    expect(words).toHaveLength(8);
    expect((await provider.look()).state).toBe("provided");
    expect(await provider.records.get(requestId)).toBeNull();

    expect(await listAsked(laptop)).toEqual([
      expect.objectContaining({ state: "provided", doubt: null, size: expect.any(Number) as number }),
    ]);
    const answer = await openAnswer(laptop, requestId, null);
    expect(answer).toMatchObject({
      requestId,
      contentKind: "text",
      name: "words.txt",
      mime: "text/plain",
      size: 9,
      note: "as agreed",
      words,
    });
    expect(textOf(answer.content)).toBe("the words");
    expect(textOf((await openAnswer(laptop, requestId, null)).content)).toBe("the words"); // only reads
    expect(await showRequestLink(laptop, requestId, null)).toBe(link);

    await markCollected(laptop, requestId);
    await markCollected(laptop, requestId);
    expect(await listAsked(laptop)).toEqual([expect.objectContaining({ state: "collected", doubt: null })]);
    await dropRequest(laptop, requestId);
    expect(await listAsked(laptop, { ended: true })).toEqual([]);
    expect(storedRequest(world, requestId)).toMatchObject({ state: "collected", provided: null });
  });

  it("takes an opener, unless one was shown since load; collecting and dropping take none", async () => {
    const world = createWorld();
    const laptop = await laptopWithFirst(world);
    const { requestId, link, provider } = await asked(world, laptop);
    await provider.answer(aText("the words"));

    const reloaded = await world.open();
    expect(reloaded.accountKey).toBeNull();
    const opener = { code: "show_opener_first" };
    await expect(askForSecret(reloaded, aRequest(reloaded), null)).rejects.toMatchObject(opener);
    await expect(showRequestLink(reloaded, requestId, null)).rejects.toMatchObject(opener);
    await expect(openAnswer(reloaded, requestId, null)).rejects.toMatchObject(opener);
    expect(world.service.calls.filter((call) => call === "POST /requests/collect")).toEqual([]);
    await markCollected(reloaded, requestId);
    expect(await listAsked(reloaded)).toEqual([expect.objectContaining({ state: "collected" })]);

    expect(await showRequestLink(reloaded, requestId, shown("market"))).toBe(link);
    expect(textOf((await openAnswer(reloaded, requestId, null)).content)).toBe("the words");
  });

  it("unlocks a locked device with the opener that is shown", async () => {
    const world = createWorld();
    const laptop = await laptopWithFirst(world);
    const { requestId, provider } = await asked(world, laptop);
    await provider.answer(aText("the words"));
    const phone = await world.open("phone");
    await expect(listAsked(phone)).rejects.toMatchObject({ code: "vault_locked" });
    await expect(openAnswer(phone, requestId, null)).rejects.toMatchObject({ code: "vault_locked" });
    expect(textOf((await openAnswer(phone, requestId, shown("market"))).content)).toBe("the words");
    expect(await listAsked(phone)).toEqual([expect.objectContaining({ state: "provided" })]);
  });

  it("needs an account that has something", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await expect(askForSecret(laptop, aRequest(laptop), shown("market"))).rejects.toMatchObject({ code: "no_keyring" });
    expect(await listAsked(laptop)).toEqual([]);
  });

  it("is refused before anything is sent when it cannot be sealed or kept", async () => {
    const world = createWorld();
    const laptop = await laptopWithFirst(world);
    const before = world.service.calls.length;
    const later = (days: number): string => new Date(laptop.now() + days * 86_400_000).toISOString();
    for (const [field, change] of Object.entries({
      title: "",
      note: "n".repeat(2_001),
      askedBy: "",
      expiresAt: later(31),
      maxSize: 0,
    })) {
      await expect(askForSecret(laptop, aRequest(laptop, { [field]: change }), null)).rejects.toMatchObject({
        code: "validation_error",
        details: { fields: [field] },
      });
    }
    await expect(askForSecret(laptop, aRequest(laptop, { expiresAt: later(-1) }), null)).rejects.toMatchObject({
      code: "validation_error",
    });
    await expect(askForSecret(laptop, aRequest(laptop, { title: "\ud800" }), null)).rejects.toMatchObject({
      code: "validation_error",
    });
    expect(world.service.calls).toHaveLength(before);
  });

  it("says when too many are open", async () => {
    const world = createWorld();
    const laptop = await laptopWithFirst(world);
    for (let made = 0; made < maxOpenRequests; made++)
      await askForSecret(laptop, aRequest(laptop, { title: `number ${String(made)}` }), null);
    await expect(askForSecret(laptop, aRequest(laptop), null)).rejects.toMatchObject({ code: "limit_reached" });
    expect(await listAsked(laptop)).toHaveLength(maxOpenRequests);
  });

  it("is published once when the answer of the service is lost", async () => {
    const world = createWorld();
    const laptop = await laptopWithFirst(world);
    let lost = 0;
    world.service.answer = (call, answer) => {
      if (call !== "POST /requests" || ++lost > 3) return answer;
      throw new PortalError("service_unavailable");
    };
    const { requestId, provider } = await asked(world, laptop);
    expect(lost).toBe(3);
    expect([...(world.service.account.requests?.keys() ?? [])]).toEqual([requestId]);
    expect((await provider.look()).title).toBe("The deed");
  });

  it("is made anew from the account as another device left it", async () => {
    const world = createWorld();
    const laptop = await laptopWithFirst(world);
    const phone = await world.open("phone");
    await openFirst(phone);
    let other: Promise<unknown> | null = null;
    world.service.before = async (call) => {
      if (call !== "POST /requests" || other !== null) return;
      other = Promise.resolve();
      await askForSecret(phone, aRequest(phone, { title: "from the phone" }), null);
    };
    await askForSecret(laptop, aRequest(laptop, { title: "from the laptop" }), null);
    expect((await listAsked(laptop)).map(({ title, doubt }) => [title, doubt]).sort()).toEqual([
      ["from the laptop", null],
      ["from the phone", null],
    ]);
  });

  it("revoked, is closed to whoever has the link, and its key goes with the next one that is made", async () => {
    const world = createWorld();
    const laptop = await laptopWithFirst(world);
    const { requestId, provider } = await asked(world, laptop);
    await dropRequest(laptop, requestId);
    await dropRequest(laptop, requestId);
    await expect(showRequestLink(laptop, requestId, null)).rejects.toMatchObject({ code: "not_found" });
    await expect(provider.answer(aText("too late"))).rejects.toMatchObject({ code: "request_unavailable" });
    expect(await listAsked(laptop)).toEqual([]);
    expect(await listAsked(laptop, { ended: true })).toEqual([
      expect.objectContaining({ state: "revoked", doubt: null }),
    ]);
    await asked(world, laptop, { title: "another" });
    expect(await listAsked(laptop, { ended: true })).toHaveLength(2);
    await expect(openAnswer(laptop, requestId, null)).rejects.toMatchObject({ code: "not_found" });
    await expect(markCollected(laptop, "AAAAAAAAAAAAAAAAAAAAAA")).rejects.toMatchObject({ code: "not_found" });
  });

  describe("over", () => {
    const start = Date.now();
    const kept = async (
      vault: VaultContext,
    ): Promise<readonly [titles: readonly string[], notes: readonly string[]]> => {
      const { requests } = (await readKeyring(vault))?.opened ?? {};
      if (requests == null || vault.accountKey === null) throw new TypeError("nothing was asked for");
      const inner = await openRequestsInner(vault.accountKey, vault.userId, requests);
      return [requests.requests.map(({ title }) => title), inner.requests.map(({ note }) => note)];
    };

    /**
     * One that nobody answered, one with an answer, one that was collected, one that was opened and
     * not collected.
     */
    async function four(): Promise<{
      readonly world: World;
      readonly laptop: VaultContext;
      readonly setDay: (day: number) => void;
    }> {
      const world = createWorld();
      const laptop = await laptopWithFirst(world);
      const setDay = (day: number): void => {
        for (const clock of [laptop, world.service]) Object.assign(clock, { now: () => start + day * 86_400_000 });
      };
      await asked(world, laptop, { title: "silent", note: "silent" });
      for (const title of ["answered", "collected", "opened"]) {
        const { requestId, provider } = await asked(world, laptop, { title, note: title });
        await provider.answer(aText("the words"));
        if (title !== "answered") await openAnswer(laptop, requestId, null);
        if (title === "collected") await markCollected(laptop, requestId);
      }
      return { world, laptop, setDay };
    }
    const another = (laptop: VaultContext): Promise<unknown> =>
      askForSecret(laptop, aRequest(laptop, { title: "new", note: "new" }), null);
    /** As the service does with time. */
    const sweep = (world: World): void => {
      for (const request of world.service.account.requests?.values() ?? []) {
        if (request.state === "collected") request.provided = null;
        if (request.state === "awaiting") request.state = "expired";
      }
    };

    it("keeps the key of whatever can still be opened or finished", async () => {
      const { laptop, setDay } = await four();
      setDay(36);
      await another(laptop);
      expect(await kept(laptop)).toEqual([
        ["silent", "answered", "collected", "opened", "new"],
        ["silent", "answered", "collected", "opened", "new"],
      ]);
    });

    it("leaves its key and note out once nothing can be opened by it, and all of it 90 days after its time", async () => {
      const { world, laptop, setDay } = await four();
      sweep(world);
      setDay(38);
      await another(laptop);
      expect(await kept(laptop)).toEqual([
        ["silent", "answered", "collected", "opened", "new"],
        ["answered", "opened", "new"],
      ]);
      setDay(98);
      await another(laptop);
      const [titles, notes] = await kept(laptop);
      expect(titles).toEqual(["answered", "opened", "new", "new"]);
      expect(notes).toEqual(["answered", "opened", "new"]);
      expect((await listAsked(laptop, { ended: true })).every(({ doubt }) => doubt === null)).toBe(true);
    });

    it("can be deleted from the list: expired, or collected and gone", async () => {
      const { world, laptop, setDay } = await four();
      sweep(world);
      setDay(8);
      for (const row of await listAsked(laptop, { ended: true }))
        if (row.title === "silent" || row.title === "collected") await dropRequest(laptop, row.requestId);
      expect((await listAsked(laptop, { ended: true })).map(({ title, doubt }) => [title, doubt]).sort()).toEqual([
        ["answered", null],
        ["opened", null],
      ]);
    });
  });

  it("names nothing of itself to the service but sizes and dates", async () => {
    const world = createWorld();
    const laptop = await laptopWithFirst(world);
    const { requestId, link, provider } = await asked(world, laptop, {
      title: "sentinel title",
      note: "sentinel note",
      askedBy: "sentinel name",
    });
    await provider.answer(aText("sentinel content", "sentinel words"));
    const kept = JSON.stringify([storedRequest(world, requestId), world.service.bodies], (_, value: unknown) =>
      value instanceof Map ? [...(value as Map<unknown, unknown>)] : value,
    );
    expect(kept).not.toContain("sentinel");
    expect(kept).not.toContain(link.split("#s=")[1]);
  });
});

/** An unlocked device with the account key in memory. */
async function openFirst(vault: VaultContext): Promise<void> {
  await showRequestLink(vault, "AAAAAAAAAAAAAAAAAAAAAA", shown("market")).catch((error: unknown) => {
    expect(error).toMatchObject({ code: "not_found" });
  });
}

describe("the list of what was asked for", () => {
  it("shows what expired among what ended, and never as awaiting", async () => {
    const world = createWorld();
    const laptop = await laptopWithFirst(world);
    const { requestId } = await asked(world, laptop);
    storedRequest(world, requestId).state = "expired";
    const later = Object.assign(laptop, { now: () => Date.now() + 8 * 86_400_000 });
    expect(await listAsked(later)).toEqual([]);
    expect(await listAsked(later, { ended: true })).toEqual([
      expect.objectContaining({ state: "expired", doubt: null }),
    ]);
    storedRequest(world, requestId).state = "awaiting"; // an answer that was begun before may still be finished
    expect(await listAsked(later, { ended: true })).toEqual([
      expect.objectContaining({ state: "expired", doubt: null }),
    ]);
    world.service.account.requests?.clear();
    expect(await listAsked(later, { ended: true })).toEqual([
      expect.objectContaining({ state: "expired", doubt: null }),
    ]);
  });

  it("is not alarmed by what another device writes between two readings", async () => {
    const world = createWorld();
    const laptop = await laptopWithFirst(world);
    const phone = await world.open("phone");
    await openFirst(phone);
    let done = false;
    world.service.before = async (call) => {
      if (call !== "GET /requests" || done) return;
      done = true;
      await askForSecret(phone, aRequest(phone, { title: "from the phone" }), null);
    };
    expect(await listAsked(laptop)).toEqual([expect.objectContaining({ title: "from the phone", doubt: null })]);
  });

  it("is newest first", async () => {
    const world = createWorld();
    const laptop = await laptopWithFirst(world);
    const start = Date.now();
    for (const [index, title] of ["first", "second", "third"].entries()) {
      await askForSecret(
        Object.assign(laptop, { now: () => start + index * 1_000 }),
        aRequest(laptop, { title }),
        null,
      );
    }
    expect((await listAsked(laptop)).map(({ title }) => title)).toEqual(["third", "second", "first"]);
  });
});

it("a link with another key opens nothing", async () => {
  const world = createWorld();
  const laptop = await laptopWithFirst(world);
  const { link } = await asked(world, laptop);
  const stranger = await providerWith(world, `${link.slice(0, -3)}AAA`);
  await expect(stranger.look()).rejects.toMatchObject({ code: "request_unavailable" });
});

import { maxOpenRequests } from "@relicario/shared/api";
import type { SecretRequest } from "@relicario/shared/contract";

import { code, first, textOf, type MakeStage } from "./describe-vault.stage.ts";

const deed = { secrets: [{ title: "Deed", content: "house" }] };
const none = "AAAAAAAAAAAAAAAAAAAAAA";
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();

function request(more: Partial<SecretRequest> = {}): SecretRequest {
  return {
    title: "The permit",
    note: "for the notary",
    askedBy: "Alba",
    expiresAt: inDays(7),
    maxSize: 1_000_000,
    notify: false,
    ...more,
  };
}

export function describeRequests(make: MakeStage): void {
  describe("a request", () => {
    it("has a link, and waits for its answer", async () => {
      const { vault, shown } = await make({ ...deed, unlocked: false });
      const expiresAt = inDays(7);
      await expect(vault.requests.create(request(), shown("sea"))).rejects.toEqual(code("not_this_picture"));
      const { requestId, link } = await vault.requests.create(request({ expiresAt }), shown("garden"));
      expect(vault.getState()).toMatchObject({ status: "unlocked" });
      expect(link).toMatch(new RegExp(`^https://portal\\.example/request/${requestId}#s=`));
      await expect(vault.requests.list()).resolves.toEqual([
        {
          requestId,
          title: "The permit",
          state: "awaiting",
          createdAt: expect.any(String) as string,
          expiresAt,
          providedAt: null,
          collectedAt: null,
          size: null,
          doubt: null,
        },
      ]);
      await expect(vault.requests.showLink(requestId, null)).resolves.toBe(link);
      await expect(vault.requests.showLink(none, null)).rejects.toEqual(code("not_found"));
      await expect(vault.requests.open(requestId, null)).rejects.toEqual(code("not_found"));
      await expect(vault.requests.open(none, null)).rejects.toEqual(code("not_found"));
      await expect(vault.requests.collect(none)).rejects.toEqual(code("not_found"));
      await expect(vault.requests.drop("../x")).rejects.toEqual(code("not_found"));
      const next = await vault.requests.create(request({ title: "The key" }), null);
      expect((await vault.requests.list()).map((row) => row.requestId)).toEqual([next.requestId, requestId]);
    });

    it("takes what fits, and an account", async () => {
      const { vault, shown } = await make(deed);
      await expect(
        vault.requests.create(request({ title: "", askedBy: "", expiresAt: inDays(31), maxSize: 0 }), shown("garden")),
      ).rejects.toEqual(code("validation_error", { fields: ["title", "askedBy", "expiresAt", "maxSize"] }));
      await expect(vault.requests.create(request(), null)).rejects.toEqual(code("show_opener_first"));
      const empty = await make({});
      await empty.vault.refresh();
      await expect(empty.vault.requests.create(request(), empty.shown("garden"))).rejects.toEqual(code("no_keyring"));
    });

    it("is one of so many at a time", async () => {
      const { vault, shown } = await make({
        ...deed,
        asked: Array.from({ length: maxOpenRequests }, (_, index) => ({ title: `Key ${String(index)}` })),
      });
      await expect(vault.requests.create(request(), shown("garden"))).rejects.toEqual(code("limit_reached"));
      await vault.requests.drop(first(await vault.requests.list()).requestId);
      await vault.requests.create(request(), shown("garden"));
    });

    it("is answered, opened, collected and dropped", async () => {
      const { vault, shown, answerElsewhere } = await make(deed);
      const { requestId, link } = await vault.requests.create(request(), shown("garden"));
      await answerElsewhere(requestId, link);
      const [row] = await vault.requests.list();
      expect(row).toMatchObject({
        state: "provided",
        providedAt: expect.any(String) as string,
        collectedAt: null,
        doubt: null,
      });
      expect(row?.size).toBeGreaterThan(0);
      const answer = await vault.requests.open(requestId, null);
      expect(answer).toMatchObject({
        requestId,
        contentKind: "text",
        name: "words.txt",
        mime: "text/plain",
        size: 8,
        note: "As you asked",
      });
      expect(answer.words).toHaveLength(8);
      expect(textOf(answer)).toBe("number 7");
      expect((await answer.save(null))?.size).toBe(8);
      await expect(vault.requests.list()).resolves.toMatchObject([{ state: "provided", doubt: null }]);
      await vault.requests.collect(requestId);
      await vault.requests.collect(requestId);
      await expect(vault.requests.list()).resolves.toMatchObject([
        { state: "collected", collectedAt: expect.any(String) as string },
      ]);
      await vault.requests.drop(requestId);
      await expect(vault.requests.list({ ended: true })).resolves.toEqual([]);
    });

    it("that was answered before is opened with a picture", async () => {
      const { vault, shown } = await make({
        ...deed,
        asked: [{ title: "The permit", answer: { content: "number 7", note: "As you asked" } }],
      });
      const { requestId } = first(await vault.requests.list());
      await expect(vault.requests.open(requestId, null)).rejects.toEqual(code("show_opener_first"));
      const answer = await vault.requests.open(requestId, shown("garden"));
      expect([answer.note, textOf(answer)]).toEqual(["As you asked", "number 7"]);
    });

    it("is revoked, answered or not", async () => {
      const { vault, shown } = await make({
        ...deed,
        asked: [{ title: "The permit" }, { title: "The deed", answer: { content: "number 7", note: "" } }],
      });
      for (const { requestId } of await vault.requests.list()) {
        await vault.requests.drop(requestId);
        await vault.requests.drop(requestId);
        await expect(vault.requests.open(requestId, shown("garden"))).rejects.toEqual(code("not_found"));
        await expect(vault.requests.showLink(requestId, null)).rejects.toEqual(code("not_found"));
      }
      await expect(vault.requests.list()).resolves.toEqual([]);
      await expect(vault.requests.list({ ended: true })).resolves.toMatchObject([
        { state: "revoked", doubt: null },
        { state: "revoked", doubt: null },
      ]);
    });
  });
}

import { maxOpenRequests } from "@relicario/shared/api";
import type { SecretRequest } from "@relicario/shared/contract";

import { errorWithCode, requireFirst, decodeContent, type CreateHarness } from "./describe-vault.harness.ts";

const oneSecret = { secrets: [{ title: "Deed", content: "house" }] };
const unknownRequestId = "AAAAAAAAAAAAAAAAAAAAAA";
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();

function makeRequest(overrides: Partial<SecretRequest> = {}): SecretRequest {
  return {
    title: "The permit",
    note: "for the notary",
    requesterName: "Alba",
    expiresAt: inDays(7),
    maxSize: 1_000_000,
    notify: false,
    ...overrides,
  };
}

export function describeRequests(make: CreateHarness): void {
  describe("a request", () => {
    it("has a link, and waits for an answer", async () => {
      const { vault, makeHandle } = await make({ ...oneSecret, unlocked: false });
      const expiresAt = inDays(7);
      await expect(vault.requests.create(makeRequest(), makeHandle("sea"))).rejects.toEqual(
        errorWithCode("not_this_picture"),
      );
      const { requestId, link } = await vault.requests.create(makeRequest({ expiresAt }), makeHandle("garden"));
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
          discrepancy: null,
        },
      ]);
      await expect(vault.requests.getLink(requestId, null)).resolves.toBe(link);
      await expect(vault.requests.getLink(unknownRequestId, null)).rejects.toEqual(errorWithCode("not_found"));
      await expect(vault.requests.open(requestId, null)).rejects.toEqual(errorWithCode("not_found"));
      await expect(vault.requests.open(unknownRequestId, null)).rejects.toEqual(errorWithCode("not_found"));
      await expect(vault.requests.collect(unknownRequestId)).rejects.toEqual(errorWithCode("not_found"));
      await expect(vault.requests.drop("../x")).rejects.toEqual(errorWithCode("not_found"));
      const nextRequest = await vault.requests.create(makeRequest({ title: "The key" }), null);
      expect((await vault.requests.list()).map((row) => row.requestId)).toEqual([nextRequest.requestId, requestId]);
    });

    it("is refused with invalid fields, or without an account", async () => {
      const { vault, makeHandle } = await make(oneSecret);
      await expect(
        vault.requests.create(
          makeRequest({ title: "", requesterName: "", expiresAt: inDays(31), maxSize: 0 }),
          makeHandle("garden"),
        ),
      ).rejects.toEqual(
        errorWithCode("validation_error", { fields: ["title", "requesterName", "expiresAt", "maxSize"] }),
      );
      await expect(vault.requests.create(makeRequest(), null)).rejects.toEqual(errorWithCode("show_opener_first"));
      const emptyAccount = await make({});
      await emptyAccount.vault.refresh();
      await expect(
        emptyAccount.vault.requests.create(makeRequest(), emptyAccount.makeHandle("garden")),
      ).rejects.toEqual(errorWithCode("no_keyring"));
    });

    it("is refused when too many are open", async () => {
      const { vault, makeHandle } = await make({
        ...oneSecret,
        ownRequests: Array.from({ length: maxOpenRequests }, (_, index) => ({ title: `Key ${String(index)}` })),
      });
      await expect(vault.requests.create(makeRequest(), makeHandle("garden"))).rejects.toEqual(
        errorWithCode("limit_reached"),
      );
      await vault.requests.drop(requireFirst(await vault.requests.list()).requestId);
      await vault.requests.create(makeRequest(), makeHandle("garden"));
    });

    it("is answered, opened, collected and dropped", async () => {
      const { vault, makeHandle, answerElsewhere } = await make(oneSecret);
      const { requestId, link } = await vault.requests.create(makeRequest(), makeHandle("garden"));
      await answerElsewhere(requestId, link);
      const [row] = await vault.requests.list();
      expect(row).toMatchObject({
        state: "provided",
        providedAt: expect.any(String) as string,
        collectedAt: null,
        discrepancy: null,
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
      expect(answer.receiptWords).toHaveLength(8);
      expect(await decodeContent(answer)).toBe("number 7");
      await expect(vault.requests.list()).resolves.toMatchObject([{ state: "provided", discrepancy: null }]);
      await vault.requests.collect(requestId);
      await vault.requests.collect(requestId);
      await expect(vault.requests.list()).resolves.toMatchObject([
        { state: "collected", collectedAt: expect.any(String) as string },
      ]);
      await vault.requests.drop(requestId);
      await expect(vault.requests.list({ includeEnded: true })).resolves.toEqual([]);
    });

    it("with an answer opens with a picture", async () => {
      const { vault, makeHandle } = await make({
        ...oneSecret,
        ownRequests: [{ title: "The permit", answer: { content: "number 7", note: "As you asked" } }],
      });
      const { requestId } = requireFirst(await vault.requests.list());
      await expect(vault.requests.open(requestId, null)).rejects.toEqual(errorWithCode("show_opener_first"));
      const answer = await vault.requests.open(requestId, makeHandle("garden"));
      expect([answer.note, await decodeContent(answer)]).toEqual(["As you asked", "number 7"]);
    });

    it("is revoked, with or without an answer", async () => {
      const { vault, makeHandle } = await make({
        ...oneSecret,
        ownRequests: [{ title: "The permit" }, { title: "The oneSecret", answer: { content: "number 7", note: "" } }],
      });
      await vault.unlock(makeHandle("garden"));
      for (const { requestId } of await vault.requests.list()) {
        await vault.requests.drop(requestId);
        await vault.requests.drop(requestId);
        await expect(vault.requests.open(requestId, makeHandle("garden"))).rejects.toEqual(errorWithCode("not_found"));
        await expect(vault.requests.getLink(requestId, null)).rejects.toEqual(errorWithCode("not_found"));
      }
      await expect(vault.requests.list()).resolves.toEqual([]);
      await expect(vault.requests.list({ includeEnded: true })).resolves.toMatchObject([
        { state: "revoked", discrepancy: null },
        { state: "revoked", discrepancy: null },
      ]);
    });
  });
}

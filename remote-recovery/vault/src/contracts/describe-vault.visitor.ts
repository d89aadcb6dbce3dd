import { maxWrongPasswords } from "@relicario/shared/api";
import type { ProvidedSecret } from "@relicario/shared/contract";

import {
  errorWithCode,
  largeText,
  textContent,
  decodeContent,
  type LinkScenario,
  type CreateLinkHarness,
} from "./describe-vault.harness.ts";

const doorShare = { title: "Door", content: "left twice", from: "bruno" };
const permitRequest: NonNullable<LinkScenario["request"]> = {
  title: "The permitRequest",
  note: "for the notary",
  requesterName: "Alba",
  maxSize: 1000,
};
const noCredentials = { password: null, picture: null };

function makeAnswer(text: string, overrides: Partial<ProvidedSecret> = {}): ProvidedSecret {
  return { ...textContent(text), note: "", ...overrides };
}

export function describeVisitor(make: CreateLinkHarness): void {
  describe("a page opened by the link of a share", () => {
    it("previews without using a view, and opens", async () => {
      const { visitor, id } = await make({ share: doorShare });
      const offer = {
        audience: "public",
        from: { userName: "bruno" },
        hasPassword: false,
        hasPicture: false,
        expiresAt: expect.any(String) as string,
        viewsLeft: null,
      };
      await expect(visitor.previewShare(id)).resolves.toEqual(offer);
      await expect(visitor.previewShare(id, { signal: AbortSignal.abort() })).rejects.toEqual(
        errorWithCode("cancelled"),
      );
      await expect(visitor.openShare(id, noCredentials, { signal: AbortSignal.abort() })).rejects.toEqual(
        errorWithCode("cancelled"),
      );
      const phases = new Set<string>();
      const opened = await visitor.openShare(id, noCredentials, { onProgress: ({ phase }) => phases.add(phase) });
      expect(opened).toMatchObject({
        shareId: id,
        title: "Door",
        contentKind: "text",
        name: "secret.txt",
        mime: "text/plain",
        size: 10,
        sender: { userId: expect.any(String) as string, userName: "bruno", trust: "says", safetyWords: [] },
      });
      expect(await decodeContent(opened)).toBe("left twice");
      expect([...phases]).toEqual(expect.arrayContaining(["fetching", "passphrase"]));
      await expect(visitor.previewShare(id)).resolves.toEqual(offer);
      await expect(visitor.previewShare("../x")).rejects.toEqual(errorWithCode("share_unavailable"));
    });

    it("shows that a share is for signed-in people", async () => {
      const { visitor, id } = await make({ share: { ...doorShare, audience: "signed_in" } });
      await expect(visitor.previewShare(id)).resolves.toMatchObject({ audience: "signed_in" });
      await expect(visitor.openShare(id, noCredentials)).resolves.toMatchObject({ title: "Door" });
    });

    it("opens with the share's password, and closes after too many wrong ones", async () => {
      const { visitor, id } = await make({ share: { ...doorShare, password: "nine stones", viewsLeft: 5 } });
      await expect(visitor.previewShare(id)).resolves.toMatchObject({ hasPassword: true, viewsLeft: 5 });
      for (const password of [null, ""])
        await expect(visitor.openShare(id, { ...noCredentials, password })).rejects.toEqual(
          errorWithCode("validation_error", { fields: ["password"] }),
        );
      await expect(visitor.openShare(id, { ...noCredentials, password: "other" })).rejects.toEqual(
        errorWithCode("wrong_password", { tries_left: maxWrongPasswords - 1 }),
      );
      await expect(visitor.openShare(id, { ...noCredentials, password: "nine stones" })).resolves.toMatchObject({
        title: "Door",
      });
      await expect(visitor.previewShare(id)).resolves.toMatchObject({ viewsLeft: 4 });
      for (let triesLeft = maxWrongPasswords - 2; triesLeft >= 0; triesLeft--)
        await expect(visitor.openShare(id, { ...noCredentials, password: "other" })).rejects.toEqual(
          errorWithCode("wrong_password", { tries_left: triesLeft }),
        );
      await expect(visitor.openShare(id, { ...noCredentials, password: "nine stones" })).rejects.toEqual(
        errorWithCode("share_unavailable"),
      );
      await expect(visitor.previewShare(id)).rejects.toEqual(errorWithCode("share_unavailable"));
    });

    it("opens with the share's picture; a wrong picture uses no view", async () => {
      const { visitor, id, makeHandle } = await make({ share: { ...doorShare, picture: "boat", viewsLeft: 1 } });
      await expect(visitor.previewShare(id)).resolves.toMatchObject({ hasPicture: true, viewsLeft: 1 });
      await expect(visitor.openShare(id, noCredentials)).rejects.toEqual(errorWithCode("picture_needed"));
      await expect(visitor.openShare(id, { ...noCredentials, picture: makeHandle("sea") })).rejects.toEqual(
        errorWithCode("not_this_picture"),
      );
      const releasedHandle = makeHandle("boat");
      visitor.releaseOpener(releasedHandle);
      await expect(visitor.openShare(id, { ...noCredentials, picture: releasedHandle })).rejects.toEqual(
        errorWithCode("picture_needed"),
      );
      await expect(visitor.previewShare(id)).resolves.toMatchObject({ viewsLeft: 1 });
      expect(await decodeContent(await visitor.openShare(id, { ...noCredentials, picture: makeHandle("boat") }))).toBe(
        "left twice",
      );
      await expect(visitor.previewShare(id)).rejects.toEqual(errorWithCode("share_unavailable"));
    });

    it("streams a content that is too large for memory", async () => {
      const { visitor, id } = await make({ share: { ...doorShare, content: largeText, large: true } });
      const opened = await visitor.openShare(id, noCredentials);
      expect(opened).toMatchObject({ size: largeText.length });
      expect(await decodeContent(opened)).toBe(largeText);
      opened.dispose();
      await expect(decodeContent(opened)).rejects.toEqual(errorWithCode("vault_locked"));
    });

    it("is refused after the share is revoked", async () => {
      const { visitor, id, endLink } = await make({ share: doorShare });
      await visitor.previewShare(id);
      await endLink();
      await expect(visitor.previewShare(id)).rejects.toEqual(errorWithCode("share_unavailable"));
      await expect(visitor.openShare(id, noCredentials)).rejects.toEqual(errorWithCode("share_unavailable"));
    });

    it("is refused after the page is closed", async () => {
      const { visitor, id } = await make({ share: doorShare });
      await visitor.previewShare(id);
      visitor.close();
      await expect(visitor.previewShare(id)).rejects.toEqual(errorWithCode("link_incomplete"));
      await expect(visitor.openShare(id, noCredentials)).rejects.toEqual(errorWithCode("link_incomplete"));
    });
  });

  describe("a page opened by the link of a request", () => {
    it("shows what is requested, and accepts one answer", async () => {
      const { visitor, id } = await make({ request: permitRequest });
      const offer = await visitor.previewRequest(id);
      expect(offer).toMatchObject({
        title: "The permitRequest",
        note: "for the notary",
        requesterName: "Alba",
        state: "awaiting",
        unfinishedAnswer: null,
      });
      expect(offer.maxSize).toBeGreaterThanOrEqual(permitRequest.maxSize);
      await expect(visitor.answer(id, makeAnswer("x".repeat(offer.maxSize + 100_000)))).rejects.toEqual(
        errorWithCode("payload_too_large"),
      );
      await expect(visitor.answer(id, makeAnswer("number 7", { name: "" }))).rejects.toEqual(
        errorWithCode("validation_error", { fields: ["name"] }),
      );
      await expect(visitor.answer(id, makeAnswer("number 7"), { signal: AbortSignal.abort() })).rejects.toEqual(
        errorWithCode("cancelled"),
      );
      const progress: unknown[] = [];
      const { receiptWords, fromEarlierAnswer } = await visitor.answer(id, makeAnswer("number 7"), {
        onProgress: ({ phase, done, total }) => progress.push([phase, done === total]),
      });
      expect(receiptWords).toHaveLength(8);
      expect(fromEarlierAnswer).toBeUndefined();
      expect(progress).toContainEqual(["sending", true]);
      await expect(visitor.previewRequest(id)).resolves.toMatchObject({ state: "provided", unfinishedAnswer: null });
      await expect(visitor.answer(id, makeAnswer("number 8"))).rejects.toEqual(errorWithCode("request_closed"));
    });

    it("is refused after the request is dropped or the page is closed", async () => {
      const { visitor, id, endLink } = await make({ request: permitRequest });
      await expect(visitor.previewRequest("../x")).rejects.toEqual(errorWithCode("request_unavailable"));
      await visitor.previewRequest(id);
      await endLink();
      await expect(visitor.previewRequest(id)).rejects.toEqual(errorWithCode("request_unavailable"));
      await expect(visitor.answer(id, makeAnswer("number 7"))).rejects.toEqual(errorWithCode("request_unavailable"));
      visitor.close();
      await expect(visitor.previewRequest(id)).rejects.toEqual(errorWithCode("link_incomplete"));
    });
  });
}

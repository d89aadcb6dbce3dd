import { maxWrongPasswords } from "@relicario/shared/api";
import type { ProvidedSecret } from "@relicario/shared/contract";

import { code, largeText, textContent, textOf, type LinkScene, type MakeLinkStage } from "./describe-vault.stage.ts";

const door = { title: "Door", content: "left twice", from: "bruno" };
const permit: NonNullable<LinkScene["request"]> = {
  title: "The permit",
  note: "for the notary",
  askedBy: "Alba",
  maxSize: 1000,
};
const open = { password: null, picture: null };

function provided(text: string, more: Partial<ProvidedSecret> = {}): ProvidedSecret {
  return { ...textContent(text), note: "", ...more };
}

export function describeLinks(make: MakeLinkStage): void {
  describe("a page opened by the link of a share", () => {
    it("looks for nothing, and opens", async () => {
      const { visitor, id } = await make({ share: door });
      const offer = {
        audience: "public",
        from: { userName: "bruno" },
        password: false,
        picture: false,
        expiresAt: expect.any(String) as string,
        viewsLeft: null,
      };
      await expect(visitor.lookAtShare(id)).resolves.toEqual(offer);
      await expect(visitor.lookAtShare(id, { signal: AbortSignal.abort() })).rejects.toEqual(code("cancelled"));
      await expect(visitor.openShare(id, open, { signal: AbortSignal.abort() })).rejects.toEqual(code("cancelled"));
      const phases = new Set<string>();
      const opened = await visitor.openShare(id, open, { onProgress: ({ phase }) => phases.add(phase) });
      expect(opened).toMatchObject({
        shareId: id,
        title: "Door",
        contentKind: "text",
        name: "secret.txt",
        mime: "text/plain",
        size: 10,
        sender: { userId: expect.any(String) as string, userName: "bruno", standing: "says", words: [] },
      });
      expect(textOf(opened)).toBe("left twice");
      expect((await opened.save(null))?.size).toBe(10);
      expect([...phases]).toEqual(expect.arrayContaining(["fetching", "passphrase"]));
      await expect(visitor.lookAtShare(id)).resolves.toEqual(offer);
      await expect(visitor.lookAtShare("../x")).rejects.toEqual(code("share_unavailable"));
    });

    it("of signed-in people says so", async () => {
      const { visitor, id } = await make({ share: { ...door, audience: "signed_in" } });
      await expect(visitor.lookAtShare(id)).resolves.toMatchObject({ audience: "signed_in" });
      await expect(visitor.openShare(id, open)).resolves.toMatchObject({ title: "Door" });
    });

    it("takes its password, a few wrong ones, and no more", async () => {
      const { visitor, id } = await make({ share: { ...door, password: "word", viewsLeft: 5 } });
      await expect(visitor.lookAtShare(id)).resolves.toMatchObject({ password: true, viewsLeft: 5 });
      for (const password of [null, ""])
        await expect(visitor.openShare(id, { ...open, password })).rejects.toEqual(
          code("validation_error", { fields: ["password"] }),
        );
      await expect(visitor.openShare(id, { ...open, password: "other" })).rejects.toEqual(
        code("wrong_password", { tries_left: maxWrongPasswords - 1 }),
      );
      await expect(visitor.openShare(id, { ...open, password: "word" })).resolves.toMatchObject({ title: "Door" });
      await expect(visitor.lookAtShare(id)).resolves.toMatchObject({ viewsLeft: 4 });
      for (let left = maxWrongPasswords - 2; left >= 0; left--)
        await expect(visitor.openShare(id, { ...open, password: "other" })).rejects.toEqual(
          code("wrong_password", { tries_left: left }),
        );
      await expect(visitor.openShare(id, { ...open, password: "word" })).rejects.toEqual(code("share_unavailable"));
      await expect(visitor.lookAtShare(id)).rejects.toEqual(code("share_unavailable"));
    });

    it("takes its picture, and a wrong one costs no view", async () => {
      const { visitor, id, shown } = await make({ share: { ...door, picture: "boat", viewsLeft: 1 } });
      await expect(visitor.lookAtShare(id)).resolves.toMatchObject({ picture: true, viewsLeft: 1 });
      await expect(visitor.openShare(id, open)).rejects.toEqual(code("picture_needed"));
      await expect(visitor.openShare(id, { ...open, picture: shown("sea") })).rejects.toEqual(code("not_this_picture"));
      const gone = shown("boat");
      visitor.forgetShown(gone);
      await expect(visitor.openShare(id, { ...open, picture: gone })).rejects.toEqual(code("picture_needed"));
      await expect(visitor.lookAtShare(id)).resolves.toMatchObject({ viewsLeft: 1 });
      expect(textOf(await visitor.openShare(id, { ...open, picture: shown("boat") }))).toBe("left twice");
      await expect(visitor.lookAtShare(id)).rejects.toEqual(code("share_unavailable"));
    });

    it("streams what is too large to be held", async () => {
      const { visitor, id } = await make({ share: { ...door, content: largeText, large: true } });
      const opened = await visitor.openShare(id, open);
      expect(opened).toMatchObject({ content: null, size: largeText.length });
      expect((await opened.save(null))?.size).toBe(largeText.length);
      opened.putAway();
      await expect(opened.save(null)).rejects.toEqual(code("vault_locked"));
    });

    it("is over when the share is", async () => {
      const { visitor, id, endLink } = await make({ share: door });
      await visitor.lookAtShare(id);
      await endLink();
      await expect(visitor.lookAtShare(id)).rejects.toEqual(code("share_unavailable"));
      await expect(visitor.openShare(id, open)).rejects.toEqual(code("share_unavailable"));
    });

    it("is over when it was closed", async () => {
      const { visitor, id } = await make({ share: door });
      await visitor.lookAtShare(id);
      visitor.close();
      await expect(visitor.lookAtShare(id)).rejects.toEqual(code("link_incomplete"));
      await expect(visitor.openShare(id, open)).rejects.toEqual(code("link_incomplete"));
    });
  });

  describe("a page opened by the link of a request", () => {
    it("says what is asked for, and answers once", async () => {
      const { visitor, id } = await make({ request: permit });
      const offer = await visitor.lookAtRequest(id);
      expect(offer).toMatchObject({
        title: "The permit",
        note: "for the notary",
        askedBy: "Alba",
        state: "awaiting",
        begun: null,
      });
      expect(offer.maxSize).toBeGreaterThanOrEqual(permit.maxSize);
      await expect(visitor.answer(id, provided("x".repeat(offer.maxSize + 100_000)))).rejects.toEqual(
        code("payload_too_large"),
      );
      await expect(visitor.answer(id, provided("number 7", { name: "" }))).rejects.toEqual(
        code("validation_error", { fields: ["name"] }),
      );
      await expect(visitor.answer(id, provided("number 7"), { signal: AbortSignal.abort() })).rejects.toEqual(
        code("cancelled"),
      );
      const progress: unknown[] = [];
      const { words, earlier } = await visitor.answer(id, provided("number 7"), {
        onProgress: ({ phase, done, total }) => progress.push([phase, done === total]),
      });
      expect(words).toHaveLength(8);
      expect(earlier).toBeUndefined();
      expect(progress).toContainEqual(["sending", true]);
      await expect(visitor.lookAtRequest(id)).resolves.toMatchObject({ state: "provided", begun: null });
      await expect(visitor.answer(id, provided("number 8"))).rejects.toEqual(code("request_closed"));
    });

    it("is over when the request is, or the page", async () => {
      const { visitor, id, endLink } = await make({ request: permit });
      await expect(visitor.lookAtRequest("../x")).rejects.toEqual(code("request_unavailable"));
      await visitor.lookAtRequest(id);
      await endLink();
      await expect(visitor.lookAtRequest(id)).rejects.toEqual(code("request_unavailable"));
      await expect(visitor.answer(id, provided("number 7"))).rejects.toEqual(code("request_unavailable"));
      visitor.close();
      await expect(visitor.lookAtRequest(id)).rejects.toEqual(code("link_incomplete"));
    });
  });
}

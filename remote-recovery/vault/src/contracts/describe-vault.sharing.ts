import { PortalError } from "@relicario/shared/errors";
import { parsePersonDetails, type NewShareInput } from "@relicario/shared/contract";

import {
  errorWithCode,
  requireFirst,
  listSecretIds,
  unknownSecretId,
  textContent,
  decodeContent,
  type CreateHarness,
} from "./describe-vault.harness.ts";

const oneSecret = { secrets: [{ title: "Deed", content: "house" }] };
const unknownShareId = "AAAAAAAAAAAAAAAAAAAAAA";
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();

function makeShareInput(secretId: string, overrides: Partial<NewShareInput> = {}): NewShareInput {
  return {
    secretId,
    to: { audience: "public" },
    expiresAt: inDays(7),
    maxViews: null,
    password: null,
    picture: null,
    notify: false,
    ...overrides,
  };
}

export function describeSharing(make: CreateHarness): void {
  describe("a link", () => {
    it("is created for a secret, and can be shown again", async () => {
      const { vault, makeHandle } = await make(oneSecret);
      const [id] = await listSecretIds(vault);
      const { shareId, link } = await vault.shares.create(makeShareInput(id), makeHandle("garden"));
      expect(link).toMatch(new RegExp(`^https://portal\\.example/shared/${shareId}#s=`));
      const summary = requireFirst(await vault.shares.list());
      expect(summary).toEqual({
        shareId,
        secretId: id,
        version: 1,
        audience: "public",
        createdAt: expect.any(String) as string,
        expiresAt: summary.expiresAt,
        revokedAt: null,
      });
      await expect(vault.shares.listForSecret(id)).resolves.toEqual([
        {
          ...summary,
          person: null,
          hasPassword: false,
          hasPicture: false,
          views: 0,
          maxViews: null,
          lastOpenedAt: null,
          state: "live",
          outdated: false,
          discrepancy: null,
        },
      ]);
      await expect(vault.shares.getLink(shareId, null)).resolves.toBe(link);
      await expect(vault.shares.getLink(shareId, makeHandle("sea"))).rejects.toEqual(errorWithCode("not_this_picture"));
      await expect(vault.shares.getLink(unknownShareId, null)).rejects.toEqual(errorWithCode("not_found"));
      const otherShare = await vault.shares.create(
        makeShareInput(id, {
          to: { audience: "signed_in" },
          maxViews: 3,
          password: "nine stones",
          picture: makeHandle("boat"),
        }),
        makeHandle("garden"),
      );
      expect(otherShare.link).toContain(`/p-shared/${otherShare.shareId}#s=`);
      const [newest, older] = await vault.shares.listForSecret(id);
      expect(newest).toMatchObject({
        shareId: otherShare.shareId,
        audience: "signed_in",
        hasPassword: true,
        hasPicture: true,
        maxViews: 3,
      });
      expect(older).toMatchObject({ shareId });
      expect((await vault.shares.list()).map((share) => share.shareId)).toEqual([otherShare.shareId, shareId]);
    });

    it("refuses other pictures, invalid dates and limits, and an opener as its picture", async () => {
      const { vault, makeHandle } = await make(oneSecret);
      const [id] = await listSecretIds(vault);
      const opener = makeHandle("garden");
      await expect(vault.shares.create(makeShareInput(id), makeHandle("sea"))).rejects.toEqual(
        errorWithCode("not_this_picture"),
      );
      await expect(vault.shares.create(makeShareInput(unknownSecretId), opener)).rejects.toEqual(
        errorWithCode("not_found"),
      );
      await expect(vault.shares.create(makeShareInput(id, { expiresAt: inDays(31) }), opener)).rejects.toEqual(
        errorWithCode("validation_error", { fields: ["expires_at"] }),
      );
      await expect(
        vault.shares.create(makeShareInput(id, { expiresAt: inDays(-1), maxViews: 0 }), opener),
      ).rejects.toEqual(errorWithCode("validation_error", { fields: ["expires_at", "max_views"] }));
      await expect(vault.shares.create(makeShareInput(id, { picture: makeHandle("garden") }), opener)).rejects.toEqual(
        errorWithCode("picture_is_opener"),
      );
      await vault.trash(id);
      await expect(vault.shares.create(makeShareInput(id), opener)).rejects.toEqual(errorWithCode("not_found"));
      await expect(vault.shares.list()).resolves.toEqual([]);
    });

    it("changes its expiry and its limit of views", async () => {
      const { vault, makeHandle } = await make(oneSecret);
      const [id] = await listSecretIds(vault);
      const { shareId } = await vault.shares.create(makeShareInput(id), makeHandle("garden"));
      const expiresAt = inDays(20);
      await vault.shares.change(shareId, { expiresAt, maxViews: 5 });
      await vault.shares.change(shareId, {});
      await expect(vault.shares.listForSecret(id)).resolves.toMatchObject([{ expiresAt, maxViews: 5 }]);
      await vault.shares.change(shareId, { maxViews: null });
      await expect(vault.shares.listForSecret(id)).resolves.toMatchObject([{ expiresAt, maxViews: null }]);
      await expect(vault.shares.change(shareId, { expiresAt: inDays(31) })).rejects.toEqual(
        errorWithCode("validation_error", { fields: ["expires_at"] }),
      );
      await expect(vault.shares.change(shareId, { maxViews: 1.5 })).rejects.toEqual(
        errorWithCode("validation_error", { fields: ["max_views"] }),
      );
      await expect(vault.shares.change(unknownShareId, { maxViews: 1 })).rejects.toEqual(errorWithCode("not_found"));
    });

    it("keeps its version until its content is updated", async () => {
      const { vault, makeHandle } = await make(oneSecret);
      const [id] = await listSecretIds(vault);
      const { shareId } = await vault.shares.create(makeShareInput(id), makeHandle("garden"));
      await vault.update(id, { baseVersion: 1, content: textContent("flat") });
      await expect(vault.shares.listForSecret(id)).resolves.toMatchObject([{ version: 1, outdated: true }]);
      await expect(vault.shares.updateContent(shareId, makeHandle("sea"))).rejects.toEqual(
        errorWithCode("not_this_picture"),
      );
      await expect(vault.shares.updateContent(unknownShareId, makeHandle("garden"))).rejects.toEqual(
        errorWithCode("not_found"),
      );
      vault.keepOpen.set("every_time");
      await expect(vault.shares.updateContent(shareId, null)).rejects.toEqual(errorWithCode("show_opener_first"));
      vault.keepOpen.set("five_minutes");
      await vault.unlock(makeHandle("garden"));
      await vault.shares.updateContent(shareId, null);
      await expect(vault.shares.listForSecret(id)).resolves.toMatchObject([
        { version: 2, outdated: false, discrepancy: null },
      ]);
      const newerShare = await vault.shares.create(makeShareInput(id), makeHandle("garden"));
      expect((await vault.shares.list()).find((share) => share.shareId === newerShare.shareId)).toMatchObject({
        version: 2,
      });
    });

    it("is revoked for good", async () => {
      const { vault, makeHandle } = await make(oneSecret);
      const [id] = await listSecretIds(vault);
      const { shareId } = await vault.shares.create(makeShareInput(id), makeHandle("garden"));
      await vault.shares.revoke(shareId);
      await vault.shares.revoke(shareId);
      await vault.shares.revoke(unknownShareId);
      await expect(vault.shares.revoke("../x")).rejects.toEqual(errorWithCode("not_found"));
      await expect(vault.shares.listForSecret(id)).resolves.toEqual([]);
      await expect(vault.shares.listForSecret(id, { includeEnded: true })).resolves.toMatchObject([
        { shareId, state: "revoked", revokedAt: expect.any(String) as string, discrepancy: null },
      ]);
      await expect(vault.shares.list()).resolves.toMatchObject([{ shareId, revokedAt: expect.any(String) as string }]);
      await expect(vault.shares.getLink(shareId, makeHandle("garden"))).rejects.toEqual(
        errorWithCode("share_unavailable"),
      );
      await expect(vault.shares.change(shareId, { maxViews: 1 })).rejects.toEqual(errorWithCode("share_unavailable"));
      await expect(vault.shares.updateContent(shareId, makeHandle("garden"))).rejects.toEqual(
        errorWithCode("share_unavailable"),
      );
      await expect(vault.shares.listForSecret(unknownSecretId)).rejects.toEqual(errorWithCode("not_found"));
    });

    it("ends when its secret is trashed or its version removed", async () => {
      const { vault, makeHandle } = await make({
        secrets: [
          { title: "Deed", content: "house" },
          { title: "Key", content: "door" },
        ],
      });
      const [deedId, keyId = ""] = await listSecretIds(vault);
      await vault.shares.create(makeShareInput(deedId), makeHandle("garden"));
      await vault.shares.create(makeShareInput(keyId), makeHandle("garden"));
      await vault.trash(deedId);
      await vault.restore(deedId);
      await expect(vault.shares.listForSecret(deedId)).resolves.toEqual([]);
      await expect(vault.shares.listForSecret(deedId, { includeEnded: true })).resolves.toMatchObject([
        { state: "revoked", discrepancy: null },
      ]);
      await vault.update(keyId, { baseVersion: 1, content: textContent("gate") });
      await vault.removeVersions(keyId, [1]);
      expect((await vault.shares.list()).map(({ revokedAt }) => revokedAt)).toEqual([
        expect.any(String),
        expect.any(String),
      ]);
    });
  });

  describe("people", () => {
    it("are found by name, and pinned by their safety words", async () => {
      const { vault, makeHandle } = await make({
        ...oneSecret,
        people: [{ userName: "bruno" }, { userName: "carla" }],
      });
      const bruno = await vault.people.find("bruno");
      expect(bruno).toEqual({
        userId: expect.any(String) as string,
        userName: "bruno",
        safetyWords: expect.any(Array) as string[],
        trust: "unknown",
        formerSafetyWords: null,
        formerName: null,
        blocked: false,
      });
      expect(bruno.safetyWords).toHaveLength(8);
      await expect(vault.people.find("Bruno")).resolves.toMatchObject({
        userId: bruno.userId,
        userName: "Bruno",
        trust: "unknown",
      });
      await expect(vault.people.find("nobody")).rejects.toEqual(errorWithCode("not_found"));
      await expect(vault.people.list()).resolves.toEqual([]);
      const carla = await vault.people.find("carla");
      expect(carla.safetyWords).not.toEqual(bruno.safetyWords);
      await vault.unlock(makeHandle("garden"));
      await expect(vault.people.pin({ ...bruno, safetyWords: carla.safetyWords })).rejects.toEqual(
        errorWithCode("person_changed"),
      );
      await expect(vault.people.setCompared(bruno.userId, true)).rejects.toEqual(errorWithCode("not_found"));
      await vault.people.pin(bruno);
      await vault.people.pin(carla);
      await vault.people.pin(bruno);
      await expect(vault.people.list()).resolves.toEqual([
        { ...carla, trust: "known", pinnedAt: expect.any(String) as string },
        { ...bruno, trust: "known", pinnedAt: expect.any(String) as string },
      ]);
      await vault.people.setCompared(bruno.userId, true);
      await expect(vault.people.find("bruno")).resolves.toMatchObject({ trust: "compared", formerSafetyWords: null });
      await vault.people.pin(bruno);
      await expect(vault.people.find("bruno")).resolves.toMatchObject({ trust: "compared" });
      await vault.people.setCompared(bruno.userId, false);
      await expect(vault.people.find("bruno")).resolves.toMatchObject({ trust: "known" });
    });

    it("are blocked, pinned or not", async () => {
      const { vault, makeHandle } = await make({ ...oneSecret, people: [{ userName: "bruno" }] });
      const bruno = await vault.people.find("bruno");
      await vault.unlock(makeHandle("garden"));
      await expect(vault.people.setBlocked(bruno, false)).rejects.toEqual(errorWithCode("not_found"));
      await expect(vault.people.setBlocked({ ...bruno, safetyWords: [] }, true)).rejects.toEqual(
        errorWithCode("person_changed"),
      );
      await vault.people.setBlocked(bruno, true);
      await expect(vault.people.find("bruno")).resolves.toMatchObject({ trust: "known", blocked: true });
      await expect(vault.people.list()).resolves.toMatchObject([{ userName: "bruno", blocked: true }]);
      await vault.people.setBlocked(bruno, false);
      await expect(vault.people.list()).resolves.toMatchObject([{ userName: "bruno", blocked: false }]);
    });

    it("see the safety words of this account", async () => {
      const { vault } = await make(oneSecret);
      const { userName, safetyWords } = await vault.people.getOwnSafetyWords();
      expect(userName).toBe("alba");
      expect(safetyWords).toHaveLength(8);
    });

    it("who receive a share are pinned, and need no link", async () => {
      const { vault, makeHandle } = await make({ ...oneSecret, people: [{ userName: "bruno" }] });
      const [id] = await listSecretIds(vault);
      const person = await vault.people.find("bruno");
      await expect(
        vault.shares.create(
          makeShareInput(id, { to: { audience: "person", person }, password: "x", picture: makeHandle("boat") }),
          makeHandle("garden"),
        ),
      ).rejects.toEqual(errorWithCode("validation_error", { fields: ["password", "picture"] }));
      await expect(
        vault.shares.create(
          makeShareInput(id, { to: { audience: "person", person: { ...person, safetyWords: [] } } }),
          makeHandle("garden"),
        ),
      ).rejects.toEqual(errorWithCode("person_changed"));
      const { shareId, link } = await vault.shares.create(
        makeShareInput(id, { to: { audience: "person", person } }),
        makeHandle("garden"),
      );
      expect(link).toBeNull();
      await expect(vault.people.list()).resolves.toMatchObject([{ userName: "bruno", trust: "known" }]);
      await expect(vault.shares.listForSecret(id)).resolves.toMatchObject([
        { shareId, audience: "person", person: { userId: person.userId } },
      ]);
      await expect(vault.shares.getLink(shareId, null)).resolves.toBe(`https://portal.example/p-shared/${shareId}`);
    });

    it.each([undefined, "bea"])(
      "whose keys or name have changed receive no share (former name: %s)",
      async (formerName) => {
        const { vault, makeHandle } = await make({
          ...oneSecret,
          people: [{ userName: "bruno", trust: "changed", ...(formerName === undefined ? {} : { formerName }) }],
        });
        const [id] = await listSecretIds(vault);
        const person = await vault.people.find("bruno");
        expect(person).toMatchObject({ userName: "bruno", trust: "changed", formerName: formerName ?? null });
        const formerSafetyWords = person.formerSafetyWords ?? [];
        expect(formerSafetyWords).toHaveLength(8);
        // a new name comes with the same keys
        expect(formerSafetyWords.join(" ") === person.safetyWords.join(" ")).toBe(formerName !== undefined);
        await expect(vault.people.list()).resolves.toMatchObject([
          {
            userName: formerName ?? "bruno",
            safetyWords: formerSafetyWords,
            trust: "known",
            formerSafetyWords: null,
            formerName: null,
          },
        ]);
        await expect(
          vault.shares.create(makeShareInput(id, { to: { audience: "person", person } }), makeHandle("garden")),
        ).rejects.toEqual(errorWithCode("person_changed"));
        await vault.people.pin(person);
        await expect(vault.people.list()).resolves.toMatchObject([
          { userName: "bruno", safetyWords: person.safetyWords, trust: "known" },
        ]);
        await expect(vault.people.find("bruno")).resolves.toMatchObject({
          trust: "known",
          formerSafetyWords: null,
          formerName: null,
        });
      },
    );
  });

  describe("received shares", () => {
    const received = [{ title: "Door", content: "left twice", from: "bruno" }];

    it("from a stranger open after the stranger's safety words are accepted", async () => {
      const { vault, makeHandle } = await make({ ...oneSecret, received });
      const row = requireFirst(await vault.received.list());
      expect(row).toEqual({
        shareId: expect.any(String) as string,
        from: { userId: expect.any(String) as string, userName: "bruno", trust: "unknown", blocked: false },
        audience: "person",
        createdAt: expect.any(String) as string,
        expiresAt: expect.any(String) as string,
        openedAt: null,
        viewsLeft: null,
        available: true,
      });
      await expect(vault.received.open(row.shareId, null)).rejects.toEqual(errorWithCode("show_opener_first"));
      await expect(vault.received.open(row.shareId, makeHandle("sea"))).rejects.toEqual(
        errorWithCode("not_this_picture"),
      );
      const unknownPersonError = await expectRefusal(vault.received.open(row.shareId, makeHandle("garden")));
      expect(unknownPersonError.code).toBe("person_unknown");
      const { safetyWords } = await vault.people.find("bruno");
      expect(parsePersonDetails(unknownPersonError)).toEqual({
        userId: row.from.userId,
        userName: "bruno",
        safetyWords,
        formerSafetyWords: null,
        formerName: null,
      });
      await expect(vault.received.open(row.shareId, null, { acceptedWords: ["other"] })).rejects.toEqual(
        errorWithCode("person_unknown"),
      );
      await expect(vault.received.list()).resolves.toMatchObject([{ openedAt: null }]);
      const opened = await vault.received.open(row.shareId, null, { acceptedWords: safetyWords });
      expect(opened).toMatchObject({
        shareId: row.shareId,
        title: "Door",
        contentKind: "text",
        name: "secret.txt",
        mime: "text/plain",
        size: 10,
        sender: { userId: row.from.userId, userName: "bruno", trust: "known", safetyWords },
      });
      expect(await decodeContent(opened)).toBe("left twice");
      await expect(vault.received.list()).resolves.toMatchObject([
        { from: { trust: "known" }, openedAt: expect.any(String) as string },
      ]);
      await expect(vault.people.list()).resolves.toMatchObject([{ userName: "bruno" }]);
      await vault.received.open(row.shareId, null);
      await vault.people.setCompared(row.from.userId, true);
      await expect(vault.received.open(row.shareId, null)).resolves.toMatchObject({ sender: { trust: "compared" } });
    });

    it("are listed while locked with the service's claims, and unlock with an opener", async () => {
      const { vault, makeHandle } = await make({
        ...oneSecret,
        people: [{ userName: "bruno", trust: "known" }],
        received,
        unlocked: false,
      });
      const { shareId, from } = requireFirst(await vault.received.list());
      expect(from).toMatchObject({ userName: "bruno", trust: "unknown", blocked: false });
      await expect(vault.received.open(shareId, makeHandle("garden"))).resolves.toMatchObject({ title: "Door" });
      await expect(vault.received.list()).resolves.toMatchObject([{ from: { trust: "known" } }]);
    });

    it("count their views", async () => {
      const { vault, makeHandle } = await make({
        ...oneSecret,
        people: [{ userName: "bruno", trust: "known" }],
        received: [{ ...requireFirst(received), viewsLeft: 2 }],
      });
      const { shareId, viewsLeft } = requireFirst(await vault.received.list());
      expect(viewsLeft).toBe(2);
      await vault.received.open(shareId, makeHandle("garden"));
      await expect(vault.received.list()).resolves.toMatchObject([{ viewsLeft: 1, available: true }]);
      await vault.received.open(shareId, null);
      await expect(vault.received.list()).resolves.toEqual([]);
      await expect(vault.received.list({ includeEnded: true })).resolves.toMatchObject([
        { shareId, viewsLeft: 0, available: false },
      ]);
      await expect(vault.received.open(shareId, null)).rejects.toEqual(errorWithCode("share_unavailable"));
    });

    it("are refused when revoked or unknown", async () => {
      const { vault, makeHandle } = await make({
        ...oneSecret,
        received: [{ ...requireFirst(received), available: false }],
      });
      await expect(vault.received.list()).resolves.toEqual([]);
      const { shareId } = requireFirst(await vault.received.list({ includeEnded: true }));
      for (const id of [shareId, unknownShareId, "../x"])
        await expect(vault.received.open(id, makeHandle("garden"))).rejects.toEqual(errorWithCode("share_unavailable"));
    });

    it.each([undefined, "bea"])("are refused when the sender has changed (former name: %s)", async (formerName) => {
      const { vault, makeHandle } = await make({
        ...oneSecret,
        people: [{ userName: "bruno", trust: "changed", ...(formerName === undefined ? {} : { formerName }) }],
        received,
      });
      const { shareId, from } = requireFirst(await vault.received.list());
      expect(from).toMatchObject({
        userName: formerName ?? "bruno",
        trust: formerName === undefined ? "known" : "changed",
      }); // listing does not query the key directory
      const changedPersonError = await expectRefusal(vault.received.open(shareId, makeHandle("garden")));
      expect(changedPersonError.code).toBe("person_changed");
      const { userId, userName, safetyWords, formerSafetyWords } = await vault.people.find("bruno");
      expect(parsePersonDetails(changedPersonError)).toEqual({
        userId,
        userName,
        safetyWords,
        formerSafetyWords,
        formerName: formerName ?? null,
      });
      await vault.people.pin({ userId, userName, safetyWords });
      await expect(vault.received.open(shareId, null)).resolves.toMatchObject({
        sender: { userName: "bruno", trust: "known" },
      });
    });

    it("are refused when the sender is blocked", async () => {
      const { vault, makeHandle } = await make({
        ...oneSecret,
        people: [{ userName: "bruno", trust: "known", blocked: true }],
        received,
      });
      const { shareId, from } = requireFirst(await vault.received.list());
      expect(from).toMatchObject({ trust: "known", blocked: true });
      const blockedPersonError = await expectRefusal(vault.received.open(shareId, makeHandle("garden")));
      expect(blockedPersonError.code).toBe("person_blocked");
      const { userId, userName, safetyWords } = await vault.people.find("bruno");
      expect(parsePersonDetails(blockedPersonError)).toEqual({
        userId,
        userName,
        safetyWords,
        formerSafetyWords: null,
        formerName: null,
      });
      await vault.people.setBlocked({ userId, userName, safetyWords }, false);
      await expect(vault.received.open(shareId, null)).resolves.toMatchObject({ title: "Door" });
    });
  });
}

async function expectRefusal(openCall: Promise<unknown>): Promise<PortalError> {
  const error: unknown = await openCall.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof PortalError) return error;
  throw new TypeError("expected the call to be refused");
}

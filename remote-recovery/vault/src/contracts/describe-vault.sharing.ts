import { PortalError } from "@relicario/shared/errors";
import { personDetails, type ShareRequest, type Vault } from "@relicario/shared/contract";

import { code, first, idsOf, nowhere, textContent, textOf, type MakeStage } from "./describe-vault.stage.ts";

const deed = { secrets: [{ title: "Deed", content: "house" }] };
const none = "AAAAAAAAAAAAAAAAAAAAAA";
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();

function link(secretId: string, more: Partial<ShareRequest> = {}): ShareRequest {
  return {
    secretId,
    to: { audience: "public" },
    expiresAt: inDays(7),
    maxViews: null,
    password: null,
    picture: null,
    notify: false,
    ...more,
  };
}

export function describeSharing(make: MakeStage): void {
  describe("a link", () => {
    it("is made of a secret, and shown once more", async () => {
      const { vault, shown } = await make(deed);
      const [id] = await idsOf(vault);
      const { shareId, link: address } = await vault.shares.create(link(id), shown("garden"));
      expect(address).toMatch(new RegExp(`^https://portal\\.example/shared/${shareId}#s=`));
      const mark = first(await vault.shares.all());
      expect(mark).toEqual({
        shareId,
        secretId: id,
        version: 1,
        audience: "public",
        createdAt: expect.any(String) as string,
        expiresAt: mark.expiresAt,
        revokedAt: null,
      });
      await expect(vault.shares.ofSecret(id)).resolves.toEqual([
        {
          ...mark,
          person: null,
          password: false,
          picture: false,
          views: 0,
          maxViews: null,
          lastOpenedAt: null,
          state: "live",
          outdated: false,
          doubt: null,
        },
      ]);
      await expect(vault.shares.showLink(shareId, null)).resolves.toBe(address);
      await expect(vault.shares.showLink(shareId, shown("sea"))).rejects.toEqual(code("not_this_picture"));
      await expect(vault.shares.showLink(none, null)).rejects.toEqual(code("not_found"));
      const other = await vault.shares.create(
        link(id, { to: { audience: "signed_in" }, maxViews: 3, password: "word", picture: shown("boat") }),
        shown("garden"),
      );
      expect(other.link).toContain(`/p-shared/${other.shareId}#s=`);
      const [newest, before] = await vault.shares.ofSecret(id);
      expect(newest).toMatchObject({
        shareId: other.shareId,
        audience: "signed_in",
        password: true,
        picture: true,
        maxViews: 3,
      });
      expect(before).toMatchObject({ shareId });
      expect((await vault.shares.all()).map((one) => one.shareId)).toEqual([other.shareId, shareId]);
    });

    it("takes an opener of the secret, dates and limits that fit, and no opener as its picture", async () => {
      const { vault, shown } = await make(deed);
      const [id] = await idsOf(vault);
      const by = shown("garden");
      await expect(vault.shares.create(link(id), shown("sea"))).rejects.toEqual(code("not_this_picture"));
      await expect(vault.shares.create(link(nowhere), by)).rejects.toEqual(code("not_found"));
      await expect(vault.shares.create(link(id, { expiresAt: inDays(31) }), by)).rejects.toEqual(
        code("validation_error", { fields: ["expires_at"] }),
      );
      await expect(vault.shares.create(link(id, { expiresAt: inDays(-1), maxViews: 0 }), by)).rejects.toEqual(
        code("validation_error", { fields: ["expires_at", "max_views"] }),
      );
      await expect(vault.shares.create(link(id, { picture: shown("garden") }), by)).rejects.toEqual(
        code("picture_is_opener"),
      );
      await vault.trash(id);
      await expect(vault.shares.create(link(id), by)).rejects.toEqual(code("not_found"));
      await expect(vault.shares.all()).resolves.toEqual([]);
    });

    it("is prolonged and limited", async () => {
      const { vault, shown } = await make(deed);
      const [id] = await idsOf(vault);
      const { shareId } = await vault.shares.create(link(id), shown("garden"));
      const expiresAt = inDays(20);
      await vault.shares.change(shareId, { expiresAt, maxViews: 5 });
      await vault.shares.change(shareId, {});
      await expect(vault.shares.ofSecret(id)).resolves.toMatchObject([{ expiresAt, maxViews: 5 }]);
      await vault.shares.change(shareId, { maxViews: null });
      await expect(vault.shares.ofSecret(id)).resolves.toMatchObject([{ expiresAt, maxViews: null }]);
      await expect(vault.shares.change(shareId, { expiresAt: inDays(31) })).rejects.toEqual(
        code("validation_error", { fields: ["expires_at"] }),
      );
      await expect(vault.shares.change(shareId, { maxViews: 1.5 })).rejects.toEqual(
        code("validation_error", { fields: ["max_views"] }),
      );
      await expect(vault.shares.change(none, { maxViews: 1 })).rejects.toEqual(code("not_found"));
    });

    it("shows the version that it was made of, until it is brought up to date", async () => {
      const { vault, shown } = await make(deed);
      const [id] = await idsOf(vault);
      const { shareId } = await vault.shares.create(link(id), shown("garden"));
      await vault.update(id, { baseVersion: 1, content: textContent("flat") });
      await expect(vault.shares.ofSecret(id)).resolves.toMatchObject([{ version: 1, outdated: true }]);
      await expect(vault.shares.updateContent(shareId, shown("sea"))).rejects.toEqual(code("not_this_picture"));
      await expect(vault.shares.updateContent(none, shown("garden"))).rejects.toEqual(code("not_found"));
      await vault.shares.updateContent(shareId, shown("garden"));
      await expect(vault.shares.ofSecret(id)).resolves.toMatchObject([{ version: 2, outdated: false, doubt: null }]);
      const newer = await vault.shares.create(link(id), shown("garden"));
      expect((await vault.shares.all()).find((one) => one.shareId === newer.shareId)).toMatchObject({ version: 2 });
    });

    it("is revoked for good", async () => {
      const { vault, shown } = await make(deed);
      const [id] = await idsOf(vault);
      const { shareId } = await vault.shares.create(link(id), shown("garden"));
      await vault.shares.revoke(shareId);
      await vault.shares.revoke(shareId);
      await vault.shares.revoke(none);
      await expect(vault.shares.revoke("../x")).rejects.toEqual(code("not_found"));
      await expect(vault.shares.ofSecret(id)).resolves.toEqual([]);
      await expect(vault.shares.ofSecret(id, { ended: true })).resolves.toMatchObject([
        { shareId, state: "revoked", revokedAt: expect.any(String) as string, doubt: null },
      ]);
      await expect(vault.shares.all()).resolves.toMatchObject([{ shareId, revokedAt: expect.any(String) as string }]);
      await expect(vault.shares.showLink(shareId, shown("garden"))).rejects.toEqual(code("share_unavailable"));
      await expect(vault.shares.change(shareId, { maxViews: 1 })).rejects.toEqual(code("share_unavailable"));
      await expect(vault.shares.updateContent(shareId, shown("garden"))).rejects.toEqual(code("share_unavailable"));
      await expect(vault.shares.ofSecret(nowhere)).rejects.toEqual(code("not_found"));
    });

    it("ends with its secret, or with the version that it shows", async () => {
      const { vault, shown } = await make({
        secrets: [
          { title: "Deed", content: "house" },
          { title: "Key", content: "door" },
        ],
      });
      const [deedId, keyId = ""] = await idsOf(vault);
      await vault.shares.create(link(deedId), shown("garden"));
      await vault.shares.create(link(keyId), shown("garden"));
      await vault.trash(deedId);
      await vault.restore(deedId);
      await expect(vault.shares.ofSecret(deedId)).resolves.toEqual([]);
      await expect(vault.shares.ofSecret(deedId, { ended: true })).resolves.toMatchObject([
        { state: "revoked", doubt: null },
      ]);
      await vault.update(keyId, { baseVersion: 1, content: textContent("gate") });
      await vault.removeVersions(keyId, [1]);
      expect((await vault.shares.all()).map(({ revokedAt }) => revokedAt)).toEqual([
        expect.any(String),
        expect.any(String),
      ]);
    });
  });

  describe("people", () => {
    it("are found by name, and pinned by their words", async () => {
      const { vault } = await make({ ...deed, people: [{ userName: "bruno" }, { userName: "carla" }] });
      const bruno = await vault.people.find("bruno");
      expect(bruno).toEqual({
        userId: expect.any(String) as string,
        userName: "bruno",
        words: expect.any(Array) as string[],
        standing: "unknown",
        formerWords: null,
        formerName: null,
        blocked: false,
      });
      expect(bruno.words).toHaveLength(8);
      await expect(vault.people.find("Bruno")).resolves.toMatchObject({
        userId: bruno.userId,
        userName: "Bruno",
        standing: "unknown",
      });
      await expect(vault.people.find("nobody")).rejects.toEqual(code("not_found"));
      await expect(vault.people.list()).resolves.toEqual([]);
      const carla = await vault.people.find("carla");
      expect(carla.words).not.toEqual(bruno.words);
      await expect(vault.people.pin({ ...bruno, words: carla.words })).rejects.toEqual(code("person_changed"));
      await expect(vault.people.setCompared(bruno.userId, true)).rejects.toEqual(code("not_found"));
      await vault.people.pin(bruno);
      await vault.people.pin(carla);
      await vault.people.pin(bruno);
      await expect(vault.people.list()).resolves.toEqual([
        { ...carla, standing: "known", pinnedAt: expect.any(String) as string },
        { ...bruno, standing: "known", pinnedAt: expect.any(String) as string },
      ]);
      await vault.people.setCompared(bruno.userId, true);
      await expect(vault.people.find("bruno")).resolves.toMatchObject({ standing: "compared", formerWords: null });
      await vault.people.pin(bruno);
      await expect(vault.people.find("bruno")).resolves.toMatchObject({ standing: "compared" });
      await vault.people.setCompared(bruno.userId, false);
      await expect(vault.people.find("bruno")).resolves.toMatchObject({ standing: "known" });
    });

    it("are blocked, pinned or not", async () => {
      const { vault } = await make({ ...deed, people: [{ userName: "bruno" }] });
      const bruno = await vault.people.find("bruno");
      await expect(vault.people.setBlocked(bruno, false)).rejects.toEqual(code("not_found"));
      await expect(vault.people.setBlocked({ ...bruno, words: [] }, true)).rejects.toEqual(code("person_changed"));
      await vault.people.setBlocked(bruno, true);
      await expect(vault.people.find("bruno")).resolves.toMatchObject({ standing: "known", blocked: true });
      await expect(vault.people.list()).resolves.toMatchObject([{ userName: "bruno", blocked: true }]);
      await vault.people.setBlocked(bruno, false);
      await expect(vault.people.list()).resolves.toMatchObject([{ userName: "bruno", blocked: false }]);
    });

    it("know this account by its words", async () => {
      const { vault } = await make(deed);
      const { userName, words } = await vault.people.mine();
      expect(userName).toBe("alba");
      expect(words).toHaveLength(8);
    });

    it("who are given a secret are pinned, and need no link", async () => {
      const { vault, shown } = await make({ ...deed, people: [{ userName: "bruno" }] });
      const [id] = await idsOf(vault);
      const person = await vault.people.find("bruno");
      await expect(
        vault.shares.create(
          link(id, { to: { audience: "person", person }, password: "x", picture: shown("boat") }),
          shown("garden"),
        ),
      ).rejects.toEqual(code("validation_error", { fields: ["password", "picture"] }));
      await expect(
        vault.shares.create(
          link(id, { to: { audience: "person", person: { ...person, words: [] } } }),
          shown("garden"),
        ),
      ).rejects.toEqual(code("person_changed"));
      const { shareId, link: address } = await vault.shares.create(
        link(id, { to: { audience: "person", person } }),
        shown("garden"),
      );
      expect(address).toBeNull();
      await expect(vault.people.list()).resolves.toMatchObject([{ userName: "bruno", standing: "known" }]);
      await expect(vault.shares.ofSecret(id)).resolves.toMatchObject([
        { shareId, audience: "person", person: { userId: person.userId } },
      ]);
      await expect(vault.shares.showLink(shareId, null)).resolves.toBe(`https://portal.example/p-shared/${shareId}`);
    });

    it.each([undefined, "bea"])(
      "with other keys, or another name, stop before anything is sealed (former name: %s)",
      async (formerName) => {
        const { vault, shown } = await make({
          ...deed,
          people: [{ userName: "bruno", standing: "changed", ...(formerName === undefined ? {} : { formerName }) }],
        });
        const [id] = await idsOf(vault);
        const found = await vault.people.find("bruno");
        expect(found).toMatchObject({ userName: "bruno", standing: "changed", formerName: formerName ?? null });
        const formerWords = found.formerWords ?? [];
        expect(formerWords).toHaveLength(8);
        // another name has the same keys
        expect(formerWords.join(" ") === found.words.join(" ")).toBe(formerName !== undefined);
        await expect(vault.people.list()).resolves.toMatchObject([
          {
            userName: formerName ?? "bruno",
            words: formerWords,
            standing: "known",
            formerWords: null,
            formerName: null,
          },
        ]);
        await expect(
          vault.shares.create(link(id, { to: { audience: "person", person: found } }), shown("garden")),
        ).rejects.toEqual(code("person_changed"));
        await vault.people.pin(found);
        await expect(vault.people.list()).resolves.toMatchObject([
          { userName: "bruno", words: found.words, standing: "known" },
        ]);
        await expect(vault.people.find("bruno")).resolves.toMatchObject({
          standing: "known",
          formerWords: null,
          formerName: null,
        });
      },
    );
  });

  describe("what others shared", () => {
    const received = [{ title: "Door", content: "left twice", from: "bruno" }];

    it("of a stranger opens once their words are accepted", async () => {
      const { vault, shown } = await make({ ...deed, received });
      const row = first(await vault.received.list());
      expect(row).toEqual({
        shareId: expect.any(String) as string,
        from: { userId: expect.any(String) as string, userName: "bruno", standing: "unknown", blocked: false },
        audience: "person",
        createdAt: expect.any(String) as string,
        expiresAt: expect.any(String) as string,
        openedAt: null,
        viewsLeft: null,
        available: true,
      });
      await expect(vault.received.open(row.shareId, null)).rejects.toEqual(code("show_opener_first"));
      await expect(vault.received.open(row.shareId, shown("sea"))).rejects.toEqual(code("not_this_picture"));
      const unknown = await refusal(vault.received.open(row.shareId, shown("garden")));
      expect(unknown.code).toBe("person_unknown");
      const { words } = await vault.people.find("bruno");
      expect(personDetails(unknown)).toEqual({
        userId: row.from.userId,
        userName: "bruno",
        words,
        formerWords: null,
        formerName: null,
      });
      await expect(vault.received.open(row.shareId, null, { accept: ["other"] })).rejects.toEqual(
        code("person_unknown"),
      );
      await expect(vault.received.list()).resolves.toMatchObject([{ openedAt: null }]);
      const opened = await vault.received.open(row.shareId, null, { accept: words });
      expect(opened).toMatchObject({
        shareId: row.shareId,
        title: "Door",
        contentKind: "text",
        name: "secret.txt",
        mime: "text/plain",
        size: 10,
        sender: { userId: row.from.userId, userName: "bruno", standing: "known", words },
      });
      expect(textOf(opened)).toBe("left twice");
      expect((await opened.save(null))?.size).toBe(10);
      await expect(vault.received.list()).resolves.toMatchObject([
        { from: { standing: "known" }, openedAt: expect.any(String) as string },
      ]);
      await expect(vault.people.list()).resolves.toMatchObject([{ userName: "bruno" }]);
      await vault.received.open(row.shareId, null);
      await vault.people.setCompared(row.from.userId, true);
      await expect(vault.received.open(row.shareId, null)).resolves.toMatchObject({ sender: { standing: "compared" } });
    });

    it("is listed under the lock by the service's word, and unlocks with its opener", async () => {
      const { vault, shown } = await make({
        ...deed,
        people: [{ userName: "bruno", standing: "known" }],
        received,
        unlocked: false,
      });
      const { shareId, from } = first(await vault.received.list());
      expect(from).toMatchObject({ userName: "bruno", standing: "unknown", blocked: false });
      await expect(vault.received.open(shareId, shown("garden"))).resolves.toMatchObject({ title: "Door" });
      await expect(vault.received.list()).resolves.toMatchObject([{ from: { standing: "known" } }]);
    });

    it("has as many views as it was given", async () => {
      const { vault, shown } = await make({
        ...deed,
        people: [{ userName: "bruno", standing: "known" }],
        received: [{ ...first(received), viewsLeft: 2 }],
      });
      const { shareId, viewsLeft } = first(await vault.received.list());
      expect(viewsLeft).toBe(2);
      await vault.received.open(shareId, shown("garden"));
      await expect(vault.received.list()).resolves.toMatchObject([{ viewsLeft: 1, available: true }]);
      await vault.received.open(shareId, null);
      await expect(vault.received.list()).resolves.toEqual([]);
      await expect(vault.received.list({ ended: true })).resolves.toMatchObject([
        { shareId, viewsLeft: 0, available: false },
      ]);
      await expect(vault.received.open(shareId, null)).rejects.toEqual(code("share_unavailable"));
    });

    it("is over when it was revoked, and none of another id", async () => {
      const { vault, shown } = await make({ ...deed, received: [{ ...first(received), available: false }] });
      await expect(vault.received.list()).resolves.toEqual([]);
      const { shareId } = first(await vault.received.list({ ended: true }));
      for (const id of [shareId, none, "../x"])
        await expect(vault.received.open(id, shown("garden"))).rejects.toEqual(code("share_unavailable"));
    });

    it.each([undefined, "bea"])("stops at a sender who has changed (former name: %s)", async (formerName) => {
      const { vault, shown } = await make({
        ...deed,
        people: [{ userName: "bruno", standing: "changed", ...(formerName === undefined ? {} : { formerName }) }],
        received,
      });
      const { shareId, from } = first(await vault.received.list());
      expect(from).toMatchObject({
        userName: formerName ?? "bruno",
        standing: formerName === undefined ? "known" : "changed",
      }); // the list asks no directory
      const changed = await refusal(vault.received.open(shareId, shown("garden")));
      expect(changed.code).toBe("person_changed");
      const { userId, userName, words, formerWords } = await vault.people.find("bruno");
      expect(personDetails(changed)).toEqual({ userId, userName, words, formerWords, formerName: formerName ?? null });
      await vault.people.pin({ userId, userName, words });
      await expect(vault.received.open(shareId, null)).resolves.toMatchObject({
        sender: { userName: "bruno", standing: "known" },
      });
    });

    it("stops at a sender who is blocked", async () => {
      const { vault, shown } = await make({
        ...deed,
        people: [{ userName: "bruno", standing: "known", blocked: true }],
        received,
      });
      const { shareId, from } = first(await vault.received.list());
      expect(from).toMatchObject({ standing: "known", blocked: true });
      const blocked = await refusal(vault.received.open(shareId, shown("garden")));
      expect(blocked.code).toBe("person_blocked");
      const { userId, userName, words } = await vault.people.find("bruno");
      expect(personDetails(blocked)).toEqual({ userId, userName, words, formerWords: null, formerName: null });
      await vault.people.setBlocked({ userId, userName, words }, false);
      await expect(vault.received.open(shareId, null)).resolves.toMatchObject({ title: "Door" });
    });
  });
}

async function refusal(opening: ReturnType<Vault["received"]["open"]>): Promise<PortalError> {
  const error: unknown = await opening.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof PortalError) return error;
  throw new TypeError("it was not refused");
}

import { maxTitleLength } from "@relicario/shared/api";

import {
  errorWithCode,
  requireFirst,
  idsOf,
  largeText,
  unknownSecretId,
  textContent,
  textOf,
  textSecret,
  type CreateHarness,
} from "./describe-vault.harness.ts";

const deed = { secrets: [{ title: "Deed", content: "house" }] };
const twoSecrets = {
  secrets: [
    { title: "Deed", content: "house" },
    { title: "Key", content: "door" },
  ],
};

export function describeSecrets(make: CreateHarness): void {
  describe("protecting", () => {
    it("shows what was given, in a row and opened", async () => {
      const { vault, makeHandle } = await make({ ...deed, unlocked: false });
      await vault.unlock(makeHandle("garden"));
      const { secretId, version } = await vault.protect({
        ...textSecret("Seed", "words"),
        contentKind: "seed",
        name: "seed.txt",
        mime: "text/x-seed",
      });
      const rows = await vault.list();
      const { label, ...row } = rows[1] ?? requireFirst([]);
      const openers = (await vault.listImages()).map(({ id }) => id);
      expect(row).toMatchObject({ secretId, version: 1, rev: 1, favorite: false, deletedAt: null, droppedAt: null });
      expect(row.sealedSize).toBeGreaterThan("words".length);
      expect(label).toEqual({
        title: "Seed",
        tags: ["paper"],
        contentKind: "seed",
        name: "seed.txt",
        size: 5,
        openers,
        copyCheckedAt: null,
        kits: [],
      });
      const opened = await vault.openSecret(secretId, makeHandle("garden"));
      expect(opened).toMatchObject({
        secretId,
        version,
        title: "Seed",
        tags: ["paper"],
        contentKind: "seed",
        name: "seed.txt",
        mime: "text/x-seed",
        size: 5,
        current: true,
        author: "verified",
      });
      expect(textOf(opened)).toBe("words");
      const saved = await opened.save(null);
      expect([saved?.size, saved?.type]).toEqual([5, "text/x-seed"]);
      const { identity, size } = await opened.exportAgeFile();
      expect(identity).toMatch(/^AGE-SECRET-KEY-PQ-1/);
      expect(size).toBe(5);
      opened.dispose();
      await expect(opened.exportAgeFile()).rejects.toEqual(errorWithCode("vault_locked"));
      expect((await opened.save(null))?.size).toBe(5); // it is the page's own by then
    });

    it("refuses what cannot be sealed", async () => {
      const { vault } = await make(deed);
      await expect(vault.protect({ ...textSecret("", "x") })).rejects.toEqual(
        errorWithCode("validation_error", { fields: ["title"] }),
      );
      await expect(vault.protect({ ...textSecret("x".repeat(maxTitleLength + 1), "x"), name: "" })).rejects.toEqual(
        errorWithCode("validation_error", { fields: ["title", "name"] }),
      );
      await expect(
        vault.protect({ ...textSecret("Key", "x"), protection: { kind: "openers", openers: [unknownSecretId] } }),
      ).rejects.toEqual(errorWithCode("opener_needed"));
      await expect(vault.list()).resolves.toHaveLength(1);
    });

    it("takes a picture that is an opener already, with the passphrase that it has", async () => {
      const { vault, makeHandle } = await make({
        images: [{ name: "Lake", picture: "lake", passphrase: "pass" }],
        secrets: [{ title: "Deed", content: "house" }],
      });
      await vault.openers.recognise(makeHandle("lake", "pass"));
      await expect(vault.protect(textSecret("Key", "x", makeHandle("lake")))).rejects.toEqual(
        errorWithCode("not_this_picture_or_passphrase"),
      );
      await expect(vault.protect(textSecret("Key", "x", makeHandle("lake", "other")))).rejects.toEqual(
        errorWithCode("not_this_picture_or_passphrase"),
      );
      await vault.protect(textSecret("Key", "x", makeHandle("lake", "pass")));
      await expect(vault.listImages()).resolves.toHaveLength(1);
    });

    it("refuses a passphrase for a picture that has none", async () => {
      const { vault, makeHandle } = await make(deed);
      await vault.openers.recognise(makeHandle("garden"));
      await expect(vault.protect(textSecret("Key", "x", makeHandle("garden", "pass")))).rejects.toEqual(
        errorWithCode("picture_has_no_passphrase"),
      );
    });

    it("takes a new picture once an opener was shown", async () => {
      const { vault, makeHandle } = await make(deed);
      await expect(vault.protect(textSecret("Key", "door", makeHandle("lake")))).rejects.toEqual(
        errorWithCode("show_opener_first"),
      );
      await expect(vault.listImages()).resolves.toHaveLength(1);
      await vault.protect(textSecret("Key", "door", makeHandle("garden")));
      await vault.protect(textSecret("Safe", "left 7", makeHandle("lake")));
      await expect(vault.listImages()).resolves.toMatchObject([{ name: "garden" }, { name: "Lake" }]);
    });

    it("by a new picture is no way to what was protected before", async () => {
      const { vault, makeHandle } = await make(deed);
      const [deedId] = await idsOf(vault);
      await vault.openers.recognise(makeHandle("garden"));
      const { secretId } = await vault.protect(textSecret("Key", "door", makeHandle("lake")));
      const [garden, lake] = (await vault.listImages()).map(({ id }) => id);
      expect((await vault.list()).map(({ label }) => label?.openers)).toEqual([[garden], [garden, lake]]);
      for (const picture of ["garden", "lake"])
        expect(textOf(await vault.openSecret(secretId, makeHandle(picture)))).toBe("door");
      await expect(vault.openSecret(deedId, makeHandle("lake"))).rejects.toEqual(errorWithCode("opener_needed"));
      await expect(vault.checkCopy(deedId, makeHandle("lake"))).rejects.toEqual(errorWithCode("opener_needed"));
      await expect(vault.exportSecrets([deedId], makeHandle("lake"))).rejects.toEqual(errorWithCode("opener_needed"));
      await expect(vault.exportSecrets([deedId, secretId], makeHandle("lake"))).resolves.toMatchObject({
        exported: 1,
        skipped: [deedId],
        notVerified: [],
      });
      await expect(vault.createKit([deedId, secretId], makeHandle("lake"))).resolves.toMatchObject({
        secretIds: [secretId],
        skipped: [deedId],
      });
      await expect(
        vault.shares.create(
          {
            secretId: deedId,
            to: { audience: "public" },
            expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
            maxViews: null,
            password: null,
            picture: null,
            notify: false,
          },
          makeHandle("lake"),
        ),
      ).rejects.toEqual(errorWithCode("opener_needed"));
      await vault.lock();
      await vault.unlock(makeHandle("lake"));
      expect(vault.getState()).toMatchObject({ status: "unlocked" });
    });

    it("by openers of the book takes those that are named", async () => {
      const { vault, makeHandle } = await make({
        images: [
          { name: "Garden", picture: "garden" },
          { name: "Lake", picture: "lake" },
        ],
        ...deed,
      });
      const [, lake] = (await vault.listImages()).map(({ id }) => id);
      await vault.openers.recognise(makeHandle("garden"));
      const { secretId } = await vault.protect({
        ...textSecret("Key", "door"),
        protection: { kind: "openers", openers: [lake ?? ""] },
      });
      await expect(vault.openSecret(secretId, makeHandle("garden"))).rejects.toEqual(errorWithCode("opener_needed"));
      expect(textOf(await vault.openSecret(secretId, makeHandle("lake")))).toBe("door");
    });
  });

  describe("the list", () => {
    it("gives rows in batches, the newest first", async () => {
      const { vault } = await make(twoSecrets);
      const titles: (string | undefined)[] = [];
      let lastProgress: unknown = null;
      const rows = await vault.list({
        onRows: (batch, progress) => {
          titles.push(...batch.map(({ label }) => label?.title));
          lastProgress = progress;
        },
      });
      expect(titles).toEqual(["Key", "Deed"]);
      expect(lastProgress).toEqual({ opened: 2, total: 2 });
      expect(rows.map(({ label }) => label?.title)).toEqual(["Deed", "Key"]);
    });

    it("stars, and knows no other ids", async () => {
      const { vault } = await make(deed);
      const [id] = await idsOf(vault);
      await vault.setFavorite(id, true);
      await expect(vault.list()).resolves.toMatchObject([{ favorite: true, rev: 1 }]);
      for (const operation of [
        () => vault.setFavorite(unknownSecretId, true),
        () => vault.trash(unknownSecretId),
        () => vault.restore(unknownSecretId),
        () => vault.trash("../x"),
        () => vault.listVersions(unknownSecretId),
      ])
        await expect(operation()).rejects.toEqual(errorWithCode("not_found"));
    });
  });

  describe("the trash", () => {
    it("gives back, and is emptied all or none", async () => {
      const { vault, makeHandle } = await make({
        secrets: [
          { title: "gone", content: "a", deleted: true },
          { title: "here", content: "b" },
        ],
      });
      const [trashedId, presentId = ""] = await idsOf(vault);
      await expect(vault.list()).resolves.toMatchObject([
        { deletedAt: expect.any(String) as string, droppedAt: null },
        { deletedAt: null },
      ]);
      expect(textOf(await vault.openSecret(trashedId, makeHandle("garden")))).toBe("a");
      await expect(vault.purge([trashedId, presentId])).rejects.toEqual(errorWithCode("not_in_trash"));
      await expect(vault.purge([trashedId, unknownSecretId])).rejects.toEqual(errorWithCode("not_found"));
      await vault.purge([]);
      await expect(vault.list()).resolves.toHaveLength(2);
      await vault.purge([trashedId]);
      await expect(vault.list()).resolves.toMatchObject([{ label: { title: "here" } }]);
      await vault.trash(presentId);
      await vault.trash(presentId);
      await vault.restore(presentId);
      await expect(vault.list()).resolves.toMatchObject([{ deletedAt: null }]);
    });
  });

  describe("opening", () => {
    it("takes an opener of the account, and a secret that there is", async () => {
      const { vault, makeHandle } = await make(deed);
      const [id] = await idsOf(vault);
      await expect(vault.openSecret(id, makeHandle("sea"))).rejects.toEqual(errorWithCode("not_this_picture"));
      await expect(vault.openSecret(unknownSecretId, makeHandle("garden"))).rejects.toEqual(errorWithCode("not_found"));
      await expect(vault.openSecret(id, makeHandle("garden"), { version: 2 })).rejects.toEqual(
        errorWithCode("not_found"),
      );
      const phases = new Set<string>();
      await vault.openSecret(id, makeHandle("garden"), { onProgress: ({ phase }) => phases.add(phase) });
      expect([...phases]).toEqual(expect.arrayContaining(["fetching", "opening"]));
    });

    it("writes to a file that was chosen", async () => {
      const { vault, makeHandle } = await make(deed);
      const [id] = await idsOf(vault);
      const opened = await vault.openSecret(id, makeHandle("garden"));
      const written: string[] = [];
      const recordWrite = (text: string): Promise<void> => {
        written.push(text);
        return Promise.resolve();
      };
      const stream = {
        write: (bytes: Uint8Array) => recordWrite(new TextDecoder().decode(bytes)),
        close: () => recordWrite("closed"),
        abort: () => recordWrite("aborted"),
      };
      await expect(
        opened.save({ createWritable: () => Promise.resolve(stream) } as unknown as FileSystemFileHandle),
      ).resolves.toBeNull();
      expect(written).toEqual(["house", "closed"]);
      await expect(opened.save(null, { signal: AbortSignal.abort() })).rejects.toEqual(errorWithCode("cancelled"));
    });

    it("streams what is too large to be held, until it is put away", async () => {
      const { vault, makeHandle } = await make(deed);
      await vault.openers.recognise(makeHandle("garden"));
      const { secretId } = await vault.protect({
        ...textSecret("Film", largeText),
        contentKind: "file",
        name: "film.mp4",
        mime: "video/mp4",
      });
      await expect(vault.listUploads()).resolves.toEqual([]);
      const film = await vault.openSecret(secretId, makeHandle("garden"));
      expect(film).toMatchObject({ content: null, size: largeText.length, name: "film.mp4" });
      const progress: unknown[] = [];
      const saved = await film.save(null, {
        onProgress: ({ phase, done, total }) => progress.push([phase, done === total]),
      });
      expect(saved?.size).toBe(largeText.length);
      expect(progress).toContainEqual(["opening", true]);
      await expect(film.exportAgeFile()).rejects.toEqual(errorWithCode("payload_too_large"));
      film.dispose();
      await expect(film.save(null)).rejects.toEqual(errorWithCode("vault_locked"));
    });
  });

  describe("checking a copy", () => {
    it("notes the date in the label, and with its opener", async () => {
      const { vault, makeHandle } = await make({
        images: [
          { name: "Garden", picture: "garden" },
          { name: "Lake", picture: "lake" },
        ],
        ...deed,
      });
      const before = requireFirst(await vault.list());
      await expect(vault.checkCopy(before.secretId, makeHandle("sea"))).rejects.toEqual(
        errorWithCode("not_this_picture"),
      );
      await expect(vault.checkCopy(unknownSecretId, makeHandle("garden"))).rejects.toEqual(errorWithCode("not_found"));
      const { copyCheckedAt } = await vault.checkCopy(before.secretId, makeHandle("garden"));
      await expect(vault.list()).resolves.toMatchObject([
        { version: 1, rev: before.rev + 1, label: { copyCheckedAt } },
      ]);
      const { openers, secrets } = await vault.openers.list();
      expect(openers.map((opener) => opener.copyCheckedAt)).toEqual([copyCheckedAt, null]);
      expect(secrets).toMatchObject([{ copyCheckedAt }]);
      await vault.update(before.secretId, { baseVersion: 1, content: textContent("new") });
      await expect(vault.list()).resolves.toMatchObject([{ label: { copyCheckedAt } }]); // its openers are the same
    });
  });

  describe("what leaves", () => {
    it("is an archive with an identity of its own", async () => {
      const { vault, makeHandle } = await make(twoSecrets);
      const ids = await idsOf(vault);
      const phases = new Set<string>();
      const { identity, archive, ...exported } = await vault.exportSecrets(ids, makeHandle("garden"), {
        onProgress: ({ phase }) => phases.add(phase),
      });
      expect(identity).toMatch(/^AGE-SECRET-KEY-PQ-1/);
      expect(archive.size).toBeGreaterThan(0);
      expect(exported).toEqual({ exported: 2, skipped: [], notVerified: [] });
      expect([...phases]).toContain("fetching");
      await expect(vault.exportSecrets([unknownSecretId], makeHandle("garden"))).rejects.toEqual(
        errorWithCode("not_found"),
      );
      await expect(vault.exportSecrets([], makeHandle("garden"))).rejects.toEqual(errorWithCode("opener_needed"));
      await expect(vault.exportSecrets(ids, makeHandle("sea"))).rejects.toEqual(errorWithCode("not_this_picture"));
    });

    it("is a kit that labels know, until the secret changes", async () => {
      const { vault, makeHandle } = await make({
        images: [{ name: "Lake", picture: "lake", passphrase: "pass" }],
        secrets: [{ title: "Deed", content: "house" }],
      });
      const [id] = await idsOf(vault);
      const phases = new Set<string>();
      const { name, file, sha256, createdAt, ...kit } = await vault.createKit([id], makeHandle("lake", "pass"), {
        note: "for Ada",
        onProgress: ({ phase }) => phases.add(phase),
      });
      expect(name).toBe(`kit-${createdAt.slice(0, 10)}.html`);
      expect(await hexDigest(file)).toBe(sha256);
      expect(kit).toEqual({ hasPassphrase: true, secretIds: [id], attachments: [], skipped: [], notVerified: [] });
      expect([...phases]).toContain("fetching");
      await expect(vault.list()).resolves.toMatchObject([
        { version: 1, rev: 2, label: { kits: [{ sha256, createdAt, outdated: false }] } },
      ]);
      await vault.update(id, { baseVersion: 1, title: "Renamed" });
      await expect(vault.list()).resolves.toMatchObject([{ label: { kits: [{ sha256, outdated: false }] } }]);
      await vault.update(id, { baseVersion: 1, content: textContent("flat") });
      await expect(vault.list()).resolves.toMatchObject([{ label: { kits: [{ sha256, outdated: true }] } }]);
    });

    it("is no kit of too much", async () => {
      const { vault, makeHandle } = await make(deed);
      const [id] = await idsOf(vault);
      await expect(vault.createKit([id], makeHandle("garden"), { note: "x".repeat(201) })).rejects.toEqual(
        errorWithCode("validation_error", { fields: ["note"] }),
      );
      await expect(
        vault.createKit(
          Array.from({ length: 65 }, () => id),
          makeHandle("garden"),
        ),
      ).rejects.toEqual(errorWithCode("validation_error", { fields: ["secrets"] }));
      await expect(vault.createKit([], makeHandle("garden"))).rejects.toEqual(errorWithCode("opener_needed"));
      await expect(vault.createKit([unknownSecretId], makeHandle("garden"))).rejects.toEqual(
        errorWithCode("not_found"),
      );
      await expect(vault.createKit([id], makeHandle("garden"))).resolves.toMatchObject({ hasPassphrase: false });
    });
  });
}

async function hexDigest(file: Blob): Promise<string> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", await file.arrayBuffer())).toString("hex");
}

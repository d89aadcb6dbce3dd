import { maxTitleLength } from "@relicario/shared/api";

import {
  errorWithCode,
  requireFirst,
  listSecretIds,
  largeText,
  unknownSecretId,
  textContent,
  decodeContent,
  textSecret,
  type CreateHarness,
} from "./describe-vault.harness.ts";

const oneSecret = { secrets: [{ title: "Deed", content: "house" }] };
const twoSecrets = {
  secrets: [
    { title: "Deed", content: "house" },
    { title: "Key", content: "door" },
  ],
};

export function describeSecrets(make: CreateHarness): void {
  describe("protecting", () => {
    it("keeps every field, in the row and in the opened secret", async () => {
      const { vault, makeHandle } = await make({ ...oneSecret, unlocked: false });
      await vault.unlock(makeHandle("garden"));
      const { secretId, version } = await vault.protect({
        ...textSecret("Seed", "words"),
        contentKind: "seed",
        name: "seed.txt",
        mime: "text/x-seed",
      });
      const rows = await vault.list();
      const { label, ...row } = rows[1] ?? requireFirst([]);
      const openerIds = (await vault.listImages()).map(({ id }) => id);
      expect(row).toMatchObject({ secretId, version: 1, rev: 1, favorite: false, deletedAt: null, droppedAt: null });
      expect(row.sealedSize).toBeGreaterThan("words".length);
      expect(label).toEqual({
        title: "Seed",
        tags: ["paper"],
        contentKind: "seed",
        name: "seed.txt",
        size: 5,
        openerIds,
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
        signatureStatus: "verified",
      });
      expect(await decodeContent(opened)).toBe("words");
    });

    it("refuses invalid fields and unknown openers", async () => {
      const { vault, makeHandle } = await make(oneSecret);
      await vault.unlock(makeHandle("garden"));
      await expect(vault.protect({ ...textSecret("", "x") })).rejects.toEqual(
        errorWithCode("validation_error", { fields: ["title"] }),
      );
      await expect(vault.protect({ ...textSecret("x".repeat(maxTitleLength + 1), "x"), name: "" })).rejects.toEqual(
        errorWithCode("validation_error", { fields: ["title", "name"] }),
      );
      await expect(
        vault.protect({ ...textSecret("Key", "x"), protection: { kind: "openers", openerIds: [unknownSecretId] } }),
      ).rejects.toEqual(errorWithCode("opener_needed"));
      await expect(vault.list()).resolves.toHaveLength(1);
    });

    it("accepts a picture that is already an opener, but only with the passphrase of the picture", async () => {
      const { vault, makeHandle } = await make({
        images: [{ name: "Lake", picture: "lake", passphrase: "nine stones" }],
        secrets: [{ title: "Deed", content: "house" }],
      });
      await vault.openers.recognise(makeHandle("lake", "nine stones"));
      await expect(vault.protect(textSecret("Key", "x", makeHandle("lake")))).rejects.toEqual(
        errorWithCode("not_this_picture_or_passphrase"),
      );
      await expect(vault.protect(textSecret("Key", "x", makeHandle("lake", "other")))).rejects.toEqual(
        errorWithCode("not_this_picture_or_passphrase"),
      );
      await vault.protect(textSecret("Key", "x", makeHandle("lake", "nine stones")));
      await expect(vault.listImages()).resolves.toHaveLength(1);
    });

    it("refuses a passphrase for a picture that has none", async () => {
      const { vault, makeHandle } = await make(oneSecret);
      await vault.openers.recognise(makeHandle("garden"));
      await expect(vault.protect(textSecret("Key", "x", makeHandle("garden", "nine stones")))).rejects.toEqual(
        errorWithCode("picture_has_no_passphrase"),
      );
    });

    it("accepts a new picture after an opener was presented", async () => {
      const { vault, makeHandle } = await make(oneSecret);
      await expect(vault.protect(textSecret("Key", "door", makeHandle("lake")))).rejects.toEqual(
        errorWithCode("show_opener_first"),
      );
      await expect(vault.listImages()).resolves.toHaveLength(1);
      await vault.protect(textSecret("Key", "door", makeHandle("garden")));
      await vault.protect(textSecret("Safe", "left 7", makeHandle("lake")));
      await expect(vault.listImages()).resolves.toMatchObject([{ name: "garden" }, { name: "Lake" }]);
    });

    it("with a new picture opens no older secret", async () => {
      const { vault, makeHandle } = await make(oneSecret);
      const [deedId] = await listSecretIds(vault);
      await vault.openers.recognise(makeHandle("garden"));
      const { secretId } = await vault.protect(textSecret("Key", "door", makeHandle("lake")));
      const [gardenId, lakeId] = (await vault.listImages()).map(({ id }) => id);
      expect((await vault.list()).map(({ label }) => label?.openerIds)).toEqual([[gardenId], [gardenId, lakeId]]);
      for (const picture of ["garden", "lake"])
        expect(await decodeContent(await vault.openSecret(secretId, makeHandle(picture)))).toBe("door");
      await expect(vault.openSecret(deedId, makeHandle("lake"))).rejects.toEqual(errorWithCode("opener_needed"));
      await expect(vault.checkCopy(deedId, makeHandle("lake"))).rejects.toEqual(errorWithCode("opener_needed"));
      await expect(vault.exportSecrets([deedId], makeHandle("lake"))).rejects.toEqual(errorWithCode("opener_needed"));
      await expect(vault.exportSecrets([deedId, secretId], makeHandle("lake"))).resolves.toMatchObject({
        exportedCount: 1,
        skippedIds: [deedId],
        unverifiedIds: [],
      });
      await expect(vault.createKit([deedId, secretId], makeHandle("lake"))).resolves.toMatchObject({
        secretIds: [secretId],
        skippedIds: [deedId],
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

    it("with openers of the book uses only the named ones", async () => {
      const { vault, makeHandle } = await make({
        images: [
          { name: "Garden", picture: "garden" },
          { name: "Lake", picture: "lake" },
        ],
        ...oneSecret,
      });
      const [, lakeId] = (await vault.listImages()).map(({ id }) => id);
      await vault.openers.recognise(makeHandle("garden"));
      const { secretId } = await vault.protect({
        ...textSecret("Key", "door"),
        protection: { kind: "openers", openerIds: [lakeId ?? ""] },
      });
      await expect(vault.openSecret(secretId, makeHandle("garden"))).rejects.toEqual(errorWithCode("opener_needed"));
      expect(await decodeContent(await vault.openSecret(secretId, makeHandle("lake")))).toBe("door");
    });
  });

  describe("the list", () => {
    it("returns rows in batches, newest first", async () => {
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

    it("stars a secret, and refuses unknown ids", async () => {
      const { vault } = await make(oneSecret);
      const [id] = await listSecretIds(vault);
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
    it("restores secrets, and purges all of the requested secrets or none", async () => {
      const { vault, makeHandle } = await make({
        secrets: [
          { title: "gone", content: "a", deleted: true },
          { title: "here", content: "b" },
        ],
      });
      const [trashedId, presentId = ""] = await listSecretIds(vault);
      await expect(vault.list()).resolves.toMatchObject([
        { deletedAt: expect.any(String) as string, droppedAt: null },
        { deletedAt: null },
      ]);
      expect(await decodeContent(await vault.openSecret(trashedId, makeHandle("garden")))).toBe("a");
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
    it("refuses another picture, an unknown secret and an unknown version", async () => {
      const { vault, makeHandle } = await make(oneSecret);
      const [id] = await listSecretIds(vault);
      await expect(vault.openSecret(id, makeHandle("sea"))).rejects.toEqual(errorWithCode("not_this_picture"));
      await expect(vault.openSecret(unknownSecretId, makeHandle("garden"))).rejects.toEqual(errorWithCode("not_found"));
      await expect(vault.openSecret(id, makeHandle("garden"), { version: 2 })).rejects.toEqual(
        errorWithCode("not_found"),
      );
      const phases = new Set<string>();
      await vault.openSecret(id, makeHandle("garden"), { onProgress: ({ phase }) => phases.add(phase) });
      expect([...phases]).toEqual(expect.arrayContaining(["fetching", "opening"]));
    });

    it("streams a content that is too large for memory, until the content is disposed", async () => {
      const { vault, makeHandle } = await make(oneSecret);
      await vault.openers.recognise(makeHandle("garden"));
      const { secretId } = await vault.protect({
        ...textSecret("Film", largeText),
        contentKind: "file",
        name: "film.mp4",
        mime: "video/mp4",
      });
      await expect(vault.listUploads()).resolves.toEqual([]);
      const film = await vault.openSecret(secretId, makeHandle("garden"));
      expect(film).toMatchObject({ size: largeText.length, name: "film.mp4" });
      expect(await decodeContent(film)).toBe(largeText);
      film.dispose();
      await expect(decodeContent(film)).rejects.toEqual(errorWithCode("vault_locked"));
    });
  });

  describe("checking a copy", () => {
    it("stores the date in the label and with the opener", async () => {
      const { vault, makeHandle } = await make({
        images: [
          { name: "Garden", picture: "garden" },
          { name: "Lake", picture: "lake" },
        ],
        ...oneSecret,
      });
      const rowBefore = requireFirst(await vault.list());
      await expect(vault.checkCopy(rowBefore.secretId, makeHandle("sea"))).rejects.toEqual(
        errorWithCode("not_this_picture"),
      );
      await expect(vault.checkCopy(unknownSecretId, makeHandle("garden"))).rejects.toEqual(errorWithCode("not_found"));
      const { copyCheckedAt } = await vault.checkCopy(rowBefore.secretId, makeHandle("garden"));
      await expect(vault.list()).resolves.toMatchObject([
        { version: 1, rev: rowBefore.rev + 1, label: { copyCheckedAt } },
      ]);
      const { openers, secrets } = await vault.openers.list();
      expect(openers.map((opener) => opener.copyCheckedAt)).toEqual([copyCheckedAt, null]);
      expect(secrets).toMatchObject([{ copyCheckedAt }]);
      await vault.update(rowBefore.secretId, { baseVersion: 1, content: textContent("new") });
      // the check stays, because the openers are the same
      await expect(vault.list()).resolves.toMatchObject([{ label: { copyCheckedAt } }]);
    });
  });

  describe("exporting", () => {
    it("creates an archive with its own age identity", async () => {
      const { vault, makeHandle } = await make(twoSecrets);
      const ids = await listSecretIds(vault);
      const phases = new Set<string>();
      const { identity, archive, ...exported } = await vault.exportSecrets(ids, makeHandle("garden"), {
        onProgress: ({ phase }) => phases.add(phase),
      });
      expect(identity).toMatch(/^AGE-SECRET-KEY-PQ-1/);
      expect(archive.size).toBeGreaterThan(0);
      expect(exported).toEqual({ exportedCount: 2, skippedIds: [], unverifiedIds: [] });
      expect([...phases]).toContain("fetching");
      await expect(vault.exportSecrets([unknownSecretId], makeHandle("garden"))).rejects.toEqual(
        errorWithCode("not_found"),
      );
      await expect(vault.exportSecrets([], makeHandle("garden"))).rejects.toEqual(errorWithCode("opener_needed"));
      await expect(vault.exportSecrets(ids, makeHandle("sea"))).rejects.toEqual(errorWithCode("not_this_picture"));
    });

    it("creates a kit that labels list, outdated when the content changes", async () => {
      const { vault, makeHandle } = await make({
        images: [{ name: "Lake", picture: "lake", passphrase: "nine stones" }],
        secrets: [{ title: "Deed", content: "house" }],
      });
      const [id] = await listSecretIds(vault);
      const phases = new Set<string>();
      const { name, file, sha256, createdAt, ...kit } = await vault.createKit([id], makeHandle("lake", "nine stones"), {
        note: "for Ada",
        onProgress: ({ phase }) => phases.add(phase),
      });
      expect(name).toBe(`kit-${createdAt.slice(0, 10)}.html`);
      expect(await computeHexDigest(file)).toBe(sha256);
      expect(kit).toEqual({ hasPassphrase: true, secretIds: [id], attachments: [], skippedIds: [], unverifiedIds: [] });
      expect([...phases]).toContain("fetching");
      await expect(vault.list()).resolves.toMatchObject([
        { version: 1, rev: 2, label: { kits: [{ sha256, createdAt, outdated: false }] } },
      ]);
      await vault.update(id, { baseVersion: 1, title: "Renamed" });
      await expect(vault.list()).resolves.toMatchObject([{ label: { kits: [{ sha256, outdated: false }] } }]);
      await vault.update(id, { baseVersion: 1, content: textContent("flat") });
      await expect(vault.list()).resolves.toMatchObject([{ label: { kits: [{ sha256, outdated: true }] } }]);
    });

    it("refuses a kit of too many secrets, or with too long a note", async () => {
      const { vault, makeHandle } = await make(oneSecret);
      const [id] = await listSecretIds(vault);
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

async function computeHexDigest(file: Blob): Promise<string> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", await file.arrayBuffer())).toString("hex");
}

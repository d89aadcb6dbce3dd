import { maxTitleLength } from "@relicario/shared/api";

import {
  code,
  first,
  idsOf,
  largeText,
  nowhere,
  textContent,
  textOf,
  textSecret,
  type MakeStage,
} from "./describe-vault.stage.ts";

const deed = { secrets: [{ title: "Deed", content: "house" }] };
const two = {
  secrets: [
    { title: "Deed", content: "house" },
    { title: "Key", content: "door" },
  ],
};

export function describeSecrets(make: MakeStage): void {
  describe("protecting", () => {
    it("shows what was given, in a row and opened", async () => {
      const { vault, shown } = await make({ ...deed, unlocked: false });
      await vault.unlock(shown("garden"));
      const { secretId, version } = await vault.protect({
        ...textSecret("Seed", "words"),
        contentKind: "seed",
        name: "seed.txt",
        mime: "text/x-seed",
      });
      const rows = await vault.list();
      const { label, ...row } = rows[1] ?? first([]);
      const openers = (await vault.images()).map(({ id }) => id);
      expect(row).toMatchObject({ secretId, version: 1, rev: 1, favorite: false, deletedAt: null, droppedAt: null });
      expect(row.sealedSize).toBeGreaterThan("words".length);
      expect(label).toEqual({
        title: "Seed",
        tags: ["paper"],
        contentKind: "seed",
        name: "seed.txt",
        size: 5,
        openers,
        rehearsedAt: null,
        kits: [],
      });
      const opened = await vault.recover(secretId, shown("garden"));
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
      const { identity, size } = await opened.exportAge();
      expect(identity).toMatch(/^AGE-SECRET-KEY-PQ-1/);
      expect(size).toBe(5);
      opened.putAway();
      await expect(opened.exportAge()).rejects.toEqual(code("vault_locked"));
      expect((await opened.save(null))?.size).toBe(5); // it is the page's own by then
    });

    it("refuses what cannot be sealed", async () => {
      const { vault } = await make(deed);
      await expect(vault.protect({ ...textSecret("", "x") })).rejects.toEqual(
        code("validation_error", { fields: ["title"] }),
      );
      await expect(vault.protect({ ...textSecret("x".repeat(maxTitleLength + 1), "x"), name: "" })).rejects.toEqual(
        code("validation_error", { fields: ["title", "name"] }),
      );
      await expect(
        vault.protect({ ...textSecret("Key", "x"), protection: { kind: "openers", openers: [nowhere] } }),
      ).rejects.toEqual(code("opener_needed"));
      await expect(vault.list()).resolves.toHaveLength(1);
    });

    it("takes a picture that is an opener already, with the passphrase that it has", async () => {
      const { vault, shown } = await make({
        images: [{ name: "Lake", picture: "lake", passphrase: "pass" }],
        secrets: [{ title: "Deed", content: "house" }],
      });
      await vault.openers.recognise(shown("lake", "pass"));
      await expect(vault.protect(textSecret("Key", "x", shown("lake")))).rejects.toEqual(
        code("not_this_picture_or_passphrase"),
      );
      await expect(vault.protect(textSecret("Key", "x", shown("lake", "other")))).rejects.toEqual(
        code("not_this_picture_or_passphrase"),
      );
      await vault.protect(textSecret("Key", "x", shown("lake", "pass")));
      await expect(vault.images()).resolves.toHaveLength(1);
    });

    it("refuses a passphrase for a picture that has none", async () => {
      const { vault, shown } = await make(deed);
      await vault.openers.recognise(shown("garden"));
      await expect(vault.protect(textSecret("Key", "x", shown("garden", "pass")))).rejects.toEqual(
        code("picture_has_no_passphrase"),
      );
    });

    it("takes a new picture once an opener was shown", async () => {
      const { vault, shown } = await make(deed);
      await expect(vault.protect(textSecret("Key", "door", shown("lake")))).rejects.toEqual(code("show_opener_first"));
      await expect(vault.images()).resolves.toHaveLength(1);
      await vault.protect(textSecret("Key", "door", shown("garden")));
      await vault.protect(textSecret("Safe", "left 7", shown("lake")));
      await expect(vault.images()).resolves.toMatchObject([{ name: "garden" }, { name: "Lake" }]);
    });

    it("by a new picture is no way to what was protected before", async () => {
      const { vault, shown } = await make(deed);
      const [deedId] = await idsOf(vault);
      await vault.openers.recognise(shown("garden"));
      const { secretId } = await vault.protect(textSecret("Key", "door", shown("lake")));
      const [garden, lake] = (await vault.images()).map(({ id }) => id);
      expect((await vault.list()).map(({ label }) => label?.openers)).toEqual([[garden], [garden, lake]]);
      for (const picture of ["garden", "lake"])
        expect(textOf(await vault.recover(secretId, shown(picture)))).toBe("door");
      await expect(vault.recover(deedId, shown("lake"))).rejects.toEqual(code("opener_needed"));
      await expect(vault.rehearse(deedId, shown("lake"))).rejects.toEqual(code("opener_needed"));
      await expect(vault.exportSecrets([deedId], shown("lake"))).rejects.toEqual(code("opener_needed"));
      await expect(vault.exportSecrets([deedId, secretId], shown("lake"))).resolves.toMatchObject({
        exported: 1,
        left: [deedId],
        notVerified: [],
      });
      await expect(vault.makeKit([deedId, secretId], shown("lake"))).resolves.toMatchObject({
        secretIds: [secretId],
        left: [deedId],
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
          shown("lake"),
        ),
      ).rejects.toEqual(code("opener_needed"));
      await vault.lock();
      await vault.unlock(shown("lake"));
      expect(vault.getState()).toMatchObject({ status: "unlocked" });
    });

    it("by openers of the book takes those that are named", async () => {
      const { vault, shown } = await make({
        images: [
          { name: "Garden", picture: "garden" },
          { name: "Lake", picture: "lake" },
        ],
        ...deed,
      });
      const [, lake] = (await vault.images()).map(({ id }) => id);
      await vault.openers.recognise(shown("garden"));
      const { secretId } = await vault.protect({
        ...textSecret("Key", "door"),
        protection: { kind: "openers", openers: [lake ?? ""] },
      });
      await expect(vault.recover(secretId, shown("garden"))).rejects.toEqual(code("opener_needed"));
      expect(textOf(await vault.recover(secretId, shown("lake")))).toBe("door");
    });
  });

  describe("the list", () => {
    it("gives rows in batches, the newest first", async () => {
      const { vault } = await make(two);
      const titles: (string | undefined)[] = [];
      let last: unknown = null;
      const rows = await vault.list({
        onRows: (some, progress) => {
          titles.push(...some.map(({ label }) => label?.title));
          last = progress;
        },
      });
      expect(titles).toEqual(["Key", "Deed"]);
      expect(last).toEqual({ opened: 2, total: 2 });
      expect(rows.map(({ label }) => label?.title)).toEqual(["Deed", "Key"]);
    });

    it("stars, and knows no other ids", async () => {
      const { vault } = await make(deed);
      const [id] = await idsOf(vault);
      await vault.setFavorite(id, true);
      await expect(vault.list()).resolves.toMatchObject([{ favorite: true, rev: 1 }]);
      for (const act of [
        () => vault.setFavorite(nowhere, true),
        () => vault.trash(nowhere),
        () => vault.restore(nowhere),
        () => vault.trash("../x"),
        () => vault.history(nowhere),
      ])
        await expect(act()).rejects.toEqual(code("not_found"));
    });
  });

  describe("the trash", () => {
    it("gives back, and is emptied all or none", async () => {
      const { vault, shown } = await make({
        secrets: [
          { title: "gone", content: "a", deleted: true },
          { title: "here", content: "b" },
        ],
      });
      const [gone, here = ""] = await idsOf(vault);
      await expect(vault.list()).resolves.toMatchObject([
        { deletedAt: expect.any(String) as string, droppedAt: null },
        { deletedAt: null },
      ]);
      expect(textOf(await vault.recover(gone, shown("garden")))).toBe("a");
      await expect(vault.purge([gone, here])).rejects.toEqual(code("not_in_trash"));
      await expect(vault.purge([gone, nowhere])).rejects.toEqual(code("not_found"));
      await vault.purge([]);
      await expect(vault.list()).resolves.toHaveLength(2);
      await vault.purge([gone]);
      await expect(vault.list()).resolves.toMatchObject([{ label: { title: "here" } }]);
      await vault.trash(here);
      await vault.trash(here);
      await vault.restore(here);
      await expect(vault.list()).resolves.toMatchObject([{ deletedAt: null }]);
    });
  });

  describe("opening", () => {
    it("takes an opener of the account, and a secret that there is", async () => {
      const { vault, shown } = await make(deed);
      const [id] = await idsOf(vault);
      await expect(vault.recover(id, shown("sea"))).rejects.toEqual(code("not_this_picture"));
      await expect(vault.recover(nowhere, shown("garden"))).rejects.toEqual(code("not_found"));
      await expect(vault.recover(id, shown("garden"), { version: 2 })).rejects.toEqual(code("not_found"));
      const phases = new Set<string>();
      await vault.recover(id, shown("garden"), { onProgress: ({ phase }) => phases.add(phase) });
      expect([...phases]).toEqual(expect.arrayContaining(["fetching", "opening"]));
    });

    it("writes to a file that was chosen", async () => {
      const { vault, shown } = await make(deed);
      const [id] = await idsOf(vault);
      const opened = await vault.recover(id, shown("garden"));
      const written: string[] = [];
      const note = (text: string): Promise<void> => {
        written.push(text);
        return Promise.resolve();
      };
      const stream = {
        write: (bytes: Uint8Array) => note(new TextDecoder().decode(bytes)),
        close: () => note("closed"),
        abort: () => note("aborted"),
      };
      await expect(
        opened.save({ createWritable: () => Promise.resolve(stream) } as unknown as FileSystemFileHandle),
      ).resolves.toBeNull();
      expect(written).toEqual(["house", "closed"]);
      await expect(opened.save(null, { signal: AbortSignal.abort() })).rejects.toEqual(code("cancelled"));
    });

    it("streams what is too large to be held, until it is put away", async () => {
      const { vault, shown } = await make(deed);
      await vault.openers.recognise(shown("garden"));
      const { secretId } = await vault.protect({
        ...textSecret("Film", largeText),
        contentKind: "file",
        name: "film.mp4",
        mime: "video/mp4",
      });
      await expect(vault.uploads()).resolves.toEqual([]);
      const film = await vault.recover(secretId, shown("garden"));
      expect(film).toMatchObject({ content: null, size: largeText.length, name: "film.mp4" });
      const progress: unknown[] = [];
      const saved = await film.save(null, {
        onProgress: ({ phase, done, total }) => progress.push([phase, done === total]),
      });
      expect(saved?.size).toBe(largeText.length);
      expect(progress).toContainEqual(["opening", true]);
      await expect(film.exportAge()).rejects.toEqual(code("payload_too_large"));
      film.putAway();
      await expect(film.save(null)).rejects.toEqual(code("vault_locked"));
    });
  });

  describe("checking a copy", () => {
    it("notes the date in the label, and with its opener", async () => {
      const { vault, shown } = await make({
        images: [
          { name: "Garden", picture: "garden" },
          { name: "Lake", picture: "lake" },
        ],
        ...deed,
      });
      const before = first(await vault.list());
      await expect(vault.rehearse(before.secretId, shown("sea"))).rejects.toEqual(code("not_this_picture"));
      await expect(vault.rehearse(nowhere, shown("garden"))).rejects.toEqual(code("not_found"));
      const { rehearsedAt } = await vault.rehearse(before.secretId, shown("garden"));
      await expect(vault.list()).resolves.toMatchObject([{ version: 1, rev: before.rev + 1, label: { rehearsedAt } }]);
      const { openers, secrets } = await vault.openers.list();
      expect(openers.map((one) => one.rehearsedAt)).toEqual([rehearsedAt, null]);
      expect(secrets).toMatchObject([{ rehearsedAt }]);
      await vault.update(before.secretId, { baseVersion: 1, content: textContent("new") });
      await expect(vault.list()).resolves.toMatchObject([{ label: { rehearsedAt } }]); // its openers are the same
    });
  });

  describe("what leaves", () => {
    it("is an archive with an identity of its own", async () => {
      const { vault, shown } = await make(two);
      const ids = await idsOf(vault);
      const phases = new Set<string>();
      const { identity, archive, ...exported } = await vault.exportSecrets(ids, shown("garden"), {
        onProgress: ({ phase }) => phases.add(phase),
      });
      expect(identity).toMatch(/^AGE-SECRET-KEY-PQ-1/);
      expect(archive.size).toBeGreaterThan(0);
      expect(exported).toEqual({ exported: 2, left: [], notVerified: [] });
      expect([...phases]).toContain("fetching");
      await expect(vault.exportSecrets([nowhere], shown("garden"))).rejects.toEqual(code("not_found"));
      await expect(vault.exportSecrets([], shown("garden"))).rejects.toEqual(code("opener_needed"));
      await expect(vault.exportSecrets(ids, shown("sea"))).rejects.toEqual(code("not_this_picture"));
    });

    it("is a kit that labels know, until the secret changes", async () => {
      const { vault, shown } = await make({
        images: [{ name: "Lake", picture: "lake", passphrase: "pass" }],
        secrets: [{ title: "Deed", content: "house" }],
      });
      const [id] = await idsOf(vault);
      const phases = new Set<string>();
      const { name, file, sha256, madeAt, ...made } = await vault.makeKit([id], shown("lake", "pass"), {
        note: "for Ada",
        onProgress: ({ phase }) => phases.add(phase),
      });
      expect(name).toBe(`kit-${madeAt.slice(0, 10)}.html`);
      expect(await hexDigest(file)).toBe(sha256);
      expect(made).toEqual({ passphrase: true, secretIds: [id], beside: [], left: [], notVerified: [] });
      expect([...phases]).toContain("fetching");
      await expect(vault.list()).resolves.toMatchObject([
        { version: 1, rev: 2, label: { kits: [{ sha256, madeAt, outdated: false }] } },
      ]);
      await vault.update(id, { baseVersion: 1, title: "Renamed" });
      await expect(vault.list()).resolves.toMatchObject([{ label: { kits: [{ sha256, outdated: false }] } }]);
      await vault.update(id, { baseVersion: 1, content: textContent("flat") });
      await expect(vault.list()).resolves.toMatchObject([{ label: { kits: [{ sha256, outdated: true }] } }]);
    });

    it("is no kit of too much", async () => {
      const { vault, shown } = await make(deed);
      const [id] = await idsOf(vault);
      await expect(vault.makeKit([id], shown("garden"), { note: "x".repeat(201) })).rejects.toEqual(
        code("validation_error", { fields: ["note"] }),
      );
      await expect(
        vault.makeKit(
          Array.from({ length: 65 }, () => id),
          shown("garden"),
        ),
      ).rejects.toEqual(code("validation_error", { fields: ["secrets"] }));
      await expect(vault.makeKit([], shown("garden"))).rejects.toEqual(code("opener_needed"));
      await expect(vault.makeKit([nowhere], shown("garden"))).rejects.toEqual(code("not_found"));
      await expect(vault.makeKit([id], shown("garden"))).resolves.toMatchObject({ passphrase: false });
    });
  });
}

async function hexDigest(file: Blob): Promise<string> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", await file.arrayBuffer())).toString("hex");
}

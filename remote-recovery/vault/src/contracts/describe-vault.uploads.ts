import { code, first, largeText, nowhere, textSecret, type MakeStage } from "./describe-vault.stage.ts";

const other = `another ${largeText}`;
const left = {
  images: [{ name: "Lake", picture: "lake" }],
  uploads: [{ title: "Film", content: largeText, name: "film.mp4" }],
};

export function describeUploads(make: MakeStage): void {
  describe("an upload that an earlier page left", () => {
    it("goes on with its own file, and is published", async () => {
      const { vault, shown } = await make(left);
      const upload = first(await vault.uploads());
      expect(upload).toMatchObject({ version: 1, title: "Film", name: "film.mp4", state: "waiting", needsFile: true });
      expect(Date.parse(upload.expiresAt)).toBeGreaterThan(Date.parse(upload.startedAt));
      await expect(vault.list()).resolves.toEqual([]);
      await expect(vault.resumeUpload(upload.uploadId, new Blob([other]))).rejects.toEqual(code("file_changed"));
      await expect(vault.resumeUpload(upload.uploadId, null)).rejects.toEqual(
        code("validation_error", { fields: ["content"] }),
      );
      const progress: [string, boolean][] = [];
      const { secretId, version } = await vault.resumeUpload(upload.uploadId, new Blob([largeText]), {
        onProgress: ({ phase, done, total }) => progress.push([phase, done === total]),
      });
      expect({ secretId, version }).toEqual({ secretId: upload.secretId, version: 1 });
      expect(progress).toContainEqual(["sending", true]);
      await expect(vault.uploads()).resolves.toEqual([]);
      await expect(vault.list()).resolves.toMatchObject([
        { secretId, label: { title: "Film", name: "film.mp4", size: largeText.length } },
      ]);
      const film = await vault.recover(secretId, shown("lake"));
      expect((await film.save(null))?.size).toBe(largeText.length);
    });

    it("begins once more with another file", async () => {
      const { vault, shown } = await make(left);
      const { uploadId } = first(await vault.uploads());
      const { secretId, version } = await vault.restartUpload(uploadId, new Blob([other]));
      expect(version).toBe(1);
      await expect(vault.uploads()).resolves.toEqual([]);
      await expect(vault.recover(secretId, shown("lake"))).resolves.toMatchObject({
        title: "Film",
        content: null,
        size: other.length,
      });
    });

    it("is given up, once and again", async () => {
      const { vault } = await make(left);
      const { uploadId } = first(await vault.uploads());
      await vault.discardUpload(uploadId);
      await vault.discardUpload(uploadId);
      await expect(vault.uploads()).resolves.toEqual([]);
      await expect(vault.resumeUpload(uploadId, new Blob([largeText]))).rejects.toEqual(code("not_found"));
      await expect(vault.restartUpload(nowhere, new Blob([largeText]))).rejects.toEqual(code("not_found"));
    });

    it.each(["resumed", "begun once more"])(
      "is sent under the lock without a name, and waits for unlocking (%s)",
      async (how) => {
        const { vault, shown } = await make({ ...left, unlocked: false, device: "own" });
        await vault.refresh();
        const upload = first(await vault.uploads());
        expect(upload).toMatchObject({ title: null, name: null, state: "waiting" });
        let published = false;
        const going = (
          how === "resumed"
            ? vault.resumeUpload(upload.uploadId, new Blob([largeText]))
            : vault.restartUpload(upload.uploadId, new Blob([largeText]))
        ).then(() => {
          published = true;
        });
        await until(async () => (await vault.uploads()).some(({ state }) => state === "sealed"));
        expect(published).toBe(false);
        await expect(vault.resumeUpload(first(await vault.uploads()).uploadId, null)).rejects.toEqual(
          code("vault_locked"),
        );
        await vault.unlock(shown("lake"));
        await going;
        await expect(vault.uploads()).resolves.toEqual([]);
        await expect(vault.list()).resolves.toMatchObject([{ label: { title: "Film" } }]);
      },
    );
  });

  it("that is aborted is deleted", async () => {
    const { vault, shown } = await make(left);
    const leaving = new AbortController();
    await vault.discardUpload(first(await vault.uploads()).uploadId);
    const options = {
      signal: leaving.signal,
      onProgress: ({ phase }: { readonly phase: string }) => {
        if (phase === "sending") leaving.abort();
      },
    };
    await expect(vault.protect(textSecret("Film", largeText, shown("lake")), options)).rejects.toEqual(
      code("cancelled"),
    );
    await expect(vault.uploads()).resolves.toEqual([]);
    await expect(vault.list()).resolves.toEqual([]);
  });
}

/** Looks again and again; each look is a call of the vault. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setImmediate(resolve));
}

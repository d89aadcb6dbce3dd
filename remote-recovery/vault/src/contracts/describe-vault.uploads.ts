import {
  decodeContent,
  errorWithCode,
  requireFirst,
  largeText,
  unknownSecretId,
  textSecret,
  type CreateHarness,
} from "./describe-vault.harness.ts";

const otherText = `another ${largeText}`;
const unfinishedUpload = {
  images: [{ name: "Lake", picture: "lake" }],
  uploads: [{ title: "Film", content: largeText, name: "film.mp4" }],
};

export function describeUploads(make: CreateHarness): void {
  describe("an upload that an earlier page left unfinished", () => {
    it("resumes with the same file, and is published", async () => {
      const { vault, makeHandle } = await make(unfinishedUpload);
      const upload = requireFirst(await vault.listUploads());
      expect(upload).toMatchObject({ version: 1, title: "Film", name: "film.mp4", state: "waiting", needsFile: true });
      expect(Date.parse(upload.expiresAt)).toBeGreaterThan(Date.parse(upload.startedAt));
      await expect(vault.list()).resolves.toEqual([]);
      await expect(vault.resumeUpload(upload.uploadId, new Blob([otherText]))).rejects.toEqual(
        errorWithCode("file_changed"),
      );
      await expect(vault.resumeUpload(upload.uploadId, null)).rejects.toEqual(
        errorWithCode("validation_error", { fields: ["content"] }),
      );
      await vault.unlock(makeHandle("lake"));
      const progress: [string, boolean][] = [];
      const { secretId, version } = await vault.resumeUpload(upload.uploadId, new Blob([largeText]), {
        onProgress: ({ phase, done, total }) => progress.push([phase, done === total]),
      });
      expect({ secretId, version }).toEqual({ secretId: upload.secretId, version: 1 });
      expect(progress).toContainEqual(["sending", true]);
      await expect(vault.listUploads()).resolves.toEqual([]);
      await expect(vault.list()).resolves.toMatchObject([
        { secretId, label: { title: "Film", name: "film.mp4", size: largeText.length } },
      ]);
      const film = await vault.openSecret(secretId, makeHandle("lake"));
      expect(await decodeContent(film)).toBe(largeText);
    });

    it("restarts with another file", async () => {
      const { vault, makeHandle } = await make(unfinishedUpload);
      const { uploadId } = requireFirst(await vault.listUploads());
      await vault.unlock(makeHandle("lake"));
      const { secretId, version } = await vault.restartUpload(uploadId, new Blob([otherText]));
      expect(version).toBe(1);
      await expect(vault.listUploads()).resolves.toEqual([]);
      await expect(vault.openSecret(secretId, makeHandle("lake"))).resolves.toMatchObject({
        title: "Film",
        size: otherText.length,
      });
    });

    it("is discarded; discarding again has no effect", async () => {
      const { vault } = await make(unfinishedUpload);
      const { uploadId } = requireFirst(await vault.listUploads());
      await vault.discardUpload(uploadId);
      await vault.discardUpload(uploadId);
      await expect(vault.listUploads()).resolves.toEqual([]);
      await expect(vault.resumeUpload(uploadId, new Blob([largeText]))).rejects.toEqual(errorWithCode("not_found"));
      await expect(vault.restartUpload(unknownSecretId, new Blob([largeText]))).rejects.toEqual(
        errorWithCode("not_found"),
      );
    });

    it.each(["resumed", "restarted"])("is sent while locked, and published after unlocking (%s)", async (action) => {
      const { vault, makeHandle } = await make({ ...unfinishedUpload, unlocked: false, device: "own" });
      await vault.refresh();
      const upload = requireFirst(await vault.listUploads());
      expect(upload).toMatchObject({ title: null, name: null, state: "waiting" });
      let published = false;
      const completion = (
        action === "resumed"
          ? vault.resumeUpload(upload.uploadId, new Blob([largeText]))
          : vault.restartUpload(upload.uploadId, new Blob([largeText]))
      ).then(() => {
        published = true;
      });
      await waitUntil(async () => (await vault.listUploads()).some(({ state }) => state === "sealed"));
      expect(published).toBe(false);
      await expect(vault.resumeUpload(requireFirst(await vault.listUploads()).uploadId, null)).rejects.toEqual(
        errorWithCode("vault_locked"),
      );
      await vault.unlock(makeHandle("lake"));
      await completion;
      await expect(vault.listUploads()).resolves.toEqual([]);
      await expect(vault.list()).resolves.toMatchObject([{ label: { title: "Film" } }]);
    });
  });

  it("is deleted when aborted", async () => {
    const { vault, makeHandle } = await make(unfinishedUpload);
    const controller = new AbortController();
    await vault.discardUpload(requireFirst(await vault.listUploads()).uploadId);
    const options = {
      signal: controller.signal,
      onProgress: ({ phase }: { readonly phase: string }) => {
        if (phase === "sending") controller.abort();
      },
    };
    await expect(vault.protect(textSecret("Film", largeText, makeHandle("lake")), options)).rejects.toEqual(
      errorWithCode("cancelled"),
    );
    await expect(vault.listUploads()).resolves.toEqual([]);
    await expect(vault.list()).resolves.toEqual([]);
  });
}

/** Polls without a pause. Each check calls the vault. */
async function waitUntil(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}

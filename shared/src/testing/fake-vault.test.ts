import { createFakeVault, picture, shownImage } from "./index.ts";

const shown = (text: string, passphrase: string | null = null) => shownImage(picture(text), passphrase);

describe("createFakeVault", () => {
  it("begins empty and is unlocked by its first secret", async () => {
    const vault = createFakeVault();
    expect(vault.getState()).toEqual({ status: "empty" });
    const { secretId } = await vault.protect({ title: "Seed", tags: ["a"], contentKind: "seed", name: "secret.txt", mime: "text/plain", content: new Blob(["words"]), protection: { kind: "picture", shown: shown("lake", "pass"), name: "Lake" } });
    expect(vault.getState()).toEqual({ status: "unlocked", device: null });
    await expect(vault.list()).resolves.toMatchObject([{ secretId, label: { title: "Seed", tags: ["a"] } }]);
    await expect(vault.images()).resolves.toMatchObject([{ name: "Lake" }]);
    const recovered = await vault.recover(secretId, shown("lake", "pass"));
    expect(new TextDecoder().decode(recovered.content ?? undefined)).toBe("words");
  });

  it("hides labels and images while locked, and unlocks with the right picture and passphrase alone", async () => {
    const vault = createFakeVault({ images: [{ name: "Lake", picture: "lake", passphrase: "pass" }], secrets: [{ title: "t", content: "c" }], unlocked: false });
    await expect(vault.list()).resolves.toMatchObject([{ label: null }]);
    await expect(vault.images()).resolves.toEqual([]);
    await expect(vault.unlock(shown("lake"))).rejects.toMatchObject({ code: "not_this_picture_or_passphrase" });
    await expect(vault.unlock(shown("sea"))).rejects.toMatchObject({ code: "not_this_picture" });
    await vault.unlock(shown("lake", "pass"));
    await expect(vault.list()).resolves.toMatchObject([{ label: { title: "t" } }]);
  });

  it("fails when told to, and gives up when cancelled", async () => {
    const vault = createFakeVault();
    vault.failWith("list", "list_mismatch");
    await expect(vault.list()).rejects.toMatchObject({ code: "list_mismatch" });
    vault.failWith("list", null);
    await expect(vault.list({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "cancelled" });
  });

  it("forgets what an export needs once a secret is put away", async () => {
    const vault = createFakeVault({ secrets: [{ title: "t", content: "c" }] });
    const [row] = await vault.list();
    const recovered = await vault.recover(row?.secretId ?? "", shown("garden"));
    await expect(recovered.exportAge()).resolves.toMatchObject({ size: 1 });
    recovered.putAway();
    await expect(recovered.exportAge()).rejects.toMatchObject({ code: "vault_locked" });
  });

  it("gives rows in batches, the newest first", async () => {
    const vault = createFakeVault({ secrets: ["a", "b", "c"].map((title) => ({ title, content: title })), batch: 2 });
    const batches: (readonly [readonly (string | undefined)[], number, number])[] = [];
    const rows = await vault.list({
      onRows: (some, { opened, total }) => {
        batches.push([some.map(({ label }) => label?.title), opened, total]);
      },
    });
    expect(batches).toEqual([[["c", "b"], 2, 3], [["a"], 3, 3]]);
    expect(rows.map(({ label }) => label?.title)).toEqual(["a", "b", "c"]);
  });

  it("changes a label without a version, content with one, and keeps what was before", async () => {
    const vault = createFakeVault({ secrets: [{ title: "t", content: "one" }] });
    const [row] = await vault.list();
    const id = row?.secretId ?? "";
    await expect(vault.update(id, { baseVersion: 1, title: "renamed" })).resolves.toEqual({ version: 1 });
    await expect(vault.update(id, { baseVersion: 1, baseRev: 1, title: "again" })).rejects.toMatchObject({ code: "version_conflict", details: { version: 1 } });
    await expect(vault.update(id, { baseVersion: 1, protection: { kind: "openers", openers: [] } })).rejects.toMatchObject({ code: "validation_error" });
    const content = { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["two"]) } as const;
    await expect(vault.update(id, { baseVersion: 1, content })).resolves.toEqual({ version: 2 });
    await expect(vault.history(id)).resolves.toMatchObject([{ version: 2, current: true }, { version: 1, current: false }]);
    const old = await vault.recover(id, shown("garden"), { version: 1 });
    expect([old.current, old.title, new TextDecoder().decode(old.content ?? undefined)]).toEqual([false, "renamed", "one"]);
    await expect(vault.restoreVersion(id, 1, shown("garden"))).resolves.toEqual({ version: 3 });
    await vault.removeVersions(id, [2]);
    await expect(vault.history(id)).resolves.toMatchObject([{ dropped: false }, { dropped: true }, { dropped: false }]);
    await expect(vault.recover(id, shown("garden"), { version: 2 })).rejects.toMatchObject({ code: "content_gone" });
    await expect(vault.removeVersions(id, [3])).rejects.toMatchObject({ code: "not_found" });
    vault.saveElsewhere(id, { content: "elsewhere" });
    await expect(vault.update(id, { baseVersion: 3, content })).rejects.toMatchObject({ code: "version_conflict", details: { version: 4 } });
  });

  it("purges from the trash alone, all or none", async () => {
    const vault = createFakeVault({ secrets: [{ title: "gone", content: "", deleted: true }, { title: "here", content: "" }] });
    const ids = (await vault.list()).map(({ secretId }) => secretId);
    await expect(vault.purge(ids)).rejects.toMatchObject({ code: "not_in_trash" });
    await vault.purge(ids.slice(0, 1));
    await expect(vault.list()).resolves.toMatchObject([{ label: { title: "here" } }]);
  });

  it("goes on with an upload that has its own file, and saves what is large without holding it", async () => {
    const vault = createFakeVault({ images: [{ name: "Lake", picture: "lake" }], uploads: [{ title: "Film", content: "frames", sent: 3 }] });
    const [upload] = await vault.uploads();
    expect(upload).toMatchObject({ title: "Film", size: 6, sent: 3, state: "waiting", needsFile: true });
    const id = upload?.uploadId ?? "";
    await expect(vault.resumeUpload(id, new Blob(["other"]))).rejects.toMatchObject({ code: "file_changed" });
    const { secretId } = await vault.resumeUpload(id, new Blob(["frames"]));
    await expect(vault.uploads()).resolves.toEqual([]);
    const film = await vault.recover(secretId, shown("lake"));
    expect(film).toMatchObject({ content: null, size: 6 });
    expect((await film.save(null))?.size).toBe(6);
  });

  it("unlocks by presence on an own device alone, and keeps minutes within their limits", async () => {
    const shared = createFakeVault({ secrets: [{ title: "t", content: "c" }], unlocked: false });
    await expect(shared.unlockByPresence()).rejects.toMatchObject({ code: "opener_needed" });
    const own = createFakeVault({ secrets: [{ title: "t", content: "c" }], unlocked: false, device: "own" });
    await own.unlockByPresence();
    expect(own.getState()).toEqual({ status: "unlocked", device: "own" });
    expect(own.autoLock.get()).toBe(15);
    own.autoLock.set(240);
    expect(own.autoLock.get()).toBe(240);
    for (const wrong of [0, 241, 1.5]) {
      expect(() => {
        own.autoLock.set(wrong);
      }).toThrow(expect.objectContaining({ code: "validation_error" }) as Error);
    }
  });

  it("is of no use after signing out", async () => {
    const vault = createFakeVault();
    await vault.signOut();
    await expect(vault.list()).rejects.toMatchObject({ code: "vault_unavailable" });
  });
});

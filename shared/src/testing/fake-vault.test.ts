import { createFakeVault, picture } from "./index.ts";

const shown = (text: string, passphrase: string | null = null) => ({ picture: picture(text), passphrase });

describe("createFakeVault", () => {
  it("begins empty and is unlocked by its first secret", async () => {
    const vault = createFakeVault();
    expect(vault.getState()).toEqual({ status: "empty" });
    const { secretId } = await vault.protect({ title: "Seed", tags: ["a"], contentKind: "seed", name: "secret.txt", mime: "text/plain", content: new Blob(["words"]), protection: { kind: "picture", shown: shown("lake", "pass"), name: "Lake" } });
    expect(vault.getState()).toEqual({ status: "unlocked", device: null });
    await expect(vault.list()).resolves.toMatchObject([{ secretId, label: { title: "Seed", tags: ["a"] } }]);
    await expect(vault.images()).resolves.toMatchObject([{ name: "Lake" }]);
    const recovered = await vault.recover(secretId, shown("lake", "pass"));
    expect(new TextDecoder().decode(recovered.content)).toBe("words");
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

  it("is of no use after signing out", async () => {
    const vault = createFakeVault();
    await vault.signOut();
    await expect(vault.list()).rejects.toMatchObject({ code: "vault_unavailable" });
  });
});

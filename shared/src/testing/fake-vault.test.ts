import { maxOpeners } from "../api/index.ts";
import { createFakeVault, createPictureFile, createOpenerHandle, createKeyHandle } from "./index.ts";

// What it has in common with the real vault is told in remote-recovery/vault/src/contracts.
describe("createFakeVault", () => {
  it("fails when told to, and gives up when cancelled", async () => {
    const vault = createFakeVault();
    vault.failWith("list", "list_mismatch");
    await expect(vault.list()).rejects.toMatchObject({ code: "list_mismatch" });
    vault.failWith("list", null);
    await expect(vault.list({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "cancelled" });
    expect(vault.calls).toEqual(["list", "list"]);
  });

  it("gives rows in batches of the size that was asked for, the newest first", async () => {
    const vault = createFakeVault({
      secrets: ["a", "b", "c"].map((title) => ({ title, content: title })),
      batchSize: 2,
    });
    const batches: (readonly [readonly (string | undefined)[], number, number])[] = [];
    const rows = await vault.list({
      onRows: (batch, { opened, total }) => {
        batches.push([batch.map(({ label }) => label?.title), opened, total]);
      },
    });
    expect(batches).toEqual([
      [["c", "b"], 2, 3],
      [["a"], 3, 3],
    ]);
    expect(rows.map(({ label }) => label?.title)).toEqual(["a", "b", "c"]);
  });

  it("has room for so many openers, as the real one, which takes its time to fill", async () => {
    const keys = Array.from(
      { length: maxOpeners - 1 },
      (_, index) => ({ kind: "passkey", name: `Key ${String(index)}`, secret: String(index + 1) }) as const,
    );
    const { openers } = createFakeVault({ secrets: [{ title: "Deed", content: "house" }], keys });
    const createPasskey = (fill: number) => ({
      handle: createKeyHandle({ kind: "passkey", prf: new Uint8Array(32).fill(fill) }),
      name: "One more",
    });
    await expect(openers.add(createPasskey(99), createOpenerHandle(createPictureFile("garden")))).rejects.toMatchObject(
      {
        code: "limit_reached",
      },
    );
    await expect(openers.add(createPasskey(1), null)).resolves.toMatchObject({
      openerId: expect.any(String) as string,
    });
  });
});

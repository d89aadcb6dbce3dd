import { maxOpeners } from "../api/index.ts";
import { createFakeVault, createPictureFile, createOpenerHandle, createKeyHandle } from "./index.ts";

// remote-recovery/vault/src/contracts tests the behaviour that both the fake and the real vault
// have.
describe("createFakeVault", () => {
  it("rejects with the code of failWith, and when aborted", async () => {
    const vault = createFakeVault();
    vault.failWith("list", "list_mismatch");
    await expect(vault.list()).rejects.toMatchObject({ code: "list_mismatch" });
    vault.failWith("list", null);
    await expect(vault.list({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "cancelled" });
    expect(vault.calls).toEqual(["list", "list"]);
  });

  it("passes rows in batches of batchSize, newest first", async () => {
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

  it("limits the number of openers", async () => {
    const keys = Array.from(
      { length: maxOpeners - 1 },
      (_, index) => ({ kind: "passkey", name: `Key ${String(index)}`, credential: String(index + 1) }) as const,
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

import { createFakeVault } from "./index.ts";

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
});

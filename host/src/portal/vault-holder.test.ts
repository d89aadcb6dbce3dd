import { PortalError } from "@relicario/shared/errors";
import { createFakeVault } from "@relicario/shared/testing";

import { createVaultHolder } from "./vault-holder.ts";

describe("createVaultHolder", () => {
  it("loads the vault at the first read, and again only after a failure", async () => {
    const vault = createFakeVault();
    const loadVault = jest.fn(() => Promise.resolve(vault));
    loadVault.mockRejectedValueOnce(new PortalError("vault_unavailable"));
    const holder = createVaultHolder(loadVault);
    const first = holder.get();
    expect(holder.get()).toBe(first);
    await expect(first).rejects.toMatchObject({ code: "vault_unavailable" });
    expect(holder.hasFailed()).toBe(true);
    const second = holder.get();
    await expect(second).resolves.toBe(vault);
    expect(holder.hasFailed()).toBe(false);
    expect(holder.get()).toBe(second);
    expect(loadVault).toHaveBeenCalledTimes(2);
  });
});

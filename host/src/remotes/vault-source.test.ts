import type { PortalForServices, VaultFactory } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { createFakeVault, createPictureFile, createOpenerHandle } from "@relicario/shared/testing";

import { createVaultSource } from "./vault-source.ts";

const servicePortal: PortalForServices = {
  vendorId: "relicario",
  account: { userId: "u", issuer: "i", subject: "s" },
  frame: () => Promise.reject(new PortalError("unknown")),
  vaultOrigin: "https://vault.example",
  showDialog: () => Promise.resolve(),
};

function setUp() {
  const vault = createFakeVault({ secrets: [{ title: "a", content: "b" }] });
  const factory = jest.fn<ReturnType<VaultFactory>, Parameters<VaultFactory>>(() => Promise.resolve(vault));
  const loadRecovery = jest.fn(() => Promise.resolve({ provides: { vault: factory } }));
  return {
    vault,
    factory,
    loadRecovery,
    source: createVaultSource({ loadRecovery, createVaultPortal: () => Promise.resolve(servicePortal) }),
  };
}

describe("createVaultSource", () => {
  it("loads recovery at the first call, and creates the vault once", async () => {
    const { source, factory, loadRecovery, vault } = setUp();
    expect(loadRecovery).not.toHaveBeenCalled();
    await expect(Promise.all([source.get(), source.get()])).resolves.toEqual([vault, vault]);
    expect(factory).toHaveBeenCalledTimes(1);
    expect(factory).toHaveBeenCalledWith(servicePortal);
  });

  it("rejects with vault_unavailable when recovery does not load, and retries at the next call", async () => {
    const { source, loadRecovery } = setUp();
    loadRecovery.mockRejectedValueOnce(new PortalError("remote_unreachable"));
    await expect(source.get()).rejects.toMatchObject({
      code: "vault_unavailable",
      details: { reason: "remote_unreachable" },
    });
    await expect(source.get()).resolves.toBeDefined();
  });

  it("says that the frame runs another version, which trying again does not change", async () => {
    const { source, factory } = setUp();
    factory.mockRejectedValueOnce(new PortalError("remote_incompatible"));
    await expect(source.get()).rejects.toMatchObject({ code: "remote_incompatible" });
  });

  it("notifies when it drops a vault whose frame is gone, and creates another", async () => {
    const { source, factory } = setUp();
    const onDropped = jest.fn();
    source.onDropped(onDropped);
    await source.get();
    source.drop();
    expect(onDropped).toHaveBeenCalledTimes(1);
    await source.get();
    expect(factory).toHaveBeenCalledTimes(2);
  });

  it("notifies when the vault was locked, not when it was unlocked", async () => {
    const { source, vault } = setUp();
    const onLocked = jest.fn();
    source.onLocked(onLocked);
    await source.get();
    await vault.lock();
    expect(onLocked).toHaveBeenCalledTimes(1);
    await vault.unlock(createOpenerHandle(createPictureFile("garden")));
    expect(onLocked).toHaveBeenCalledTimes(1);
  });

  it("locks the vault at a lock, and signs it out and drops it at sign-out", async () => {
    const { source, vault, factory } = setUp();
    await source.get();
    await source.lock("lock");
    expect(vault.getState().status).toBe("locked");
    await source.lock("sign_out");
    expect(vault.calls).toContain("signOut");
    await source.get();
    expect(factory).toHaveBeenCalledTimes(2);
  });

  it("locks and drops the vault when recovery was disabled, and creates no new one", async () => {
    const { source, vault, factory } = setUp();
    await source.get();
    await source.stop();
    expect(vault.getState().status).toBe("locked");
    await expect(source.get()).rejects.toMatchObject({
      code: "vault_unavailable",
      details: { reason: "remote_disabled" },
    });
    expect(factory).toHaveBeenCalledTimes(1);
  });

  it("does nothing when there is no vault", async () => {
    const { source, loadRecovery } = setUp();
    await source.lock("sign_out");
    expect(loadRecovery).not.toHaveBeenCalled();
  });
});

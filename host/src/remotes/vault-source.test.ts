import type { PortalForServices, VaultFactory } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import {
  createFakeHttpClient,
  createFakeVault,
  createPictureFile,
  createOpenerHandle,
} from "@relicario/shared/testing";

import { createVaultSource } from "./vault-source.ts";

const servicePortal: PortalForServices = {
  http: createFakeHttpClient(),
  vendorId: "relicario",
  account: { userId: "u", issuer: "i", subject: "s" },
  signInAgain: () => Promise.resolve({ authTime: 0 }),
  takeLinkSecret: () => Promise.resolve(null),
};

function setUp() {
  const vault = createFakeVault({ secrets: [{ title: "a", content: "b" }] });
  const factory = jest.fn<ReturnType<VaultFactory>, Parameters<VaultFactory>>(() => Promise.resolve(vault));
  const loadRecovery = jest.fn(() => Promise.resolve({ provides: { vault: factory } }));
  return {
    vault,
    factory,
    loadRecovery,
    source: createVaultSource({ loadRecovery, portal: () => Promise.resolve(servicePortal) }),
  };
}

describe("createVaultSource", () => {
  it("loads recovery when the vault is first asked for, and makes it once", async () => {
    const { source, factory, loadRecovery, vault } = setUp();
    expect(loadRecovery).not.toHaveBeenCalled();
    await expect(Promise.all([source.get(), source.get()])).resolves.toEqual([vault, vault]);
    expect(factory).toHaveBeenCalledTimes(1);
    expect(factory).toHaveBeenCalledWith(servicePortal);
  });

  it("is vault_unavailable when recovery does not load, and can be asked for again", async () => {
    const { source, loadRecovery } = setUp();
    loadRecovery.mockRejectedValueOnce(new PortalError("remote_unreachable"));
    await expect(source.get()).rejects.toMatchObject({
      code: "vault_unavailable",
      details: { reason: "remote_unreachable" },
    });
    await expect(source.get()).resolves.toBeDefined();
  });

  it("tells when the vault was locked, not when it was opened", async () => {
    const { source, vault } = setUp();
    const onLocked = jest.fn();
    source.onLocked(onLocked);
    await source.get();
    await vault.lock();
    expect(onLocked).toHaveBeenCalledTimes(1);
    await vault.unlock(createOpenerHandle(createPictureFile("garden")));
    expect(onLocked).toHaveBeenCalledTimes(1);
  });

  it("locks on lock, and signs out and forgets on sign-out", async () => {
    const { source, vault, factory } = setUp();
    await source.get();
    await source.lock("lock");
    expect(vault.getState().status).toBe("locked");
    await source.lock("sign_out");
    expect(vault.calls).toContain("signOut");
    await source.get();
    expect(factory).toHaveBeenCalledTimes(2);
  });

  it("locks and forgets when recovery was switched off, and makes none any more", async () => {
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

  it("does nothing when no vault was made", async () => {
    const { source, loadRecovery } = setUp();
    await source.lock("sign_out");
    expect(loadRecovery).not.toHaveBeenCalled();
  });
});

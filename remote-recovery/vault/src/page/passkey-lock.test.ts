import "fake-indexeddb/auto";

import { PortalError } from "@relicario/shared/errors";

import { readDeviceRecord } from "../device/device.ts";
import { presentKey } from "../rpc/presented-opener.ts";
import { createChannelWorkers, unrefMessagePorts } from "../testing/channel-workers.ts";
import { createFakeService } from "../testing/fake-service.ts";
import { createFakeMachine, type FakeMachine } from "../testing/fake-machine.ts";
import { makePictureHandle as makeHandle, textSecret, userId } from "../testing/world.ts";
import { createVaultClient } from "./vault-client.ts";
import type { VaultPortal } from "./vault-portal.ts";

unrefMessagePorts();

const presentTestPasskey = () => presentKey({ kind: "passkey", prf: new Uint8Array(32).fill(7) });

describe("an own device with a passkey", () => {
  let machine: FakeMachine;
  let portal: VaultPortal;
  let accountCount = 0;
  const currentAccount = () => ({
    vendorId: portal.vendorId,
    issuer: portal.account.issuer,
    subject: portal.account.subject,
  });
  const openTab = () => createVaultClient(portal, createChannelWorkers(), { environment: machine.openTab() });
  const openWithPasskey = async () => {
    const vault = openTab();
    await vault.protect(textSecret("Seed", makeHandle("market")));
    await vault.setDeviceKind("own");
    await vault.openers.add({ handle: presentTestPasskey(), name: "This device" }, null);
    return vault;
  };

  beforeEach(() => {
    machine = createFakeMachine();
    machine.now = Date.now();
    const service = createFakeService(userId);
    portal = {
      http: service.http,
      vendorId: "relicario",
      account: { userId, issuer: "https://id.example", subject: `passkey ${String(accountCount++)}` },
      signInAgain: () => Promise.resolve({ authTime: 0 }),
      signInToUnlock: () => Promise.resolve({ authTime: Math.floor(machine.now / 1000) + 60 }),
      signInSilently: () => Promise.reject(new PortalError("login_required")),
      confirmMark: () => Promise.resolve(true),
      takeLinkSecret: () => Promise.resolve(null),
    };
  });

  it("removes its metadata keys when locked, so that only an opener unlocks it, not a fresh sign-in", async () => {
    const vault = await openWithPasskey();
    expect((await readDeviceRecord(currentAccount())).metadataKeys).not.toBeNull();
    await vault.lock();
    expect(await readDeviceRecord(currentAccount())).toMatchObject({
      metadataKeys: null,
      locked: true,
      kind: "own",
      remembered: { stateRev: 2 },
    });
    await expect(vault.unlockBySignIn()).rejects.toMatchObject({ code: "opener_needed" });
    await vault.unlock(presentTestPasskey());
    expect((await readDeviceRecord(currentAccount())).metadataKeys).not.toBeNull();
    expect((await vault.list()).map(({ label }) => label?.title)).toEqual(["Seed"]);
  });

  it("removes its metadata keys after it timed out while no page was open", async () => {
    const vault = await openWithPasskey();
    await vault.signOut();
    machine.now += 16 * 60_000;
    const laterTab = openTab();
    expect((await laterTab.list()).map(({ label }) => label)).toEqual([null]);
    expect((await readDeviceRecord(currentAccount())).metadataKeys).toBeNull();
    await expect(laterTab.unlockBySignIn()).rejects.toMatchObject({ code: "opener_needed" });
    await laterTab.unlock(makeHandle("market"));
    expect((await laterTab.list()).map(({ label }) => label?.title)).toEqual(["Seed"]);
  });

  it("keeps its metadata keys when locked after the passkey was removed", async () => {
    const vault = await openWithPasskey();
    const { openers } = await vault.openers.list();
    await vault.openers.remove(openers.find(({ kind }) => kind === "passkey")?.id ?? "", makeHandle("market"));
    await vault.lock();
    expect(await readDeviceRecord(currentAccount())).toMatchObject({ locked: true, passkeyOpener: null });
    expect((await readDeviceRecord(currentAccount())).metadataKeys).not.toBeNull();
  });
});

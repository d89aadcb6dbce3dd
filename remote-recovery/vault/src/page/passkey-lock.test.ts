import "fake-indexeddb/auto";

import type { PortalForServices } from "@relicario/shared/contract";

import { readDeviceRecord } from "../device/device.ts";
import { presentKey } from "../rpc/presented-opener.ts";
import { createChannelWorkers, unrefMessagePorts } from "../testing/channel-workers.ts";
import { createFakeService } from "../testing/fake-service.ts";
import { createFakeMachine, type FakeMachine } from "../testing/fake-machine.ts";
import { makePictureHandle as makeHandle, textSecret, userId } from "../testing/world.ts";
import { createVaultClient } from "./vault-client.ts";

unrefMessagePorts();

const presentTestPasskey = () => presentKey({ kind: "passkey", prf: new Uint8Array(32).fill(7) });

describe("an own device with a passkey", () => {
  let machine: FakeMachine;
  let portal: PortalForServices;
  let accountCount = 0;
  const currentAccount = () => ({
    vendorId: portal.vendorId,
    issuer: portal.account.issuer,
    subject: portal.account.subject,
  });
  const openTab = () => createVaultClient(portal, createChannelWorkers(), { environment: machine.tab() });
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
      signInAgain: () => Promise.resolve({ authTime: Math.floor(machine.now / 1000) + 60 }),
      takeLinkSecret: () => Promise.resolve(null),
    };
  });

  it("loses its metadata keys with a lock: no fresh sign-in unlocks it, and the passkey does", async () => {
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

  it("loses them when it locked itself while no page was open", async () => {
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

  it("keeps them over a lock once the passkey was removed", async () => {
    const vault = await openWithPasskey();
    const { openers } = await vault.openers.list();
    await vault.openers.remove(openers.find(({ kind }) => kind === "passkey")?.id ?? "", makeHandle("market"));
    await vault.lock();
    expect(await readDeviceRecord(currentAccount())).toMatchObject({ locked: true, passkeyOpener: null });
    expect((await readDeviceRecord(currentAccount())).metadataKeys).not.toBeNull();
  });
});

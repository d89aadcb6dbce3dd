import "fake-indexeddb/auto";

import type { PortalForServices } from "@relicario/shared/contract";

import { getLockedSince, saveAutoLockState } from "../device/device.ts";
import { createIdleLock, type IdleLockOptions } from "../device/idle-lock.ts";
import { createChannelWorkers, unrefMessagePorts } from "../testing/channel-workers.ts";
import { createFakeService } from "../testing/fake-service.ts";
import { createFakeMachine, type FakeMachine } from "../testing/fake-machine.ts";
import { makePictureHandle as shown, textSecret, userId } from "../testing/world.ts";
import type { WorkerStarter } from "../page/browser-workers.ts";
import { createVaultClient } from "../page/vault-client.ts";

unrefMessagePorts();

const minute = 60_000;
const inTheYear3000 = Date.parse("3000-01-01T00:00:00.000Z");

describe("somebody who wants the vault to stay unlocked", () => {
  let machine: FakeMachine;
  let portal: PortalForServices;
  let accountCount = 0;
  const account = () => ({ vendorId: portal.vendorId, issuer: portal.account.issuer, subject: portal.account.subject });
  const openTab = (workers: WorkerStarter = createChannelWorkers()) => {
    const environment = machine.tab();
    return { vault: createVaultClient(portal, workers, { environment }), ...environment };
  };
  const openOnOwnDevice = async () => {
    const tab = openTab();
    await tab.vault.protect(textSecret("Seed", shown("market")));
    await tab.vault.setDeviceKind("own");
    return tab;
  };

  beforeEach(() => {
    machine = createFakeMachine();
    machine.now = Date.now();
    const service = createFakeService(userId);
    portal = {
      http: service.http,
      vendorId: "relicario",
      account: { userId, issuer: "https://id.example", subject: `stays ${String(accountCount++)}` },
      signInAgain: () => Promise.resolve({ authTime: 0 }),
      takeLinkSecret: () => Promise.resolve(null),
    };
  });

  it("cannot hold the lock off by a tab that claims activity in the year 3000", () => {
    let locks = 0;
    const options: IdleLockOptions = { account: "alba", minutes: 15, lock: () => locks++, save: () => undefined };
    const tab = machine.tab();
    createIdleLock(options, tab).watch();
    machine
      .tab()
      .channel("alba", () => undefined)
      ?.post({ kind: "activity", at: inTheYear3000 });
    machine.now += 15 * minute;
    tab.runDueTimers();
    expect(locks).toBe(1);
  });

  it("cannot hold it off by a last activity in the year 3000 on the device: a page loaded later starts locked", async () => {
    await openOnOwnDevice();
    await saveAutoLockState(account(), { lastActivity: inTheYear3000 });
    const reloadedTab = openTab();
    expect((await reloadedTab.vault.list()).map((row) => row.label)).toEqual([null]);
    expect(
      getLockedSince({ locked: false, lockedAt: null, lastActivity: inTheYear3000, autoLockMinutes: 15 }, machine.now),
    ).toBe(machine.now);
  });

  it("cannot make a fresh sign-in useless by a lock in the year 3000", () => {
    expect(
      getLockedSince({ locked: true, lockedAt: inTheYear3000, lastActivity: null, autoLockMinutes: 15 }, machine.now),
    ).toBe(machine.now);
  });

  it("gains nothing by a tab that is just starting when the person locks", async () => {
    const { vault } = await openOnOwnDevice();
    const starter = createChannelWorkers();
    let lockNow: () => Promise<void> = () => vault.lock();
    const slow: WorkerStarter = {
      ...starter,
      vault: async () => {
        const worker = await starter.vault();
        const start = async (...parameters: Parameters<typeof worker.remote.start>): Promise<void> => {
          await worker.remote.start(...parameters); // it has looked at the device: not locked
          const lockOnce = lockNow;
          lockNow = () => Promise.resolve();
          await lockOnce(); // the message reaches a tab that has nothing to lock yet
        };
        const remote = new Proxy(worker.remote, {
          get: (target, member, self): unknown => (member === "start" ? start : Reflect.get(target, member, self)),
        });
        return { ...worker, remote };
      },
    };
    const startingTab = openTab(slow);
    await startingTab.vault.list().catch(() => undefined); // refused, or locked rows
    expect((await startingTab.vault.list()).map((row) => row.label)).toEqual([null]);
    expect(startingTab.vault.getState().status).toBe("locked");
  });

  it("gains nothing by a tab that the browser had put aside, and that heard no lock", async () => {
    const suspendedTab = await openOnOwnDevice();
    expect(suspendedTab.vault.getState().status).toBe("unlocked");
    // its messages get lost
    const disconnectedMachine = {
      tab: (): ReturnType<FakeMachine["tab"]> => ({ ...machine.tab(), channel: () => null }),
    };
    const other = createVaultClient(portal, createChannelWorkers(), { environment: disconnectedMachine.tab() });
    await other.refresh();
    await other.lock();
    const locked = new Promise<void>((resolve) => {
      suspendedTab.vault.subscribe(resolve);
    });
    machine.now += minute;
    suspendedTab.triggerActivity();
    await locked;
    expect(suspendedTab.vault.getState().status).toBe("locked");
  });

  it.each([
    ["the provider's clock is three minutes ahead", 180, -2, 0],
    ["the device's clock is set back an hour", 0, 58, -60 * minute],
    ["it is loaded anew", 0, 0, 0],
  ])(
    "gains nothing by the sign-in from before the lock, when %s",
    async (_case, providerAhead, deviceAhead, clockShift) => {
      machine.now += deviceAhead * minute;
      portal = { ...portal, account: { ...portal.account, authTime: Math.floor(machine.now / 1000) + providerAhead } };
      const { vault } = await openOnOwnDevice();
      machine.now += 2 * minute;
      await vault.lock();
      machine.now += clockShift;
      const { vault: reloaded } = openTab();
      expect((await reloaded.list()).map((row) => row.label)).toEqual([null]);
      await expect(reloaded.refresh()).resolves.toEqual({ status: "locked" });
    },
  );
});

import "fake-indexeddb/auto";

import { PortalError } from "@relicario/shared/errors";

import { getLockedSince, saveDeviceSettings } from "../device/device.ts";
import { createIdleLock, type IdleLockOptions } from "../device/idle-lock.ts";
import { createChannelWorkers, unrefMessagePorts } from "../testing/channel-workers.ts";
import { createFakeService } from "../testing/fake-service.ts";
import { createFakeMachine, type FakeMachine } from "../testing/fake-machine.ts";
import { makePictureHandle as shown, textSecret, userId } from "../testing/world.ts";
import type { WorkerStarter } from "../page/browser-workers.ts";
import { createVaultClient } from "../page/vault-client.ts";
import type { VaultPortal } from "../page/vault-portal.ts";

unrefMessagePorts();

const minute = 60_000;
const inTheYear3000 = Date.parse("3000-01-01T00:00:00.000Z");

describe("an attacker who wants the vault to stay unlocked", () => {
  let machine: FakeMachine;
  let portal: VaultPortal;
  let service: ReturnType<typeof createFakeService>;
  let accountCount = 0;
  const account = () => ({ vendorId: portal.vendorId, issuer: portal.account.issuer, subject: portal.account.subject });
  const openTab = (workers: WorkerStarter = createChannelWorkers()) => {
    const environment = machine.openTab();
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
    service = createFakeService(userId);
    portal = {
      http: service.http,
      vendorId: "relicario",
      account: { userId, issuer: "https://id.example", subject: `stays ${String(accountCount++)}` },
      signInAgain: () => Promise.resolve({ authTime: 0 }),
      signInToUnlock: () => Promise.resolve({ authTime: 0 }),
      signInSilently: () => Promise.reject(new PortalError("login_required")),
      confirmMark: () => Promise.resolve(true),
      takeLinkSecret: () => Promise.resolve(null),
    };
  });

  it("cannot delay the lock with a tab that claims activity in the year 3000", () => {
    let lockCount = 0;
    const options: IdleLockOptions = {
      storageKey: "alba",
      minutes: 15,
      lock: () => lockCount++,
      save: () => undefined,
    };
    const tab = machine.openTab();
    createIdleLock(options, tab).watch();
    machine
      .openTab()
      .channel("alba", () => undefined)
      ?.post({ kind: "activity", at: inTheYear3000 });
    machine.now += 15 * minute;
    tab.runDueTimers();
    expect(lockCount).toBe(1);
  });

  it("cannot delay the lock with a last activity in the year 3000 on the device: a page loaded later starts locked", async () => {
    await openOnOwnDevice();
    await saveDeviceSettings(account(), { lastActivity: inTheYear3000 });
    const reloadedTab = openTab();
    expect((await reloadedTab.vault.list()).map((row) => row.label)).toEqual([null]);
    expect(
      getLockedSince({ locked: false, lockedAt: null, lastActivity: inTheYear3000, autoLockMinutes: 15 }, machine.now),
    ).toBe(machine.now);
  });

  it("cannot make a fresh sign-in useless with a lock in the year 3000", () => {
    expect(
      getLockedSince({ locked: true, lockedAt: inTheYear3000, lastActivity: null, autoLockMinutes: 15 }, machine.now),
    ).toBe(machine.now);
  });

  it("cannot delay the lock with a service that claims a higher key epoch", async () => {
    const tab = openTab();
    await tab.vault.protect(textSecret("Seed", shown("market")));
    await tab.vault.setDeviceKind("shared");
    service.transformResponse = (call, answer) =>
      call === "GET /user/keyring" ? { ...(answer as object), key_epoch: 2 } : answer;
    expect(await tab.vault.refresh()).toEqual({ status: "locked" });
    machine.now += 15 * minute;
    tab.runDueTimers();
    service.transformResponse = (_call, answer) => answer;
    expect((await tab.vault.list()).map(({ label }) => label)).toEqual([null]);
    expect(tab.vault.getState()).toEqual({ status: "locked" });
  });

  it("cannot delay the lock by claiming a higher key epoch on the first reading of a reloaded page", async () => {
    await openOnOwnDevice();
    service.transformResponse = (call, answer) =>
      call === "GET /user/keyring" ? { ...(answer as object), key_epoch: 2 } : answer;
    const reloadedTab = openTab();
    expect(await reloadedTab.vault.refresh()).toEqual({ status: "locked" });
    machine.now += 15 * minute;
    reloadedTab.runDueTimers();
    service.transformResponse = (_call, answer) => answer;
    expect((await reloadedTab.vault.list()).map(({ label }) => label)).toEqual([null]);
  });

  it("cannot delay the lock by failing the reading after a fresh sign-in", async () => {
    const tab = await openOnOwnDevice();
    await tab.vault.lock();
    portal = { ...portal, signInToUnlock: () => Promise.resolve({ authTime: machine.now / 1000 + 1 }) };
    const otherTab = openTab();
    service.transformResponse = (call, answer) => {
      if (call === "GET /user/keyring") throw new PortalError("timed_out");
      return answer;
    };
    await expect(otherTab.vault.unlockBySignIn()).rejects.toMatchObject({ code: "timed_out" });
    machine.now += 15 * minute;
    otherTab.runDueTimers();
    service.transformResponse = (_call, answer) => answer;
    expect((await otherTab.vault.list()).map(({ label }) => label)).toEqual([null]);
  });

  it("gains nothing from a tab that is starting when the person locks", async () => {
    const { vault } = await openOnOwnDevice();
    const starter = createChannelWorkers();
    let lockNow: () => Promise<void> = () => vault.lock();
    const slowStarter: WorkerStarter = {
      ...starter,
      vault: async () => {
        const worker = await starter.vault();
        const start = async (...parameters: Parameters<typeof worker.remote.start>): Promise<void> => {
          await worker.remote.start(...parameters); // the device was read as unlocked
          const lockOnce = lockNow;
          lockNow = () => Promise.resolve();
          await lockOnce(); // this tab has nothing to lock yet
        };
        const remote = new Proxy(worker.remote, {
          get: (target, member, self): unknown => (member === "start" ? start : Reflect.get(target, member, self)),
        });
        return { ...worker, remote };
      },
    };
    const startingTab = openTab(slowStarter);
    await startingTab.vault.list().catch(() => undefined); // rejected, or locked rows
    expect((await startingTab.vault.list()).map((row) => row.label)).toEqual([null]);
    expect(startingTab.vault.getState().status).toBe("locked");
  });

  it("gains nothing from a tab in the back/forward cache that received no lock message", async () => {
    const suspendedTab = await openOnOwnDevice();
    expect(suspendedTab.vault.getState().status).toBe("unlocked");
    // a tab whose messages are lost
    const disconnectedMachine = {
      tab: (): ReturnType<FakeMachine["openTab"]> => ({ ...machine.openTab(), channel: () => null }),
    };
    const otherVault = createVaultClient(portal, createChannelWorkers(), { environment: disconnectedMachine.tab() });
    await otherVault.refresh();
    await otherVault.lock();
    const lockEvent = new Promise<void>((resolve) => {
      suspendedTab.vault.subscribe(resolve);
    });
    machine.now += minute;
    suspendedTab.triggerActivity();
    await lockEvent;
    expect(suspendedTab.vault.getState().status).toBe("locked");
  });

  it.each([
    ["the provider's clock is three minutes ahead", 180, -2, 0],
    ["the device's clock is set back an hour", 0, 58, -60 * minute],
    ["it is loaded anew", 0, 0, 0],
  ])(
    "gains nothing from the sign-in before the lock, when %s",
    async (_case, providerAheadSeconds, deviceAheadMinutes, clockShiftMs) => {
      machine.now += deviceAheadMinutes * minute;
      const authTime = Math.floor(machine.now / 1000) + providerAheadSeconds;
      portal = {
        ...portal,
        account: { ...portal.account, authTime },
        signInToUnlock: () => Promise.resolve({ authTime }), // the provider did not ask again
      };
      const { vault } = await openOnOwnDevice();
      machine.now += 2 * minute;
      await vault.lock();
      machine.now += clockShiftMs;
      const { vault: reloadedVault } = openTab();
      expect((await reloadedVault.list()).map((row) => row.label)).toEqual([null]);
      await expect(reloadedVault.refresh()).resolves.toEqual({ status: "locked" });
      await expect(reloadedVault.unlockBySignIn()).rejects.toMatchObject({ code: "login_required" });
    },
  );
});

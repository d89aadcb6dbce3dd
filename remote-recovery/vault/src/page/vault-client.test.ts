import "fake-indexeddb/auto";

import type { PortalForServices } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { saveAutoLockState } from "../device/device.ts";
import { createChannelWorkers, unrefMessagePorts } from "../testing/channel-workers.ts";
import { lastOf } from "../testing/fake-account.ts";
import { fakePicture } from "../testing/fake-engine.ts";
import { createFakeService, type FakeService } from "../testing/fake-service.ts";
import { createFakeMachine, type FakeMachine, type FakeTab } from "../testing/fake-machine.ts";
import { makePictureHandle as makeHandle, textSecret, userId } from "../testing/world.ts";
import { createVaultClient } from "./vault-client.ts";

unrefMessagePorts();

describe("createVaultClient", () => {
  let service: FakeService;
  let workers: ReturnType<typeof createChannelWorkers>;
  let portal: PortalForServices;
  let machine: FakeMachine;
  let signedInAt: number;
  let accountCount = 0;
  /** A tab of the machine. */
  const openTab = (environment: FakeTab = machine.tab()): ReturnType<typeof createVaultClient> =>
    createVaultClient(portal, workers, { environment });

  beforeEach(() => {
    service = createFakeService(userId);
    workers = createChannelWorkers();
    machine = createFakeMachine();
    machine.now = Date.now(); // the worker's own clock
    signedInAt = 0;
    portal = {
      http: service.http,
      vendorId: "relicario",
      account: { userId, issuer: "https://id.example", subject: `client ${String(accountCount++)}` },
      signInAgain: () => Promise.resolve({ authTime: signedInAt }),
      takeLinkSecret: () => Promise.resolve(null),
    };
  });

  it("starts its worker before it is asked, and no engine before a picture is looked at", async () => {
    const vault = openTab();
    await Promise.resolve();
    expect(workers.started).toEqual(["vault"]);
    expect(vault.getState()).toEqual({ status: "unknown" });
    expect(await vault.list()).toEqual([]);
    expect(workers.started).toEqual(["vault"]);
    expect(vault.getState()).toEqual({ status: "empty" });
    await vault.examine(fakePicture("market"));
    expect(workers.started).toEqual(["vault", "engine"]);
  });

  describe("a list that follows a refresh", () => {
    const countKeyringReads = (): number => service.calls.filter((call) => call === "GET /user/keyring").length;
    /**
     * A tab of an own device whose account has one secret, and the service as it was then; the
     * keyring is read.
     */
    const openRefreshed = async () => {
      const vault = openTab();
      await vault.protect(textSecret("First", makeHandle("market")));
      await vault.setDeviceKind("own");
      const before = service.snapshot();
      await vault.refresh();
      return { vault, before };
    };

    it("goes by the keyring that was read, once", async () => {
      const { vault } = await openRefreshed();
      const reads = countKeyringReads();
      expect((await vault.list()).map(({ label }) => label?.title)).toEqual(["First"]);
      expect(countKeyringReads()).toBe(reads);
      await vault.list();
      expect(countKeyringReads()).toBe(reads + 1);
    });

    it("reads it again when it does not follow soon", async () => {
      const { vault } = await openRefreshed();
      const reads = countKeyringReads();
      const later = performance.now() + 5_000;
      const clock = jest.spyOn(performance, "now").mockReturnValue(later);
      await vault.list();
      clock.mockRestore();
      expect(countKeyringReads()).toBe(reads + 1);
    });

    it("has labels when the vault was opened in between", async () => {
      const { vault } = await openRefreshed();
      await vault.lock();
      expect((await vault.refresh()).status).toBe("locked");
      await vault.unlock(makeHandle("market"));
      expect((await vault.list()).map(({ label }) => label?.title)).toEqual(["First"]);
    });

    it.each(["this tab", "another tab"])("is not believed by it once %s has seen a newer state", async (where) => {
      const { vault, before } = await openRefreshed();
      const writer = where === "this tab" ? vault : openTab();
      if (writer !== vault) await writer.refresh();
      await writer.protect(textSecret("Second"));
      service.account = before;
      await expect(vault.list()).rejects.toMatchObject({ code: "older_state" });
    });
  });

  it("protects, tells the state before it answers, recovers, and gives the age file only when asked", async () => {
    const vault = openTab();
    const statuses: string[] = [];
    vault.subscribe(() => statuses.push(vault.getState().status));
    const phases = new Set<string>();
    const { secretId } = await vault.protect(textSecret("Seed", makeHandle("market")), {
      onProgress: ({ phase }) => phases.add(phase),
    });
    expect(vault.getState()).toEqual({ status: "unlocked", device: null });
    expect(lastOf(statuses)).toBe("unlocked");
    expect([...phases]).toEqual(expect.arrayContaining(["sealing", "passphrase", "sending"]));
    const secret = await vault.openSecret(secretId, makeHandle("market"));
    expect(new TextDecoder().decode(secret.content ?? undefined)).toBe("content of Seed");
    expect(JSON.stringify(secret)).not.toContain("AGE-SECRET-KEY");
    const { identity, size } = await secret.exportAgeFile();
    expect(identity).toMatch(/^AGE-SECRET-KEY-PQ-1/);
    expect(size).toBe("content of Seed".length);
    secret.dispose();
    await expect(secret.exportAgeFile()).rejects.toMatchObject({ code: "vault_locked" });
  });

  it("ends the worker when locked: calls under way and age files end too, and the next call starts anew", async () => {
    const vault = openTab();
    const { secretId } = await vault.protect(textSecret("Seed", makeHandle("market")));
    const secret = await vault.openSecret(secretId, makeHandle("market"));
    service.beforeCall = () => new Promise(() => undefined);
    const pendingList = vault.list();
    const settled = expect(pendingList).rejects.toMatchObject({ code: "vault_locked" });
    await vault.lock();
    await settled;
    await expect(secret.exportAgeFile()).rejects.toMatchObject({ code: "vault_locked" });
    expect(vault.getState()).toEqual({ status: "locked" });
    service.beforeCall = () => undefined;
    expect((await vault.list()).map((row) => row.label)).toEqual([null]);
    await vault.unlock(makeHandle("market"));
    expect((await vault.list()).map((row) => row.label?.title)).toEqual(["Seed"]);
  });

  it("forgets a failed start, of the vault or of the engine, and tries again", async () => {
    workers.failNext = "vault";
    const vault = openTab();
    await new Promise((resolve) => setImmediate(resolve)); // nobody asked for it: nobody is told
    expect(workers.failNext).toBeNull();
    workers.failNext = "vault";
    await expect(vault.list()).rejects.toMatchObject({ code: "vault_unavailable" });
    expect(await vault.list()).toEqual([]);
    workers.failNext = "engine";
    await expect(vault.examine(fakePicture("market"))).rejects.toMatchObject({ code: "vault_unavailable" });
    expect((await vault.examine(fakePicture("market"))).level).toBe("green");
  });

  it("cancels by signal, before and during a call", async () => {
    const vault = openTab();
    const abortedSignal = AbortSignal.abort();
    await expect(vault.list({ signal: abortedSignal })).rejects.toMatchObject({ code: "cancelled" });
    const controller = new AbortController();
    service.beforeCall = (call) => {
      if (call === "GET /user/keyring") controller.abort();
    };
    await expect(
      vault.protect(textSecret("Seed", makeHandle("market")), { signal: controller.signal }),
    ).rejects.toMatchObject({ code: "cancelled" });
    expect(service.account.rows.size).toBe(0);
  });

  it("carries errors by code and details", async () => {
    const vault = openTab();
    await expect(vault.protect(textSecret("Seed", makeHandle("plain-wall")))).rejects.toMatchObject({
      code: "picture_too_plain",
      details: { reasons: ["estimate"] },
    });
    await expect(vault.protect({ ...textSecret("Seed", makeHandle("market")), title: "" })).rejects.toMatchObject({
      code: "validation_error",
      details: { fields: ["title"] },
    });
  });

  it("is of no use after sign-out: no worker is left, and what the device keeps is the host's to wipe", async () => {
    const vault = openTab();
    await vault.protect(textSecret("Seed", makeHandle("market")));
    await vault.setDeviceKind("own");
    await vault.signOut();
    expect(vault.getState()).toEqual({ status: "unknown" });
    await expect(vault.list()).rejects.toMatchObject({ code: "vault_unavailable" });
    expect(workers.ended).toEqual(workers.started);
    const next = openTab();
    expect((await next.list()).map((row) => row.label?.title)).toEqual(["Seed"]);
  });

  it("starts locked after a lock on an own device", async () => {
    const vault = openTab();
    await vault.protect(textSecret("Seed", makeHandle("market")));
    await vault.setDeviceKind("own");
    await vault.lock();
    const reloaded = openTab();
    expect((await reloaded.list()).map((row) => row.label)).toEqual([null]);
    await reloaded.unlock(makeHandle("market"));
    expect(reloaded.getState()).toEqual({ status: "unlocked", device: "own" });
  });

  it("changes, restores and purges over the worker, and gives rows in batches", async () => {
    const vault = openTab();
    const { secretId } = await vault.protect(textSecret("Seed", makeHandle("market"), "one"));
    const content = {
      contentKind: "text",
      name: "secret.txt",
      mime: "text/plain",
      content: new Blob(["two"]),
    } as const;
    expect(await vault.update(secretId, { baseVersion: 1, title: "Renamed", content })).toEqual({ version: 2 });
    await expect(vault.update(secretId, { baseVersion: 1, title: "Late" })).rejects.toMatchObject({
      code: "version_conflict",
      details: { version: 2 },
    });
    expect(await vault.listVersions(secretId)).toMatchObject([{ version: 2 }, { version: 1 }]);
    expect(await vault.openSecret(secretId, makeHandle("market"), { version: 1 })).toMatchObject({
      current: false,
      title: "Seed",
    });
    expect(await vault.restoreVersion(secretId, 1, makeHandle("market"))).toEqual({ version: 3 });
    await vault.removeVersions(secretId, [2]);
    expect(await vault.listVersions(secretId)).toMatchObject([
      { dropped: false },
      { dropped: true },
      { dropped: false },
    ]);
    const batchSizes: number[] = [];
    expect(await vault.list({ onRows: (rows, { total }) => batchSizes.push(rows.length, total) })).toMatchObject([
      { version: 3, label: { title: "Renamed" } },
    ]);
    expect(batchSizes).toEqual([1, 1]);
    await vault.trash(secretId);
    await vault.purge([secretId]);
    expect(await vault.list()).toEqual([]);
  });
});

describe("locking", () => {
  const minute = 60_000;
  let service: FakeService;
  let machine: FakeMachine;
  let portal: PortalForServices;
  let signIns: number;
  let authTime: () => number;
  let accountCount = 0;
  const openTab = (environment: FakeTab = machine.tab()): ReturnType<typeof createVaultClient> =>
    createVaultClient(portal, createChannelWorkers(), { environment });
  /** A vault with a secret on a device that the person calls their own. */
  const openOwnDevice = async (
    surroundings: FakeTab = machine.tab(),
  ): Promise<ReturnType<typeof createVaultClient>> => {
    const vault = openTab(surroundings);
    await vault.protect(textSecret("Seed", makeHandle("market")));
    await vault.setDeviceKind("own");
    return vault;
  };
  const refreshStatus = async (vault: ReturnType<typeof createVaultClient>): Promise<string> =>
    (await vault.refresh()).status;

  beforeEach(() => {
    service = createFakeService(userId);
    machine = createFakeMachine();
    machine.now = Date.now();
    signIns = 0;
    authTime = () => Math.floor(machine.now / 1000);
    portal = {
      http: service.http,
      vendorId: "relicario",
      account: { userId, issuer: "https://id.example", subject: `lock ${String(accountCount++)}` },
      signInAgain: () => {
        signIns++;
        return Promise.resolve({ authTime: authTime() });
      },
      takeLinkSecret: () => Promise.resolve(null),
    };
  });

  /** Locks cross tabs, and are kept, a moment later. */
  const waitUntilLocked = (vault: ReturnType<typeof createVaultClient>): Promise<void> =>
    new Promise((resolve) => {
      if (vault.getState().status === "locked") resolve();
      else {
        const unsubscribe = vault.subscribe(() => {
          unsubscribe();
          resolve();
        });
      }
    });

  it("comes by itself after idle minutes: plaintext is out of reach, and other tabs lock too", async () => {
    const [firstTab, secondTab] = [machine.tab(), machine.tab()];
    const vault = await openOwnDevice(firstTab);
    const otherVault = openTab(secondTab);
    expect(await refreshStatus(otherVault)).toBe("unlocked");
    machine.now += 15 * minute;
    firstTab.runDueTimers();
    await Promise.all([waitUntilLocked(vault), waitUntilLocked(otherVault)]);
    expect((await vault.list()).map((row) => row.label)).toEqual([null]);
    expect((await otherVault.list()).map((row) => row.label)).toEqual([null]);
  });

  it("holds also when the page is gone before the device has it: a page loaded later starts locked", async () => {
    const tab = machine.tab();
    const vault = await openOwnDevice(tab);
    const locking = vault.lock();
    const pendingLock = tab.pendingLock.get();
    expect(pendingLock).toEqual({ at: machine.now, signIn: null });
    await locking;
    expect(tab.pendingLock.get()).toBeNull();
    await vault.unlockBySignIn(); // as if nothing had been kept
    tab.pendingLock.set(pendingLock);
    expect(await refreshStatus(openTab())).toBe("locked");
    expect(tab.pendingLock.get()).toBeNull();
  });

  it("in one tab reaches the other, where calls under way end", async () => {
    const vault = await openOwnDevice();
    const otherVault = openTab();
    expect(await refreshStatus(otherVault)).toBe("unlocked");
    service.beforeCall = () => new Promise(() => undefined);
    const underWay = expect(otherVault.list()).rejects.toMatchObject({ code: "vault_locked" });
    await vault.lock();
    await underWay;
    expect(otherVault.getState()).toEqual({ status: "locked" });
  });

  it("waits while somebody works in any tab", async () => {
    const [firstTab, secondTab] = [machine.tab(), machine.tab()];
    const vault = await openOwnDevice(firstTab);
    const otherVault = openTab(secondTab);
    await otherVault.refresh();
    machine.now += 14 * minute;
    secondTab.triggerActivity();
    machine.now += 14 * minute;
    firstTab.runDueTimers();
    expect(vault.getState().status).toBe("unlocked");
  });

  it("is undone by a fresh sign-in on an own device, never by asking alone", async () => {
    const vault = await openOwnDevice();
    await vault.lock();
    machine.now += minute;
    authTime = () => Math.floor(machine.now / 1000) - 61;
    await expect(vault.unlockBySignIn()).rejects.toMatchObject({ code: "login_required" });
    expect(await refreshStatus(vault)).toBe("locked");
    authTime = () => Math.floor(machine.now / 1000);
    await vault.unlockBySignIn();
    expect(vault.getState()).toEqual({ status: "unlocked", device: "own" });
    expect((await vault.list()).map((row) => row.label?.title)).toEqual(["Seed"]);
    await vault.unlockBySignIn();
    expect(signIns).toBe(2);
  });

  it("is undone by the sign-in that led to a page, unless that is older", async () => {
    const vault = await openOwnDevice();
    await vault.lock();
    const openTabSignedInAt = (authTime: number) => {
      portal = { ...portal, account: { ...portal.account, authTime } };
      return openTab();
    };
    expect(await refreshStatus(openTabSignedInAt(Math.floor(machine.now / 1000) - 1))).toBe("locked");
    expect(await refreshStatus(openTabSignedInAt(Math.floor(machine.now / 1000)))).toBe("unlocked");
    expect(signIns).toBe(0);
  });

  it("stays when the window of the sign-in is closed", async () => {
    const vault = await openOwnDevice();
    await vault.lock();
    authTime = () => {
      throw new PortalError("cancelled");
    };
    await expect(vault.unlockBySignIn()).rejects.toMatchObject({ code: "cancelled" });
    expect(await refreshStatus(vault)).toBe("locked");
  });

  it("takes an opener on a shared computer, and has nothing to undo where nothing is", async () => {
    const vault = openTab();
    await vault.refresh();
    await expect(vault.unlockBySignIn()).rejects.toMatchObject({ code: "no_keyring" });
    await vault.protect(textSecret("Seed", makeHandle("market")));
    await vault.setDeviceKind("shared");
    await vault.lock();
    await expect(vault.unlockBySignIn()).rejects.toMatchObject({ code: "opener_needed" });
    expect(signIns).toBe(0);
    await vault.unlock(makeHandle("market"));
    expect(vault.getState()).toEqual({ status: "unlocked", device: "shared" });
  });

  it("undone in one tab is followed by the other without a second sign-in", async () => {
    const vault = await openOwnDevice();
    const otherVault = openTab();
    await otherVault.refresh();
    await vault.lock();
    await vault.unlockBySignIn();
    await otherVault.unlockBySignIn();
    expect([otherVault.getState().status, signIns]).toEqual(["unlocked", 1]);
  });

  it("meets a page that is loaded after too long a time", async () => {
    await openOwnDevice();
    machine.now = Date.now() - 16 * minute; // the person left it then
    const abandonedTab = openTab();
    await abandonedTab.refresh();
    await abandonedTab.unlock(makeHandle("market"));
    await saveAutoLockState(
      { vendorId: "relicario", issuer: portal.account.issuer, subject: portal.account.subject },
      { lastActivity: machine.now },
    );
    machine.now = Date.now();
    expect(await refreshStatus(openTab())).toBe("locked");
  });

  it("meets a vault that nobody has asked for anything, however long it has been there", async () => {
    await openOwnDevice();
    const account = { vendorId: "relicario", issuer: portal.account.issuer, subject: portal.account.subject };
    const earlyTab = openTab(); // its worker's script runs, and knows nothing
    await new Promise((resolve) => setImmediate(resolve));
    // time passes, and nobody does anything
    await saveAutoLockState(account, { lastActivity: Date.now() - 16 * minute });
    expect((await earlyTab.list()).map((row) => row.label)).toEqual([null]);
    expect(earlyTab.getState().status).toBe("locked");
  });

  it("in another tab reaches a vault that nobody has asked for anything", async () => {
    const vault = await openOwnDevice();
    const earlyTab = openTab();
    await new Promise((resolve) => setImmediate(resolve));
    await vault.lock();
    expect((await earlyTab.list()).map((row) => row.label)).toEqual([null]);
    expect(earlyTab.getState().status).toBe("locked");
  });

  it("ends a worker that was never needed, and a later call starts another", async () => {
    const starter = createChannelWorkers();
    const vault = createVaultClient(portal, starter, { environment: machine.tab() });
    await new Promise((resolve) => setImmediate(resolve));
    await vault.lock();
    expect(starter.ended).toEqual(["vault"]);
    await vault.list();
    expect(starter.started).toEqual(["vault", "vault"]);
  });

  it("leaves no listener, timer or channel after sign-out", async () => {
    const tab = machine.tab();
    const vault = await openOwnDevice(tab);
    expect(tab.leftoverCount()).toBe(3);
    await vault.signOut();
    expect(tab.leftoverCount()).toBe(0);
  });
});

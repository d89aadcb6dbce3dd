import "fake-indexeddb/auto";

import { PortalError } from "@relicario/shared/errors";

import { saveDeviceSettings } from "../device/device.ts";
import { createChannelWorkers, unrefMessagePorts } from "../testing/channel-workers.ts";
import { lastOf } from "../testing/fake-account.ts";
import { fakePicture } from "../testing/fake-engine.ts";
import { createFakeService, type FakeService } from "../testing/fake-service.ts";
import { createFakeMachine, type FakeMachine, type FakeTab } from "../testing/fake-machine.ts";
import { makePictureHandle, textSecret, userId } from "../testing/world.ts";
import { createVaultClient } from "./vault-client.ts";
import type { VaultPortal } from "./vault-portal.ts";

unrefMessagePorts();

describe("createVaultClient", () => {
  let service: FakeService;
  let workers: ReturnType<typeof createChannelWorkers>;
  let portal: VaultPortal;
  let browser: FakeMachine;
  let accountCount = 0;
  const openVault = (tab: FakeTab = browser.openTab()): ReturnType<typeof createVaultClient> =>
    createVaultClient(portal, workers, { environment: tab });

  beforeEach(() => {
    service = createFakeService(userId);
    workers = createChannelWorkers();
    browser = createFakeMachine();
    browser.now = Date.now(); // the worker reads Date.now()
    portal = {
      http: service.http,
      vendorId: "relicario",
      account: { userId, issuer: "https://id.example", subject: `client ${String(accountCount++)}` },
      signInAgain: () => Promise.resolve({ authTime: 0 }),
      signInToUnlock: () => Promise.resolve({ authTime: 0 }),
      signInSilently: () => Promise.reject(new PortalError("login_required")),
      confirmMark: () => Promise.resolve(true),
      takeLinkSecret: () => Promise.resolve(null),
    };
  });

  it("starts the vault worker when created, and the engine worker at the first picture", async () => {
    const vault = openVault();
    await Promise.resolve();
    expect(workers.startedWorkers).toEqual(["vault"]);
    expect(vault.getState()).toEqual({ status: "unknown" });
    expect(await vault.list()).toEqual([]);
    expect(workers.startedWorkers).toEqual(["vault"]);
    expect(vault.getState()).toEqual({ status: "empty" });
    await vault.examine(fakePicture("market"));
    expect(workers.startedWorkers).toEqual(["vault", "engine"]);
  });

  describe("a list after a refresh", () => {
    const countKeyringReads = (): number => service.calls.filter((call) => call === "GET /user/keyring").length;
    /**
     * Opens a vault on an own device with one secret, refreshes the vault, and takes a snapshot of
     * the service.
     */
    const openRefreshedVault = async () => {
      const vault = openVault();
      await vault.protect(textSecret("First", makePictureHandle("market")));
      await vault.setDeviceKind("own");
      const snapshot = service.snapshot();
      await vault.refresh();
      return { vault, snapshot };
    };

    afterEach(() => {
      jest.restoreAllMocks();
    });

    it("uses the keyring of the refresh once", async () => {
      jest.spyOn(performance, "now").mockReturnValue(performance.now());
      const { vault } = await openRefreshedVault();
      const reads = countKeyringReads();
      expect((await vault.list()).map(({ label }) => label?.title)).toEqual(["First"]);
      expect(countKeyringReads()).toBe(reads);
      await vault.list();
      expect(countKeyringReads()).toBe(reads + 1);
    });

    it("reads the keyring again when five seconds have passed since the refresh", async () => {
      const { vault } = await openRefreshedVault();
      const reads = countKeyringReads();
      jest.spyOn(performance, "now").mockReturnValue(performance.now() + 5_000);
      await vault.list();
      expect(countKeyringReads()).toBe(reads + 1);
    });

    it("has labels if the vault was unlocked in between", async () => {
      const { vault } = await openRefreshedVault();
      await vault.lock();
      expect((await vault.refresh()).status).toBe("locked");
      await vault.unlock(makePictureHandle("market"));
      expect((await vault.list()).map(({ label }) => label?.title)).toEqual(["First"]);
    });

    it.each(["this tab", "another tab"])("refuses an older state after %s has seen a newer one", async (where) => {
      const { vault, snapshot } = await openRefreshedVault();
      const writer = where === "this tab" ? vault : openVault();
      if (writer !== vault) await writer.refresh();
      await writer.unlock(makePictureHandle("market"));
      await writer.protect(textSecret("Second"));
      service.account = snapshot;
      await expect(vault.list()).rejects.toMatchObject({ code: "older_state" });
    });
  });

  it("tells subscribers that the first secret unlocked the vault", async () => {
    const vault = openVault();
    const statuses: string[] = [];
    vault.subscribe(() => statuses.push(vault.getState().status));
    await vault.protect(textSecret("Seed", makePictureHandle("market")));
    expect(vault.getState()).toEqual({ status: "unlocked", device: null });
    expect(lastOf(statuses)).toBe("unlocked");
  });

  it("reports the phases of protecting a secret", async () => {
    const phases = new Set<string>();
    await openVault().protect(textSecret("Seed", makePictureHandle("market")), {
      onProgress: ({ phase }) => phases.add(phase),
    });
    expect([...phases]).toEqual(expect.arrayContaining(["sealing", "passphrase", "sending"]));
  });

  it("opens a protected secret without its age identity", async () => {
    const vault = openVault();
    const { secretId } = await vault.protect(textSecret("Seed", makePictureHandle("market")));
    const secret = await vault.openSecret(secretId, makePictureHandle("market"));
    expect(new TextDecoder().decode(secret.content ?? undefined)).toBe("content of Seed");
    expect(JSON.stringify(secret)).not.toContain("AGE-SECRET-KEY");
  });

  it("exports the age file of an opened secret until the secret is disposed", async () => {
    const vault = openVault();
    const { secretId } = await vault.protect(textSecret("Seed", makePictureHandle("market")));
    const secret = await vault.openSecret(secretId, makePictureHandle("market"));
    const { identity, size } = await secret.exportAgeFile();
    expect(identity).toMatch(/^AGE-SECRET-KEY-PQ-1/);
    expect(size).toBe("content of Seed".length);
    secret.dispose();
    await expect(secret.exportAgeFile()).rejects.toMatchObject({ code: "vault_locked" });
  });

  it("rejects running calls and exports after a lock; later lists have no labels until an unlock", async () => {
    const vault = openVault();
    const { secretId } = await vault.protect(textSecret("Seed", makePictureHandle("market")));
    const secret = await vault.openSecret(secretId, makePictureHandle("market"));
    service.beforeCall = () => new Promise(() => undefined);
    const pendingList = vault.list();
    const rejection = expect(pendingList).rejects.toMatchObject({ code: "vault_locked" });
    await vault.lock();
    await rejection;
    await expect(secret.exportAgeFile()).rejects.toMatchObject({ code: "vault_locked" });
    expect(vault.getState()).toEqual({ status: "locked" });
    service.beforeCall = () => undefined;
    expect((await vault.list()).map((row) => row.label)).toEqual([null]);
    await vault.unlock(makePictureHandle("market"));
    expect((await vault.list()).map((row) => row.label?.title)).toEqual(["Seed"]);
  });

  it("starts the vault or the engine again after a failed start", async () => {
    workers.failNext = "vault";
    const vault = openVault();
    await new Promise((resolve) => setImmediate(resolve)); // the failed start causes no report
    expect(workers.failNext).toBeNull();
    workers.failNext = "vault";
    await expect(vault.list()).rejects.toMatchObject({ code: "vault_unavailable" });
    expect(await vault.list()).toEqual([]);
    workers.failNext = "engine";
    await expect(vault.examine(fakePicture("market"))).rejects.toMatchObject({ code: "vault_unavailable" });
    expect((await vault.examine(fakePicture("market"))).level).toBe("green");
  });

  it("cancels calls by signal, before and during a call", async () => {
    const vault = openVault();
    const abortedSignal = AbortSignal.abort();
    await expect(vault.list({ signal: abortedSignal })).rejects.toMatchObject({ code: "cancelled" });
    const controller = new AbortController();
    service.beforeCall = (call) => {
      if (call === "GET /user/keyring") controller.abort();
    };
    await expect(
      vault.protect(textSecret("Seed", makePictureHandle("market")), { signal: controller.signal }),
    ).rejects.toMatchObject({ code: "cancelled" });
    expect(service.account.rows.size).toBe(0);
  });

  it("passes codes and details of errors", async () => {
    const vault = openVault();
    await expect(vault.protect(textSecret("Seed", makePictureHandle("plain-wall")))).rejects.toMatchObject({
      code: "picture_too_plain",
      details: { reasons: ["estimate"] },
    });
    await expect(
      vault.protect({ ...textSecret("Seed", makePictureHandle("market")), title: "" }),
    ).rejects.toMatchObject({
      code: "validation_error",
      details: { fields: ["title"] },
    });
  });

  it("ends all workers at sign-out, and keeps the data on the device", async () => {
    const vault = openVault();
    await vault.protect(textSecret("Seed", makePictureHandle("market")));
    await vault.setDeviceKind("own");
    await vault.signOut();
    expect(vault.getState()).toEqual({ status: "unknown" });
    await expect(vault.list()).rejects.toMatchObject({ code: "vault_unavailable" });
    expect(workers.endedWorkers).toEqual(workers.startedWorkers);
    const next = openVault();
    expect((await next.list()).map((row) => row.label?.title)).toEqual(["Seed"]);
  });

  it("starts locked after a lock on an own device", async () => {
    const vault = openVault();
    await vault.protect(textSecret("Seed", makePictureHandle("market")));
    await vault.setDeviceKind("own");
    await vault.lock();
    const reloaded = openVault();
    expect((await reloaded.list()).map((row) => row.label)).toEqual([null]);
    await reloaded.unlock(makePictureHandle("market"));
    expect(reloaded.getState()).toEqual({ status: "unlocked", device: "own" });
  });

  it("updates, restores and purges through the worker, and lists rows in batches", async () => {
    const vault = openVault();
    const { secretId } = await vault.protect(textSecret("Seed", makePictureHandle("market"), "one"));
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
    expect(await vault.openSecret(secretId, makePictureHandle("market"), { version: 1 })).toMatchObject({
      current: false,
      title: "Seed",
    });
    expect(await vault.restoreVersion(secretId, 1, makePictureHandle("market"))).toEqual({ version: 3 });
    await vault.removeVersions(secretId, [2]);
    expect(await vault.listVersions(secretId)).toMatchObject([
      { dropped: false },
      { dropped: true },
      { dropped: false },
    ]);
    const batchSizesAndTotals: number[] = [];
    expect(
      await vault.list({ onRows: (rows, { total }) => batchSizesAndTotals.push(rows.length, total) }),
    ).toMatchObject([{ version: 3, label: { title: "Renamed" } }]);
    expect(batchSizesAndTotals).toEqual([1, 1]);
    await vault.trash(secretId);
    await vault.purge([secretId]);
    expect(await vault.list()).toEqual([]);
  });
});

describe("locking", () => {
  const minuteMilliseconds = 60_000;
  let service: FakeService;
  let browser: FakeMachine;
  let portal: VaultPortal;
  let signIns: number;
  let getAuthTime: () => number;
  let accountCount = 0;
  const openVault = (tab: FakeTab = browser.openTab()): ReturnType<typeof createVaultClient> =>
    createVaultClient(portal, createChannelWorkers(), { environment: tab });
  /** Opens a vault with a secret on an own device. */
  const openVaultOnOwnDevice = async (
    tab: FakeTab = browser.openTab(),
  ): Promise<ReturnType<typeof createVaultClient>> => {
    const vault = openVault(tab);
    await vault.protect(textSecret("Seed", makePictureHandle("market")));
    await vault.setDeviceKind("own");
    return vault;
  };
  const refreshStatus = async (vault: ReturnType<typeof createVaultClient>): Promise<string> =>
    (await vault.refresh()).status;

  beforeEach(() => {
    service = createFakeService(userId);
    browser = createFakeMachine();
    browser.now = Date.now();
    signIns = 0;
    getAuthTime = () => Math.floor(browser.now / 1000);
    portal = {
      http: service.http,
      vendorId: "relicario",
      account: { userId, issuer: "https://id.example", subject: `lock ${String(accountCount++)}` },
      signInAgain: () => Promise.reject(new PortalError("forbidden")),
      signInSilently: () => Promise.reject(new PortalError("login_required")),
      confirmMark: () => Promise.resolve(true),
      signInToUnlock: () => {
        signIns++;
        return Promise.resolve({ authTime: getAuthTime() });
      },
      takeLinkSecret: () => Promise.resolve(null),
    };
  });

  /** Resolves when the vault is locked, or at its next state change. Locks are asynchronous. */
  const waitForStateChange = (vault: ReturnType<typeof createVaultClient>): Promise<void> =>
    new Promise((resolve) => {
      if (vault.getState().status === "locked") resolve();
      else {
        const unsubscribe = vault.subscribe(() => {
          unsubscribe();
          resolve();
        });
      }
    });

  it("happens in all tabs after the idle minutes", async () => {
    const [firstTab, secondTab] = [browser.openTab(), browser.openTab()];
    const vault = await openVaultOnOwnDevice(firstTab);
    const otherVault = openVault(secondTab);
    expect(await refreshStatus(otherVault)).toBe("unlocked");
    browser.now += 15 * minuteMilliseconds;
    firstTab.runDueTimers();
    await Promise.all([waitForStateChange(vault), waitForStateChange(otherVault)]);
    expect((await vault.list()).map((row) => row.label)).toEqual([null]);
    expect((await otherVault.list()).map((row) => row.label)).toEqual([null]);
  });

  it("is pending until the device saves it; a vault opened with a pending lock starts locked", async () => {
    const tab = browser.openTab();
    const vault = await openVaultOnOwnDevice(tab);
    const lockPromise = vault.lock();
    const pendingLock = tab.pendingLock.get();
    expect(pendingLock).toEqual({ at: browser.now, signIn: null });
    await lockPromise;
    expect(tab.pendingLock.get()).toBeNull();
    await vault.unlockBySignIn(); // removes the saved lock, like a page that closed before saving it
    tab.pendingLock.set(pendingLock);
    expect(await refreshStatus(openVault())).toBe("locked");
    expect(tab.pendingLock.get()).toBeNull();
  });

  it("of one tab locks another tab's vault and rejects the vault's running calls", async () => {
    const vault = await openVaultOnOwnDevice();
    const otherVault = openVault();
    expect(await refreshStatus(otherVault)).toBe("unlocked");
    service.beforeCall = () => new Promise(() => undefined);
    const rejection = expect(otherVault.list()).rejects.toMatchObject({ code: "vault_locked" });
    await vault.lock();
    await rejection;
    expect(otherVault.getState()).toEqual({ status: "locked" });
  });

  it("waits while any tab has activity", async () => {
    const [firstTab, secondTab] = [browser.openTab(), browser.openTab()];
    const vault = await openVaultOnOwnDevice(firstTab);
    const otherVault = openVault(secondTab);
    await otherVault.refresh();
    browser.now += 14 * minuteMilliseconds;
    secondTab.triggerActivity();
    browser.now += 14 * minuteMilliseconds;
    firstTab.runDueTimers();
    expect(vault.getState().status).toBe("unlocked");
  });

  it("is undone on an own device by a sign-in after the lock, not by an older one", async () => {
    const vault = await openVaultOnOwnDevice();
    await vault.lock();
    browser.now += minuteMilliseconds;
    getAuthTime = () => Math.floor(browser.now / 1000) - 61;
    await expect(vault.unlockBySignIn()).rejects.toMatchObject({ code: "login_required" });
    expect(await refreshStatus(vault)).toBe("locked");
    getAuthTime = () => Math.floor(browser.now / 1000);
    await vault.unlockBySignIn();
    expect(vault.getState()).toEqual({ status: "unlocked", device: "own" });
    expect((await vault.list()).map((row) => row.label?.title)).toEqual(["Seed"]);
    await vault.unlockBySignIn();
    expect(signIns).toBe(2);
  });

  it("is not undone by a sign-in that the portal's page claims", async () => {
    const vault = await openVaultOnOwnDevice();
    await vault.lock();
    portal = { ...portal, account: { ...portal.account, authTime: Math.floor(browser.now / 1000) + 3_600 } };
    expect(await refreshStatus(openVault())).toBe("locked");
    expect(signIns).toBe(0);
  });

  it("is undone when the provider confirms the sign-in that the page reports, unless it is older than the lock", async () => {
    const vault = await openVaultOnOwnDevice();
    await vault.lock();
    const openReportedAt = (reported: number, confirmed: number) => {
      portal = {
        ...portal,
        account: { ...portal.account, authTime: Math.floor(browser.now / 1000) + reported },
        signInSilently: () => Promise.resolve({ authTime: Math.floor(browser.now / 1000) + confirmed }),
      };
      return openVault();
    };
    expect(await refreshStatus(openReportedAt(-1, 0))).toBe("locked"); // not tried
    expect(await refreshStatus(openReportedAt(0, -1))).toBe("locked");
    expect(await refreshStatus(openReportedAt(0, 0))).toBe("unlocked");
    expect(signIns).toBe(0);
  });

  it("asks for a sign-in that is not older than the lock", async () => {
    const vault = await openVaultOnOwnDevice();
    await vault.lock();
    browser.now += 2 * minuteMilliseconds;
    const { signInToUnlock } = portal;
    let askedMaxAge = 0;
    portal = {
      ...portal,
      signInToUnlock: (maxAge) => {
        askedMaxAge = maxAge;
        return signInToUnlock(maxAge);
      },
    };
    await openVault().unlockBySignIn();
    expect(askedMaxAge).toBe(120);
  });

  it("is not undone by a cancelled sign-in", async () => {
    const vault = await openVaultOnOwnDevice();
    await vault.lock();
    getAuthTime = () => {
      throw new PortalError("cancelled");
    };
    await expect(vault.unlockBySignIn()).rejects.toMatchObject({ code: "cancelled" });
    expect(await refreshStatus(vault)).toBe("locked");
  });

  it("is undone on a shared device only by an opener, without asking for a sign-in", async () => {
    const vault = openVault();
    await vault.refresh();
    await expect(vault.unlockBySignIn()).rejects.toMatchObject({ code: "no_keyring" });
    await vault.protect(textSecret("Seed", makePictureHandle("market")));
    await vault.setDeviceKind("shared");
    await vault.lock();
    await expect(vault.unlockBySignIn()).rejects.toMatchObject({ code: "opener_needed" });
    expect(signIns).toBe(0);
    await vault.unlock(makePictureHandle("market"));
    expect(vault.getState()).toEqual({ status: "unlocked", device: "shared" });
  });

  it("is undone in another tab without a second sign-in", async () => {
    const vault = await openVaultOnOwnDevice();
    const otherVault = openVault();
    await otherVault.refresh();
    await vault.lock();
    await vault.unlockBySignIn();
    await otherVault.unlockBySignIn();
    expect([otherVault.getState().status, signIns]).toEqual(["unlocked", 1]);
  });

  it("also applies to a page loaded after the idle minutes", async () => {
    await openVaultOnOwnDevice();
    browser.now = Date.now() - 16 * minuteMilliseconds; // time of the last activity
    const abandonedVault = openVault();
    await abandonedVault.refresh();
    await abandonedVault.unlock(makePictureHandle("market"));
    await saveDeviceSettings(
      { vendorId: "relicario", issuer: portal.account.issuer, subject: portal.account.subject },
      { lastActivity: browser.now },
    );
    browser.now = Date.now();
    expect(await refreshStatus(openVault())).toBe("locked");
  });

  it("also applies to a vault that was created earlier but not used yet", async () => {
    await openVaultOnOwnDevice();
    const account = { vendorId: "relicario", issuer: portal.account.issuer, subject: portal.account.subject };
    const unusedVault = openVault(); // starts the worker, which receives the account only with the first call
    await new Promise((resolve) => setImmediate(resolve));
    await saveDeviceSettings(account, { lastActivity: Date.now() - 16 * minuteMilliseconds });
    expect((await unusedVault.list()).map((row) => row.label)).toEqual([null]);
    expect(unusedVault.getState().status).toBe("locked");
  });

  it("of one tab locks another tab's vault before the vault's first call", async () => {
    const vault = await openVaultOnOwnDevice();
    const unusedVault = openVault();
    await new Promise((resolve) => setImmediate(resolve));
    await vault.lock();
    expect((await unusedVault.list()).map((row) => row.label)).toEqual([null]);
    expect(unusedVault.getState().status).toBe("locked");
  });

  it("ends a worker that was not used yet; the next call starts another", async () => {
    const workers = createChannelWorkers();
    const vault = createVaultClient(portal, workers, { environment: browser.openTab() });
    await new Promise((resolve) => setImmediate(resolve));
    await vault.lock();
    expect(workers.endedWorkers).toEqual(["vault"]);
    await vault.list();
    expect(workers.startedWorkers).toEqual(["vault", "vault"]);
  });

  it("leaves no listener, timer or channel after sign-out", async () => {
    const tab = browser.openTab();
    const vault = await openVaultOnOwnDevice(tab);
    expect(tab.leftoverCount()).toBe(3);
    await vault.signOut();
    expect(tab.leftoverCount()).toBe(0);
  });
});

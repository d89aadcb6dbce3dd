import "fake-indexeddb/auto";

import type { PortalForServices } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { noteOnDevice } from "../device/device.ts";
import { channelWorkers, leavePortsUnwaited } from "../testing/channel-workers.ts";
import { lastOf } from "../testing/fake-account.ts";
import { fakePicture } from "../testing/fake-engine.ts";
import { createFakeService, type FakeService } from "../testing/fake-service.ts";
import { createFakeMachine, type FakeMachine, type FakeTab } from "../testing/surroundings.ts";
import { shownHandle as shown, textSecret, userId } from "../testing/world.ts";
import { createVaultClient } from "./vault-client.ts";

leavePortsUnwaited();

describe("createVaultClient", () => {
  let service: FakeService;
  let workers: ReturnType<typeof channelWorkers>;
  let portal: PortalForServices;
  let machine: FakeMachine;
  let signedInAt: number;
  let person = 0;
  /** A tab of the machine. */
  const client = (surroundings: FakeTab = machine.tab()): ReturnType<typeof createVaultClient> =>
    createVaultClient(portal, workers, { surroundings });

  beforeEach(() => {
    service = createFakeService(userId);
    workers = channelWorkers();
    machine = createFakeMachine();
    machine.now = Date.now(); // the worker's own clock
    signedInAt = 0;
    portal = {
      http: service.http,
      vendorId: "relicario",
      account: { userId, issuer: "https://id.example", subject: `client ${String(person++)}` },
      signInAgain: () => Promise.resolve({ authTime: signedInAt }),
      takeLinkSecret: () => Promise.resolve(null),
    };
  });

  it("starts its worker before it is asked, and no engine before a picture is looked at", async () => {
    const vault = client();
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
    const keyringReads = (): number => service.calls.filter((call) => call === "GET /user/keyring").length;
    /**
     * A tab of an own device whose account has one secret, and the service as it was then; the
     * keyring is read.
     */
    const refreshed = async () => {
      const vault = client();
      await vault.protect(textSecret("First", shown("market")));
      await vault.answerDevice("own");
      const before = service.snapshot();
      await vault.refresh();
      return { vault, before };
    };

    it("goes by the keyring that was read, once", async () => {
      const { vault } = await refreshed();
      const reads = keyringReads();
      expect((await vault.list()).map(({ label }) => label?.title)).toEqual(["First"]);
      expect(keyringReads()).toBe(reads);
      await vault.list();
      expect(keyringReads()).toBe(reads + 1);
    });

    it("reads it again when it does not follow soon", async () => {
      const { vault } = await refreshed();
      const reads = keyringReads();
      const later = performance.now() + 5_000;
      const clock = jest.spyOn(performance, "now").mockReturnValue(later);
      await vault.list();
      clock.mockRestore();
      expect(keyringReads()).toBe(reads + 1);
    });

    it("has labels when the vault was opened in between", async () => {
      const { vault } = await refreshed();
      await vault.lock();
      expect((await vault.refresh()).status).toBe("locked");
      await vault.unlock(shown("market"));
      expect((await vault.list()).map(({ label }) => label?.title)).toEqual(["First"]);
    });

    it.each(["this tab", "another tab"])("is not believed by it once %s has seen a newer state", async (where) => {
      const { vault, before } = await refreshed();
      const writer = where === "this tab" ? vault : client();
      if (writer !== vault) await writer.refresh();
      await writer.protect(textSecret("Second"));
      service.account = before;
      await expect(vault.list()).rejects.toMatchObject({ code: "older_state" });
    });
  });

  it("protects, tells the state before it answers, recovers, and gives the age file only when asked", async () => {
    const vault = client();
    const told: string[] = [];
    vault.subscribe(() => told.push(vault.getState().status));
    const phases = new Set<string>();
    const { secretId } = await vault.protect(textSecret("Seed", shown("market")), {
      onProgress: ({ phase }) => phases.add(phase),
    });
    expect(vault.getState()).toEqual({ status: "unlocked", device: null });
    expect(lastOf(told)).toBe("unlocked");
    expect([...phases]).toEqual(expect.arrayContaining(["sealing", "passphrase", "sending"]));
    const secret = await vault.recover(secretId, shown("market"));
    expect(new TextDecoder().decode(secret.content ?? undefined)).toBe("content of Seed");
    expect(JSON.stringify(secret)).not.toContain("AGE-SECRET-KEY");
    const { identity, size } = await secret.exportAge();
    expect(identity).toMatch(/^AGE-SECRET-KEY-PQ-1/);
    expect(size).toBe("content of Seed".length);
    secret.putAway();
    await expect(secret.exportAge()).rejects.toMatchObject({ code: "vault_locked" });
  });

  it("ends the worker when locked: calls under way and age files end too, and the next call starts anew", async () => {
    const vault = client();
    const { secretId } = await vault.protect(textSecret("Seed", shown("market")));
    const secret = await vault.recover(secretId, shown("market"));
    service.before = () => new Promise(() => undefined);
    const under = vault.list();
    const settled = expect(under).rejects.toMatchObject({ code: "vault_locked" });
    await vault.lock();
    await settled;
    await expect(secret.exportAge()).rejects.toMatchObject({ code: "vault_locked" });
    expect(vault.getState()).toEqual({ status: "locked" });
    service.before = () => undefined;
    expect((await vault.list()).map((row) => row.label)).toEqual([null]);
    await vault.unlock(shown("market"));
    expect((await vault.list()).map((row) => row.label?.title)).toEqual(["Seed"]);
  });

  it("forgets a failed start, of the vault or of the engine, and tries again", async () => {
    workers.failNext = "vault";
    const vault = client();
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
    const vault = client();
    const before = AbortSignal.abort();
    await expect(vault.list({ signal: before })).rejects.toMatchObject({ code: "cancelled" });
    const controller = new AbortController();
    service.before = (call) => {
      if (call === "GET /user/keyring") controller.abort();
    };
    await expect(
      vault.protect(textSecret("Seed", shown("market")), { signal: controller.signal }),
    ).rejects.toMatchObject({ code: "cancelled" });
    expect(service.account.rows.size).toBe(0);
  });

  it("carries errors by code and details", async () => {
    const vault = client();
    await expect(vault.protect(textSecret("Seed", shown("plain-wall")))).rejects.toMatchObject({
      code: "picture_too_plain",
      details: { reasons: ["estimate"] },
    });
    await expect(vault.protect({ ...textSecret("Seed", shown("market")), title: "" })).rejects.toMatchObject({
      code: "validation_error",
      details: { fields: ["title"] },
    });
  });

  it("is of no use after sign-out: no worker is left, and what the device keeps is the host's to wipe", async () => {
    const vault = client();
    await vault.protect(textSecret("Seed", shown("market")));
    await vault.answerDevice("own");
    await vault.signOut();
    expect(vault.getState()).toEqual({ status: "unknown" });
    await expect(vault.list()).rejects.toMatchObject({ code: "vault_unavailable" });
    expect(workers.ended).toEqual(workers.started);
    const next = client();
    expect((await next.list()).map((row) => row.label?.title)).toEqual(["Seed"]);
  });

  it("starts locked after a lock on an own device", async () => {
    const vault = client();
    await vault.protect(textSecret("Seed", shown("market")));
    await vault.answerDevice("own");
    await vault.lock();
    const reloaded = client();
    expect((await reloaded.list()).map((row) => row.label)).toEqual([null]);
    await reloaded.unlock(shown("market"));
    expect(reloaded.getState()).toEqual({ status: "unlocked", device: "own" });
  });

  it("changes, restores and purges over the worker, and gives rows in batches", async () => {
    const vault = client();
    const { secretId } = await vault.protect(textSecret("Seed", shown("market"), "one"));
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
    expect(await vault.history(secretId)).toMatchObject([{ version: 2 }, { version: 1 }]);
    expect(await vault.recover(secretId, shown("market"), { version: 1 })).toMatchObject({
      current: false,
      title: "Seed",
    });
    expect(await vault.restoreVersion(secretId, 1, shown("market"))).toEqual({ version: 3 });
    await vault.removeVersions(secretId, [2]);
    expect(await vault.history(secretId)).toMatchObject([{ dropped: false }, { dropped: true }, { dropped: false }]);
    const seen: number[] = [];
    expect(await vault.list({ onRows: (rows, { total }) => seen.push(rows.length, total) })).toMatchObject([
      { version: 3, label: { title: "Renamed" } },
    ]);
    expect(seen).toEqual([1, 1]);
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
  let people = 0;
  const tabOf = (surroundings: FakeTab = machine.tab()): ReturnType<typeof createVaultClient> =>
    createVaultClient(portal, channelWorkers(), { surroundings });
  /** A vault with a secret on a device that the person calls their own. */
  const ownDevice = async (surroundings: FakeTab = machine.tab()): Promise<ReturnType<typeof createVaultClient>> => {
    const vault = tabOf(surroundings);
    await vault.protect(textSecret("Seed", shown("market")));
    await vault.answerDevice("own");
    return vault;
  };
  const statusOf = async (vault: ReturnType<typeof createVaultClient>): Promise<string> =>
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
      account: { userId, issuer: "https://id.example", subject: `lock ${String(people++)}` },
      signInAgain: () => {
        signIns++;
        return Promise.resolve({ authTime: authTime() });
      },
      takeLinkSecret: () => Promise.resolve(null),
    };
  });

  /** Locks cross tabs, and are kept, a moment later. */
  const settled = (vault: ReturnType<typeof createVaultClient>): Promise<void> =>
    new Promise((resolve) => {
      if (vault.getState().status === "locked") resolve();
      else {
        const undo = vault.subscribe(() => {
          undo();
          resolve();
        });
      }
    });

  it("comes by itself after idle minutes: plaintext is out of reach, and other tabs lock too", async () => {
    const [one, two] = [machine.tab(), machine.tab()];
    const vault = await ownDevice(one);
    const other = tabOf(two);
    expect(await statusOf(other)).toBe("unlocked");
    machine.now += 15 * minute;
    one.wake();
    await Promise.all([settled(vault), settled(other)]);
    expect((await vault.list()).map((row) => row.label)).toEqual([null]);
    expect((await other.list()).map((row) => row.label)).toEqual([null]);
  });

  it("holds also when the page is gone before the device has it: a page loaded later starts locked", async () => {
    const tab = machine.tab();
    const vault = await ownDevice(tab);
    const kept = vault.lock();
    const marked = tab.lockMark.get();
    expect(marked).toEqual({ at: machine.now, signIn: null });
    await kept;
    expect(tab.lockMark.get()).toBeNull();
    await vault.unlockByPresence(); // as if nothing had been kept
    tab.lockMark.set(marked);
    expect(await statusOf(tabOf())).toBe("locked");
    expect(tab.lockMark.get()).toBeNull();
  });

  it("in one tab reaches the other, where calls under way end", async () => {
    const vault = await ownDevice();
    const other = tabOf();
    expect(await statusOf(other)).toBe("unlocked");
    service.before = () => new Promise(() => undefined);
    const underWay = expect(other.list()).rejects.toMatchObject({ code: "vault_locked" });
    await vault.lock();
    await underWay;
    expect(other.getState()).toEqual({ status: "locked" });
  });

  it("waits while somebody works in any tab", async () => {
    const [one, two] = [machine.tab(), machine.tab()];
    const vault = await ownDevice(one);
    const other = tabOf(two);
    await other.refresh();
    machine.now += 14 * minute;
    two.act();
    machine.now += 14 * minute;
    one.wake();
    expect(vault.getState().status).toBe("unlocked");
  });

  it("is undone by a fresh sign-in on an own device, never by asking alone", async () => {
    const vault = await ownDevice();
    await vault.lock();
    machine.now += minute;
    authTime = () => Math.floor(machine.now / 1000) - 61;
    await expect(vault.unlockByPresence()).rejects.toMatchObject({ code: "login_required" });
    expect(await statusOf(vault)).toBe("locked");
    authTime = () => Math.floor(machine.now / 1000);
    await vault.unlockByPresence();
    expect(vault.getState()).toEqual({ status: "unlocked", device: "own" });
    expect((await vault.list()).map((row) => row.label?.title)).toEqual(["Seed"]);
    await vault.unlockByPresence();
    expect(signIns).toBe(2);
  });

  it("is undone by the sign-in that led to a page, unless that is older", async () => {
    const vault = await ownDevice();
    await vault.lock();
    const signedInAt = (authTime: number) => {
      portal = { ...portal, account: { ...portal.account, authTime } };
      return tabOf();
    };
    expect(await statusOf(signedInAt(Math.floor(machine.now / 1000) - 1))).toBe("locked");
    expect(await statusOf(signedInAt(Math.floor(machine.now / 1000)))).toBe("unlocked");
    expect(signIns).toBe(0);
  });

  it("stays when the window of the sign-in is closed", async () => {
    const vault = await ownDevice();
    await vault.lock();
    authTime = () => {
      throw new PortalError("cancelled");
    };
    await expect(vault.unlockByPresence()).rejects.toMatchObject({ code: "cancelled" });
    expect(await statusOf(vault)).toBe("locked");
  });

  it("takes an opener on a shared computer, and has nothing to undo where nothing is", async () => {
    const vault = tabOf();
    await vault.refresh();
    await expect(vault.unlockByPresence()).rejects.toMatchObject({ code: "no_keyring" });
    await vault.protect(textSecret("Seed", shown("market")));
    await vault.answerDevice("shared");
    await vault.lock();
    await expect(vault.unlockByPresence()).rejects.toMatchObject({ code: "opener_needed" });
    expect(signIns).toBe(0);
    await vault.unlock(shown("market"));
    expect(vault.getState()).toEqual({ status: "unlocked", device: "shared" });
  });

  it("undone in one tab is followed by the other without a second sign-in", async () => {
    const vault = await ownDevice();
    const other = tabOf();
    await other.refresh();
    await vault.lock();
    await vault.unlockByPresence();
    await other.unlockByPresence();
    expect([other.getState().status, signIns]).toEqual(["unlocked", 1]);
  });

  it("meets a page that is loaded after too long a time", async () => {
    await ownDevice();
    machine.now = Date.now() - 16 * minute; // the person left it then
    const left = tabOf();
    await left.refresh();
    await left.unlock(shown("market"));
    await noteOnDevice(
      { vendorId: "relicario", issuer: portal.account.issuer, subject: portal.account.subject },
      { lastActivity: machine.now },
    );
    machine.now = Date.now();
    expect(await statusOf(tabOf())).toBe("locked");
  });

  it("meets a vault that nobody has asked for anything, however long it has been there", async () => {
    await ownDevice();
    const account = { vendorId: "relicario", issuer: portal.account.issuer, subject: portal.account.subject };
    const early = tabOf(); // its worker's script runs, and knows nothing
    await new Promise((resolve) => setImmediate(resolve));
    await noteOnDevice(account, { lastActivity: Date.now() - 16 * minute }); // time passes, and nobody does anything
    expect((await early.list()).map((row) => row.label)).toEqual([null]);
    expect(early.getState().status).toBe("locked");
  });

  it("in another tab reaches a vault that nobody has asked for anything", async () => {
    const vault = await ownDevice();
    const early = tabOf();
    await new Promise((resolve) => setImmediate(resolve));
    await vault.lock();
    expect((await early.list()).map((row) => row.label)).toEqual([null]);
    expect(early.getState().status).toBe("locked");
  });

  it("ends a worker that was never needed, and a later call starts another", async () => {
    const starter = channelWorkers();
    const vault = createVaultClient(portal, starter, { surroundings: machine.tab() });
    await new Promise((resolve) => setImmediate(resolve));
    await vault.lock();
    expect(starter.ended).toEqual(["vault"]);
    await vault.list();
    expect(starter.started).toEqual(["vault", "vault"]);
  });

  it("leaves no listener, timer or channel after sign-out", async () => {
    const tab = machine.tab();
    const vault = await ownDevice(tab);
    expect(tab.left()).toBe(3);
    await vault.signOut();
    expect(tab.left()).toBe(0);
  });
});

import { createFakeMachine, type FakeMachine, type FakeTab } from "../testing/fake-machine.ts";
import { createIdleLock, type IdleLock } from "./idle-lock.ts";

const minuteMilliseconds = 60_000;

interface Tab extends FakeTab {
  readonly idleLock: IdleLock;
  readonly lockCount: () => number;
  readonly saved: { lastActivity?: number; autoLockMinutes?: number }[];
}

/** Opens a tab that watches activity and pauses when it locks, like the vault. */
function openWatchingTab(machine: FakeMachine, account = "alba", minutes = 15): Tab {
  const tab = machine.openTab();
  const saved: Tab["saved"] = [];
  let lockCount = 0;
  const idleLock = createIdleLock(
    {
      storageKey: account,
      minutes,
      lock: () => {
        lockCount++;
        idleLock.pause();
      },
      save: (change) => saved.push(change),
    },
    tab,
  );
  idleLock.watch();
  return { ...tab, idleLock, saved, lockCount: () => lockCount };
}

describe("createIdleLock", () => {
  let machine: FakeMachine;
  const advance = (milliseconds: number, ...tabs: readonly Tab[]): void => {
    machine.now += milliseconds;
    for (const tab of tabs) tab.runDueTimers();
  };
  beforeEach(() => {
    machine = createFakeMachine();
  });

  it("locks once after the set minutes without activity", () => {
    const tab = openWatchingTab(machine);
    advance(15 * minuteMilliseconds - 1, tab);
    expect(tab.lockCount()).toBe(0);
    advance(1, tab);
    expect(tab.lockCount()).toBe(1);
    advance(60 * minuteMilliseconds, tab);
    expect(tab.lockCount()).toBe(1);
  });

  it("counts from the newest activity in any tab of the same account", () => {
    const [firstTab, secondTab, otherAccountTab] = [
      openWatchingTab(machine),
      openWatchingTab(machine),
      openWatchingTab(machine, "ben"),
    ];
    advance(10 * minuteMilliseconds, firstTab, secondTab, otherAccountTab);
    firstTab.triggerActivity();
    advance(10 * minuteMilliseconds, firstTab, secondTab, otherAccountTab);
    expect([firstTab.lockCount(), secondTab.lockCount(), otherAccountTab.lockCount()]).toEqual([0, 0, 1]);
    advance(5 * minuteMilliseconds, firstTab, secondTab, otherAccountTab);
    expect([firstTab.lockCount(), secondTab.lockCount()]).toEqual([1, 1]);
  });

  it("locks at the first activity after a sleep that outlasted the timer", () => {
    const tab = openWatchingTab(machine);
    machine.now += 8 * 60 * minuteMilliseconds;
    tab.triggerActivity();
    expect(tab.lockCount()).toBe(1);
  });

  it("locks the other tabs, even those with suspended timers", () => {
    const [firstTab, secondTab] = [openWatchingTab(machine), openWatchingTab(machine)];
    firstTab.idleLock.broadcastLock();
    expect([firstTab.lockCount(), secondTab.lockCount()]).toEqual([0, 1]);
    secondTab.idleLock.watch();
    advance(15 * minuteMilliseconds, firstTab);
    expect([firstTab.lockCount(), secondTab.lockCount()]).toEqual([1, 2]);
  });

  it("saves activity every few seconds, not at every key press", () => {
    const tab = openWatchingTab(machine);
    const start = machine.now;
    for (let key = 0; key < 100; key++) {
      advance(100, tab);
      tab.triggerActivity();
    }
    expect(tab.saved).toEqual([{ lastActivity: start }, { lastActivity: start + 10_000 }]);
  });

  it("accepts 1 to 240 whole minutes, saves the minutes and tells the other tabs", () => {
    const [firstTab, secondTab] = [openWatchingTab(machine), openWatchingTab(machine)];
    for (const invalidMinutes of [0, 241, 1.5, Number.NaN, -1]) {
      expect(() => {
        firstTab.idleLock.setMinutes(invalidMinutes);
      }).toThrow(expect.objectContaining({ code: "validation_error", details: { fields: ["minutes"] } }) as Error);
    }
    firstTab.idleLock.setMinutes(1);
    expect([firstTab.idleLock.getMinutes(), secondTab.idleLock.getMinutes()]).toEqual([1, 1]);
    expect(firstTab.saved).toContainEqual({ autoLockMinutes: 1 });
    advance(minuteMilliseconds, firstTab, secondTab);
    expect([firstTab.lockCount(), secondTab.lockCount()]).toEqual([1, 1]);
  });

  it("locks immediately when the set minutes are shorter than the time since the last activity", () => {
    const tab = openWatchingTab(machine);
    advance(5 * minuteMilliseconds, tab);
    tab.idleLock.setMinutes(5);
    expect(tab.lockCount()).toBe(1);
  });

  it("ignores unknown messages", () => {
    const tab = openWatchingTab(machine);
    const foreignChannel = machine.openTab().channel("alba", () => undefined);
    for (const message of [
      null,
      "lock",
      { kind: "unlock" },
      { kind: "activity", at: "later" },
      { kind: "minutes", minutes: 9_999 },
    ])
      foreignChannel?.post(message);
    expect([tab.lockCount(), tab.idleLock.getMinutes()]).toEqual([0, 15]);
  });

  it("does not lock while paused, and removes its listeners and timers when disposed", () => {
    const tab = openWatchingTab(machine);
    tab.idleLock.pause();
    advance(60 * minuteMilliseconds, tab);
    expect(tab.lockCount()).toBe(0);
    tab.idleLock.dispose();
    expect(tab.leftoverCount()).toBe(0);
  });
});

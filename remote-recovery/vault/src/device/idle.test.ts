import { createFakeMachine, type FakeMachine, type FakeTab } from "../testing/surroundings.ts";
import { createIdleLock, type IdleLock } from "./idle.ts";

const minute = 60_000;

interface Tab extends FakeTab {
  readonly idle: IdleLock;
  readonly locks: () => number;
  readonly kept: { lastActivity?: number; autoLockMinutes?: number }[];
}

/** A tab that watches; a lock ends its watching, as in the vault. */
function watching(machine: FakeMachine, account = "alba", minutes = 15): Tab {
  const tab = machine.tab();
  const kept: Tab["kept"] = [];
  let locks = 0;
  const idle = createIdleLock(
    {
      account,
      minutes,
      lock: () => {
        locks++;
        idle.rest();
      },
      keep: (change) => kept.push(change),
    },
    tab,
  );
  idle.watch();
  return { ...tab, idle, kept, locks: () => locks };
}

describe("createIdleLock", () => {
  let machine: FakeMachine;
  const pass = (milliseconds: number, ...awake: readonly Tab[]): void => {
    machine.now += milliseconds;
    for (const tab of awake) tab.wake();
  };
  beforeEach(() => {
    machine = createFakeMachine();
  });

  it("locks once after the set minutes without activity", () => {
    const tab = watching(machine);
    pass(15 * minute - 1, tab);
    expect(tab.locks()).toBe(0);
    pass(1, tab);
    expect(tab.locks()).toBe(1);
    pass(60 * minute, tab);
    expect(tab.locks()).toBe(1);
  });

  it("counts from the newest activity, in any tab of the account, and in no other account's", () => {
    const [one, two, ben] = [watching(machine), watching(machine), watching(machine, "ben")];
    pass(10 * minute, one, two, ben);
    one.act();
    pass(10 * minute, one, two, ben);
    expect([one.locks(), two.locks(), ben.locks()]).toEqual([0, 0, 1]);
    pass(5 * minute, one, two, ben);
    expect([one.locks(), two.locks()]).toEqual([1, 1]);
  });

  it("locks when activity comes too late: the machine slept, and so did the timer", () => {
    const tab = watching(machine);
    machine.now += 8 * 60 * minute;
    tab.act();
    expect(tab.locks()).toBe(1);
  });

  it("reaches the other tabs, those that sleep too", () => {
    const [one, two] = [watching(machine), watching(machine)];
    one.idle.tellLocked();
    expect([one.locks(), two.locks()]).toEqual([0, 1]);
    two.idle.watch();
    pass(15 * minute, one);
    expect([one.locks(), two.locks()]).toEqual([1, 2]);
  });

  it("keeps the newest activity every few seconds, not at every key", () => {
    const tab = watching(machine);
    const atFirst = machine.now;
    for (let key = 0; key < 100; key++) {
      pass(100, tab);
      tab.act();
    }
    expect(tab.kept).toEqual([{ lastActivity: atFirst }, { lastActivity: atFirst + 10_000 }]);
  });

  it("takes 1 to 240 whole minutes, keeps them, and tells the other tabs", () => {
    const [one, two] = [watching(machine), watching(machine)];
    for (const wrong of [0, 241, 1.5, Number.NaN, -1]) {
      expect(() => {
        one.idle.setMinutes(wrong);
      }).toThrow(expect.objectContaining({ code: "validation_error", details: { fields: ["minutes"] } }) as Error);
    }
    one.idle.setMinutes(1);
    expect([one.idle.getMinutes(), two.idle.getMinutes()]).toEqual([1, 1]);
    expect(one.kept).toContainEqual({ autoLockMinutes: 1 });
    pass(minute, one, two);
    expect([one.locks(), two.locks()]).toEqual([1, 1]);
  });

  it("locks at once when fewer minutes are set than have passed", () => {
    const tab = watching(machine);
    pass(5 * minute, tab);
    tab.idle.setMinutes(5);
    expect(tab.locks()).toBe(1);
  });

  it("ignores what is no message of ours", () => {
    const tab = watching(machine);
    const stranger = machine.tab().channel("alba", () => undefined);
    for (const message of [
      null,
      "lock",
      { kind: "unlock" },
      { kind: "activity", at: "later" },
      { kind: "minutes", minutes: 9_999 },
    ])
      stranger?.post(message);
    expect([tab.locks(), tab.idle.getMinutes()]).toEqual([0, 15]);
  });

  it("leaves nothing behind, and rests without a lock while nothing is unlocked", () => {
    const tab = watching(machine);
    tab.idle.rest();
    pass(60 * minute, tab);
    expect(tab.locks()).toBe(0);
    tab.idle.dispose();
    expect(tab.left()).toBe(0);
  });
});

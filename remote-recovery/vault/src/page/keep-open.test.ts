import "fake-indexeddb/auto";

import { saveDeviceSettings } from "../device/device.ts";
import { createFakeMachine } from "../testing/fake-machine.ts";
import { createOpenerTimer } from "./keep-open.ts";

const minute = 60_000;
let accountCount = 0;

async function setUp(stored: Parameters<typeof saveDeviceSettings>[1] = {}) {
  const account = { vendorId: "relicario", issuer: "https://id.example", subject: `timer ${String(accountCount++)}` };
  await saveDeviceSettings(account, stored);
  const machine = createFakeMachine();
  const tab = machine.openTab();
  const released: number[] = [];
  const timer = createOpenerTimer({
    account,
    duration: "five_minutes",
    environment: tab,
    release: () => released.push(machine.now),
    onChange: () => undefined,
  });
  const pass = (milliseconds: number): void => {
    machine.now += milliseconds;
    tab.runDueTimers();
  };
  return { account, machine, timer, released, pass };
}

describe("the time of a presented opener", () => {
  it("is five minutes by default, from the last showing", async () => {
    const { machine, timer, released, pass } = await setUp();
    expect(timer.keepOpen.getStatus()).toBe("none");
    expect(await timer.start()).toBe(machine.now + 5 * minute);
    pass(4 * minute);
    expect(timer.keepOpen.getStatus()).toBe("open");
    await timer.start();
    pass(5 * minute - 1);
    expect([timer.keepOpen.getStatus(), released]).toEqual(["open", []]);
    pass(1);
    expect([timer.keepOpen.getStatus(), released]).toEqual(["time_over", [machine.now]]);
  });

  it("is over after a sleep of the machine, before the timer runs", async () => {
    const { machine, timer } = await setUp();
    await timer.start();
    machine.now += 60 * minute;
    expect(timer.keepOpen.getStatus()).toBe("time_over");
  });

  it("lasts until the lock where the person chose so", async () => {
    const { timer, released, pass } = await setUp({ keepOpen: "until_lock" });
    expect(await timer.start()).toBe(Infinity);
    pass(600 * minute);
    expect(timer.keepOpen.getStatus()).toBe("open");
    timer.end();
    expect([timer.keepOpen.getStatus(), released]).toEqual(["locked", []]); // the worker and its opener are gone
  });

  it("is none where the person wants to be asked every time", async () => {
    const { timer } = await setUp({ keepOpen: "every_time" });
    expect([await timer.start(), timer.keepOpen.getStatus()]).toEqual([null, "none"]);
  });

  it("ends when the setting is changed, which another tab reads at its next showing", async () => {
    const { account, timer, released } = await setUp();
    await timer.start();
    await saveDeviceSettings(account, { keepOpen: "until_lock" });
    expect([await timer.start(), timer.keepOpen.get()]).toEqual([Infinity, "until_lock"]);
    timer.keepOpen.set("every_time");
    expect([timer.keepOpen.getStatus(), released.length]).toEqual(["setting_changed", 1]);
    await timer.start();
    expect(timer.keepOpen.getStatus()).toBe("none"); // shown for this time alone
  });

  it("names the last reason, and none where nothing was kept", async () => {
    const { timer, pass } = await setUp();
    timer.end();
    timer.keepOpen.set("five_minutes");
    expect(timer.keepOpen.getStatus()).toBe("none");
    await timer.start();
    pass(5 * minute);
    timer.end();
    expect(timer.keepOpen.getStatus()).toBe("locked");
  });
});

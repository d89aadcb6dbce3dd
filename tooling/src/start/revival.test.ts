import { createRevival, type Revival } from "./revival.ts";

let clock: number;
let lines: string[];
let pauses: number[];
let started: string[];
let starts: (name: string) => Promise<void>;
let revival: Revival;
beforeEach(() => {
  [clock, lines, pauses, started] = [0, [], [], []];
  starts = () => Promise.resolve();
  revival = createRevival({
    log: (line) => lines.push(line),
    start: (name) => {
      started.push(name);
      return starts(name);
    },
    now: () => clock,
    pause: (milliseconds) => {
      pauses.push(milliseconds);
      clock += milliseconds;
      return Promise.resolve();
    },
  });
});

describe("createRevival", () => {
  it("names what ended and starts it again", async () => {
    await revival.ended("service", "SIGKILL");
    expect(started).toEqual(["service"]);
    expect(lines).toEqual(["service ended (SIGKILL). It is started again in 1 s.", "service runs again."]);
  });

  it("waits twice as long each time that it does not last, then leaves it to the person", async () => {
    starts = () => Promise.reject(new Error("service did not start: no room."));
    await revival.ended("service", "exit code 1");
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    expect(lines.at(-1)).toBe(
      `service did not start: no room. It is not tried again; to start it: kill -USR2 ${String(process.pid)}`,
    );
    expect(started).toHaveLength(8);
  });

  it("counts deaths of one that starts and ends at once, each part for itself", async () => {
    for (let death = 0; death < 3; death++) await revival.ended("service", "exit code 1");
    await revival.ended("identity", "exit code 1");
    expect(pauses).toEqual([1_000, 2_000, 4_000, 1_000]);
  });

  it("begins anew after a minute in which it ran", async () => {
    await revival.ended("service", "exit code 1");
    await revival.ended("service", "exit code 1");
    clock += 60_001;
    await revival.ended("service", "exit code 1");
    expect(pauses).toEqual([1_000, 2_000, 1_000]);
  });

  it("does not take a start that fails after minutes for a time in which it ran", async () => {
    starts = () => {
      clock += 61_000;
      if (started.length > 20) revival.stop();
      return Promise.reject(new Error("service was not ready after 60 s."));
    };
    await revival.ended("service", "exit code 1");
    expect(started).toHaveLength(8);
  });

  it("starts nothing once it was stopped", async () => {
    revival.stop();
    await revival.ended("service", "exit code 1");
    expect([started, lines]).toEqual([[], []]);
  });

  it("starts nothing when it is stopped during the pause", async () => {
    const patient = createRevival({
      log: (line) => lines.push(line),
      start: (name) => (started.push(name), Promise.resolve()),
    });
    const ended = patient.ended("service", "exit code 1");
    patient.stop();
    await ended;
    expect(started).toEqual([]);
  });
});

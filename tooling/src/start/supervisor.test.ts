import { createSupervisor, type Supervisor } from "./supervisor.ts";

let clock: number;
let lines: string[];
let delays: number[];
let startedNames: string[];
let startChild: (name: string) => Promise<void>;
let supervisor: Supervisor;
beforeEach(() => {
  [clock, lines, delays, startedNames] = [0, [], [], []];
  startChild = () => Promise.resolve();
  supervisor = createSupervisor({
    log: (line) => lines.push(line),
    start: (name) => {
      startedNames.push(name);
      return startChild(name);
    },
    now: () => clock,
    pause: (milliseconds) => {
      delays.push(milliseconds);
      clock += milliseconds;
      return Promise.resolve();
    },
  });
});

describe("createSupervisor", () => {
  it("logs an exit and restarts the process", async () => {
    await supervisor.handleExit("service", "SIGKILL");
    expect(startedNames).toEqual(["service"]);
    expect(lines).toEqual(["service ended (SIGKILL). Restarting in 1 s.", "service runs again."]);
  });

  it("doubles the delay with each failure, then leaves the restart to the operator", async () => {
    startChild = () => Promise.reject(new Error("service did not start: no room."));
    await supervisor.handleExit("service", "exit code 1");
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    expect(lines.at(-1)).toBe(
      `service did not start: no room. It is not tried again; to start it: kill -USR2 ${String(process.pid)}`,
    );
    expect(startedNames).toHaveLength(8);
  });

  it("counts exits of processes that end at once, each process for itself", async () => {
    for (let death = 0; death < 3; death++) await supervisor.handleExit("service", "exit code 1");
    await supervisor.handleExit("identity", "exit code 1");
    expect(delays).toEqual([1_000, 2_000, 4_000, 1_000]);
  });

  it("resets its count after a minute in which the process ran", async () => {
    await supervisor.handleExit("service", "exit code 1");
    await supervisor.handleExit("service", "exit code 1");
    clock += 60_001;
    await supervisor.handleExit("service", "exit code 1");
    expect(delays).toEqual([1_000, 2_000, 1_000]);
  });

  it("does not count the duration of a slow failed start as running", async () => {
    startChild = () => {
      clock += 61_000;
      if (startedNames.length > 20) supervisor.stop();
      return Promise.reject(new Error("service was not ready after 60 s."));
    };
    await supervisor.handleExit("service", "exit code 1");
    expect(startedNames).toHaveLength(8);
  });

  it("restarts nothing after it was stopped", async () => {
    supervisor.stop();
    await supervisor.handleExit("service", "exit code 1");
    expect([startedNames, lines]).toEqual([[], []]);
  });

  it("restarts nothing when it is stopped during the delay", async () => {
    const realTimeSupervisor = createSupervisor({
      log: (line) => lines.push(line),
      start: (name) => (startedNames.push(name), Promise.resolve()),
    });
    const exit = realTimeSupervisor.handleExit("service", "exit code 1");
    realTimeSupervisor.stop();
    await exit;
    expect(startedNames).toEqual([]);
  });
});

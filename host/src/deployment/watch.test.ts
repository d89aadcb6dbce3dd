import type { RemoteName } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { VerifiedDeployment } from "./verify.ts";
import { createDeploymentWatch, watchIntervalMilliseconds } from "./watch.ts";

const expiry = Date.parse("2026-11-28T10:00:00.000Z");

/** A checked deployment as far as the watch looks at it. */
function createDeployment(
  changes: Readonly<Partial<Record<RemoteName, string>>> = {},
  disabled: readonly string[] = [],
): VerifiedDeployment {
  const remotes = new Map(
    [...new Set(["secrets", "settings", ...Object.keys(changes)])].map((name) => [
      name,
      { status: "verified", record: { release: changes[name] ?? `${name}-1` } },
    ]),
  );
  return {
    deployment: { app_version: "0.3.1", not_after: new Date(expiry).toISOString(), disabled },
    remotes,
  } as unknown as VerifiedDeployment;
}

function setUp() {
  const load = jest.fn(() => Promise.resolve(createDeployment()));
  const log = jest.fn();
  const now = jest.fn(() => expiry - 1000);
  const watch = createDeploymentWatch({ pinned: createDeployment(), load, now, log });
  const listener = jest.fn();
  watch.subscribe(listener);
  return { watch, load, log, now, told: listener };
}

describe("createDeploymentWatch", () => {
  it("says nothing as long as the same set is in force", async () => {
    const { watch, told } = setUp();
    await watch.check();
    expect(watch.getState()).toEqual({ newer: false, disabled: new Set(), expired: false });
    expect(told).not.toHaveBeenCalled();
  });

  it("tells of a newer set, and takes it back when the old one is in force again", async () => {
    const { watch, load, told } = setUp();
    load.mockResolvedValueOnce(createDeployment({ secrets: "secrets-2" }));
    await watch.check();
    expect(watch.getState().newer).toBe(true);
    await watch.check();
    expect(watch.getState().newer).toBe(false);
    expect(told).toHaveBeenCalledTimes(2);
  });

  it("tells of a remote that was added", async () => {
    const { watch, load } = setUp();
    load.mockResolvedValueOnce(createDeployment({ notes: "notes-1" }));
    await watch.check();
    expect(watch.getState().newer).toBe(true);
  });

  it("names the remotes whose release was switched off, and never takes that back", async () => {
    const { watch, load } = setUp();
    load.mockResolvedValueOnce(createDeployment({ settings: "settings-0" }, ["settings-1", "secrets-9"]));
    await watch.check();
    expect(watch.getState().disabled).toEqual(new Set(["settings"]));
    await watch.check();
    expect(watch.getState().disabled).toEqual(new Set(["settings"]));
  });

  it.each(["deployment_refused", "deployment_older", "deployment_unreachable"] as const)(
    "goes on with what it has when the document is not to be had (%s)",
    async (code) => {
      const { watch, load, log, told } = setUp();
      load.mockRejectedValueOnce(new PortalError(code));
      await watch.check();
      expect(told).not.toHaveBeenCalled();
      expect(log).toHaveBeenCalledWith("deployment", expect.objectContaining({ code }));
    },
  );

  it("says that the page is too old once its own document is no longer in force", async () => {
    const { watch, load, now } = setUp();
    load.mockRejectedValueOnce(new PortalError("deployment_unreachable"));
    now.mockReturnValue(expiry);
    await watch.check();
    expect(watch.getState().expired).toBe(true);
  });

  it("makes one of two readings at the same time", async () => {
    const { watch, load } = setUp();
    await Promise.all([watch.check(), watch.check()]);
    expect(load).toHaveBeenCalledTimes(1);
  });

  it("reads every 45 s, until it is told to stop", async () => {
    jest.useFakeTimers();
    const { watch, load } = setUp();
    const stop = watch.start();
    await jest.advanceTimersByTimeAsync(3 * watchIntervalMilliseconds);
    expect(watchIntervalMilliseconds).toBe(45_000);
    expect(load).toHaveBeenCalledTimes(3);
    stop();
    await jest.advanceTimersByTimeAsync(watchIntervalMilliseconds);
    expect(load).toHaveBeenCalledTimes(3);
    jest.useRealTimers();
  });

  it("reads when the page is looked at again, until it is told to stop", async () => {
    const { watch, load } = setUp();
    const visibility = jest.spyOn(document, "visibilityState", "get").mockReturnValue("hidden");
    const setVisibility = (state: DocumentVisibilityState): void => {
      visibility.mockReturnValue(state);
      document.dispatchEvent(new Event("visibilitychange"));
    };
    const stop = watch.start();
    setVisibility("hidden");
    expect(load).not.toHaveBeenCalled();
    setVisibility("visible");
    await watch.check(); // the one that runs
    expect(load).toHaveBeenCalledTimes(1);
    stop();
    setVisibility("visible");
    expect(load).toHaveBeenCalledTimes(1);
    visibility.mockRestore();
  });
});

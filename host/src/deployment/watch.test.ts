import type { RemoteName } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { VerifiedDeployment } from "./verify.ts";
import { createDeploymentWatch, watchIntervalMilliseconds } from "./watch.ts";

const expiry = Date.parse("2026-11-28T10:00:00.000Z");

/** Creates a verified deployment with the members that the watch reads. */
function createDeployment(
  releaseByRemote: Readonly<Partial<Record<RemoteName, string>>> = {},
  disabledReleases: readonly string[] = [],
): VerifiedDeployment {
  const remotes = new Map(
    [...new Set(["secrets", "settings", ...Object.keys(releaseByRemote)])].map((name) => [
      name,
      { status: "verified", record: { release: releaseByRemote[name] ?? `${name}-1` } },
    ]),
  );
  return {
    deployment: { app_version: "0.3.1", not_after: new Date(expiry).toISOString(), disabled: disabledReleases },
    remotes,
  } as unknown as VerifiedDeployment;
}

function setUp() {
  const load = jest.fn(() => Promise.resolve(createDeployment()));
  const log = jest.fn();
  const now = jest.fn(() => expiry - 1000);
  const watch = createDeploymentWatch({ initialDeployment: createDeployment(), load, now, log });
  const listener = jest.fn();
  watch.subscribe(listener);
  return { watch, load, log, now, listener };
}

describe("createDeploymentWatch", () => {
  it("notifies no listener while the same releases are in force", async () => {
    const { watch, listener } = setUp();
    await watch.check();
    expect(watch.getState()).toEqual({ updateAvailable: false, disabledRemotes: new Set(), expired: false });
    expect(listener).not.toHaveBeenCalled();
  });

  it("reports newer releases, and withdraws the report when the old releases are in force again", async () => {
    const { watch, load, listener } = setUp();
    load.mockResolvedValueOnce(createDeployment({ secrets: "secrets-2" }));
    await watch.check();
    expect(watch.getState().updateAvailable).toBe(true);
    await watch.check();
    expect(watch.getState().updateAvailable).toBe(false);
    expect(listener).toHaveBeenCalledTimes(2);
  });

  it("reports an added remote", async () => {
    const { watch, load } = setUp();
    load.mockResolvedValueOnce(createDeployment({ notes: "notes-1" }));
    await watch.check();
    expect(watch.getState().updateAvailable).toBe(true);
  });

  it("names the remotes whose release was disabled, and keeps them disabled", async () => {
    const { watch, load } = setUp();
    load.mockResolvedValueOnce(createDeployment({ settings: "settings-0" }, ["settings-1", "secrets-9"]));
    await watch.check();
    expect(watch.getState().disabledRemotes).toEqual(new Set(["settings"]));
    await watch.check();
    expect(watch.getState().disabledRemotes).toEqual(new Set(["settings"]));
  });

  it.each(["deployment_refused", "deployment_older", "deployment_unreachable"] as const)(
    "changes nothing when the document cannot be loaded (%s)",
    async (code) => {
      const { watch, load, log, listener } = setUp();
      load.mockRejectedValueOnce(new PortalError(code));
      await watch.check();
      expect(listener).not.toHaveBeenCalled();
      expect(log).toHaveBeenCalledWith("deployment", expect.objectContaining({ code }));
    },
  );

  it("expires when the page's document has expired and no newer one can be loaded", async () => {
    const { watch, load, now } = setUp();
    load.mockRejectedValueOnce(new PortalError("deployment_unreachable"));
    now.mockReturnValue(expiry);
    await watch.check();
    expect(watch.getState().expired).toBe(true);
  });

  it("shares one request between concurrent checks", async () => {
    const { watch, load } = setUp();
    await Promise.all([watch.check(), watch.check()]);
    expect(load).toHaveBeenCalledTimes(1);
  });

  it("reads the document every 45 s until it is stopped", async () => {
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

  it("reads the document when the page becomes visible, until it is stopped", async () => {
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
    await watch.check(); // joins the running check
    expect(load).toHaveBeenCalledTimes(1);
    stop();
    setVisibility("visible");
    expect(load).toHaveBeenCalledTimes(1);
    visibility.mockRestore();
  });
});

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { PortalError } from "@relicario/shared/errors";

import { createAbortableCalls, raceAbort, type AbortableCalls } from "./abortable-calls.ts";

describe("createAbortableCalls", () => {
  it("settles like the call: a PortalError keeps its code, any other error becomes unknown", async () => {
    const { abortable } = createAbortableCalls();
    await expect(abortable(Promise.resolve("an answer"))).resolves.toBe("an answer");
    await expect(abortable(Promise.reject(new PortalError("not_found")))).rejects.toMatchObject({ code: "not_found" });
    await expect(abortable(Promise.reject(new Error("an error of a library")))).rejects.toMatchObject({
      code: "unknown",
    });
  });

  it("rejects pending and later calls with the first error", async () => {
    const { abortable, abort } = createAbortableCalls();
    const pendingCalls = [abortable(neverSettles()), abortable(neverSettles())];
    abort(new PortalError("vault_locked"));
    abort(new PortalError("vault_unavailable"));
    for (const call of [...pendingCalls, abortable(neverSettles()), abortable(Promise.resolve("too late"))])
      await expect(call).rejects.toMatchObject({ code: "vault_locked" });
  });

  it("keeps no result of a settled call", async () => {
    const abortableCalls = createAbortableCalls();
    const answerRef = await settleCall(abortableCalls);
    await new Promise(setImmediate); // a WeakRef holds its target until the job that read it ends
    collectGarbage();
    expect(answerRef.deref()).toBeUndefined();
    abortableCalls.abort(new PortalError("vault_locked")); // keeps it reachable until here
  });
});

describe("raceAbort", () => {
  it("settles like the call, and leaves no listener", async () => {
    const { signal } = new AbortController();
    const [added, removed] = [jest.spyOn(signal, "addEventListener"), jest.spyOn(signal, "removeEventListener")];
    await expect(raceAbort(signal, Promise.resolve("an answer"))).resolves.toBe("an answer");
    await expect(raceAbort(signal, Promise.reject(new PortalError("not_found")))).rejects.toMatchObject({
      code: "not_found",
    });
    expect(await raceAbort(undefined, Promise.resolve("without a signal"))).toBe("without a signal");
    await Promise.resolve();
    expect([added.mock.calls.length, removed.mock.calls.length]).toEqual([2, 2]);
  });

  it("rejects as soon as the signal is aborted, even if the call never settles", async () => {
    const controller = new AbortController();
    const call = raceAbort(controller.signal, neverSettles());
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: "cancelled" });
    await expect(raceAbort(controller.signal, neverSettles())).rejects.toMatchObject({ code: "cancelled" });
  });
});

function neverSettles(): Promise<never> {
  return new Promise(() => undefined);
}

async function settleCall({ abortable }: AbortableCalls): Promise<WeakRef<Uint8Array>> {
  return new WeakRef(await abortable(Promise.resolve(new Uint8Array(1_000))));
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc()");
}

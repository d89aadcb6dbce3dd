import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { PortalError } from "@relicario/shared/errors";

import { createAbortableCalls, type AbortableCalls } from "./abortable-calls.ts";

describe("createGone", () => {
  it("gives the outcome of a call, a refusal by its code and anything else as unknown", async () => {
    const { abortable } = createAbortableCalls();
    await expect(abortable(Promise.resolve("an answer"))).resolves.toBe("an answer");
    await expect(abortable(Promise.reject(new PortalError("not_found")))).rejects.toMatchObject({ code: "not_found" });
    await expect(abortable(Promise.reject(new Error("of a library")))).rejects.toMatchObject({ code: "unknown" });
  });

  it("rejects the calls that wait and the later ones, all with the first error", async () => {
    const { abortable, abort } = createAbortableCalls();
    const pendingCalls = [abortable(neverSettles()), abortable(neverSettles())];
    abort(new PortalError("vault_locked"));
    abort(new PortalError("vault_unavailable"));
    for (const call of [...pendingCalls, abortable(neverSettles()), abortable(Promise.resolve("too late"))])
      await expect(call).rejects.toMatchObject({ code: "vault_locked" });
  });

  it("keeps no answer of a call that has settled", async () => {
    const abortableCalls = createAbortableCalls();
    const answerRef = await settleCall(abortableCalls);
    await new Promise(setImmediate); // a WeakRef that was read holds its target until the job is over
    collectGarbage();
    expect(answerRef.deref()).toBeUndefined();
    abortableCalls.abort(new PortalError("vault_locked")); // so that it was reachable until here
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

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { PortalError } from "@relicario/shared/errors";

import { createGone, type Gone } from "./worker-gone.ts";

describe("createGone", () => {
  it("gives the outcome of a call, a refusal by its code and anything else as unknown", async () => {
    const { orGone } = createGone();
    await expect(orGone(Promise.resolve("an answer"))).resolves.toBe("an answer");
    await expect(orGone(Promise.reject(new PortalError("not_found")))).rejects.toMatchObject({ code: "not_found" });
    await expect(orGone(Promise.reject(new Error("of a library")))).rejects.toMatchObject({ code: "unknown" });
  });

  it("rejects the calls that wait and the later ones, all with the first error", async () => {
    const { orGone, say } = createGone();
    const waiting = [orGone(never()), orGone(never())];
    say(new PortalError("vault_locked"));
    say(new PortalError("vault_unavailable"));
    for (const call of [...waiting, orGone(never()), orGone(Promise.resolve("too late"))])
      await expect(call).rejects.toMatchObject({ code: "vault_locked" });
  });

  it("keeps no answer of a call that has settled", async () => {
    const gone = createGone();
    const answer = await answered(gone);
    await new Promise(setImmediate); // a WeakRef that was read holds its target until the job is over
    collectGarbage();
    expect(answer.deref()).toBeUndefined();
    gone.say(new PortalError("vault_locked")); // so that it was reachable until here
  });
});

function never(): Promise<never> {
  return new Promise(() => undefined);
}

async function answered({ orGone }: Gone): Promise<WeakRef<Uint8Array>> {
  return new WeakRef(await orGone(Promise.resolve(new Uint8Array(1_000))));
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc()");
}

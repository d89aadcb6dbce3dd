import { createCallClient, serveCalls } from "@relicario/engine/worker-calls";
import type { EngineWorkerApi } from "@relicario/engine/worker-api";
import { PortalError } from "@relicario/shared/errors";

import { createPageEngine } from "./page-engine.ts";

it("the page's engine reports a failure during connection, and the call rejects", async () => {
  const [workerChannel, engineChannel] = [new MessageChannel(), new MessageChannel()];
  let fail: (error: PortalError) => void = () => undefined;
  const failure = new Promise<PortalError>((resolve) => {
    fail = resolve;
  });
  serveCalls({ connect: () => new Promise<never>(() => undefined) }, workerChannel.port1);
  const onFailed = jest.fn();
  const engine = createPageEngine(
    async () => ({
      remote: createCallClient<EngineWorkerApi>(workerChannel.port2),
      failure,
      end: () => undefined,
    }),
    engineChannel.port1,
    onFailed,
  );
  const call = engine.ensure();
  setTimeout(() => {
    fail(new PortalError("vault_unavailable"));
  }, 20);
  await expect(call).rejects.toMatchObject({ code: "vault_unavailable" });
  expect(onFailed).toHaveBeenCalledTimes(1);
  for (const { port1, port2 } of [workerChannel, engineChannel]) {
    port1.close();
    port2.close();
  }
});

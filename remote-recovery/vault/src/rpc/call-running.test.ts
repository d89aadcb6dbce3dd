import { callRunning } from "./call-running.ts";

it("callRunning does not wait for a worker that fails to start when the call is cancelled", async () => {
  const controller = new AbortController();
  const startPromise = new Promise<never>(() => undefined);
  const call = callRunning(
    () => startPromise,
    [{ signal: controller.signal }],
    () => Promise.resolve("an answer"),
  );
  controller.abort();
  await expect(call).rejects.toMatchObject({ code: "cancelled" });
});

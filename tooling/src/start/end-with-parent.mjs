// Preloaded into every process that the start command or a build starts: when the starter is gone,
// however it ended, so is this one.
// A thread of such a process, which gets this too, has an input of its own that says nothing.
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  process.stdin.on("error", () => undefined);
  process.stdin.once("close", () => {
    process.kill(process.pid, "SIGTERM");
    setTimeout(() => process.exit(1), 10_000).unref();
  });
  process.stdin.resume();
  process.stdin.unref?.();
}

// Preloaded into child processes: ends them when their parent ends, also when that is killed.
// Worker threads load this too, but have their own stdin.
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

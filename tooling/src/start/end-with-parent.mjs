// Preloaded into every process that the start command or a build starts: when the starter is gone, however it ended, so is this one.
process.stdin.on("error", () => undefined);
process.stdin.once("close", () => {
  process.kill(process.pid, "SIGTERM");
  setTimeout(() => process.exit(1), 10_000).unref();
});
process.stdin.resume();
process.stdin.unref?.();

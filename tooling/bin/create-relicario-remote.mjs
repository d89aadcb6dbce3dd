#!/usr/bin/env node
// Creates a remote outside this repository. Plain JavaScript, so that an old Node reports its
// version instead of a syntax error.
const requiredNodeMajor = 24;
if (Number(process.versions.node.split(".")[0]) < requiredNodeMajor) {
  console.error(
    `Node ${requiredNodeMajor} or newer is needed; this is ${process.version}. In the project's folder, "pnpm exec create-relicario-remote" runs with it.`,
  );
  process.exit(1);
}
const { createRemoteHere } = await import("../src/remote-tools/pack.ts");
const { runCreation } = await import("../src/remote-tools/run-creation.ts");
process.exitCode = await runCreation(process.argv.slice(2), createRemoteHere);

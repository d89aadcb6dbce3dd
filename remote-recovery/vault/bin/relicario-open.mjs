#!/usr/bin/env node
// Plain JavaScript, so that an old Node reports the required version instead of a syntax error.
const requiredNodeMajor = 24;
if (Number(process.versions.node.split(".")[0]) < requiredNodeMajor) {
  console.error(
    `Node ${requiredNodeMajor} or newer is needed; this is ${process.version}. In the project's folder "pnpm exec relicario-open" brings it along.`,
  );
  process.exit(1);
}
const { main } = await import("../command/relicario-open.ts");
process.exitCode = await main(process.argv.slice(2));

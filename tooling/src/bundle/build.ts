/** `pnpm build [name…]`: builds what changed. */
import { UserFacingError } from "../user-facing-error.ts";
import { ensureBuilt } from "./ensure-built.ts";
import { buildTargets, isBuildTarget } from "./packages.ts";

const requestedNames = process.argv.slice(2);
const unknownNames = requestedNames.filter((name) => !isBuildTarget(name));
if (unknownNames.length > 0) {
  console.error(`Unknown: ${unknownNames.join(", ")}. There are ${buildTargets.join(", ")}.`);
  process.exitCode = 2;
} else {
  await ensureBuilt(
    (line) => console.log(line),
    requestedNames.length === 0 ? buildTargets : requestedNames.filter(isBuildTarget),
  ).then(
    () => console.log("Everything is built."),
    (error: unknown) => {
      console.error(error instanceof UserFacingError ? error.message : error);
      process.exitCode = 1;
    },
  );
}

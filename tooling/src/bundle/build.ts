/** `pnpm build [name…]`: builds what changed. */
import { Complaint } from "../start/complaint.ts";
import { ensureBuilt } from "./ensure-built.ts";
import { buildables, isBuildable } from "./packages.ts";

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !isBuildable(name));
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(", ")}. There are ${buildables.join(", ")}.`);
  process.exitCode = 2;
} else {
  await ensureBuilt((line) => console.log(line), asked.length === 0 ? buildables : asked.filter(isBuildable)).then(
    () => console.log("Everything is built."),
    (error: unknown) => {
      console.error(error instanceof Complaint ? error.message : error);
      process.exitCode = 1;
    },
  );
}

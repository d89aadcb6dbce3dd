import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { rootFolder } from "../paths.ts";
import { filesBelow } from "../release/files.ts";

const folder = join(rootFolder, "remote-recovery/engine");
const record = join(folder, "tested.json");

/** Of its folder, what its tests do not depend on. */
const notTested = /^(node_modules|build|bench|browser|fuzz|study|reference)\/|\.md$|^tested\.json$/;

/**
 * Whether the image engine is byte for byte the one whose tests passed last, with the same decoders and compiler. Its vectors
 * take minutes and depend on nothing else, so they run when it changes. `tested.json` is committed with the change.
 */
export function engineWasTested(): boolean {
  try {
    const known: unknown = JSON.parse(readFileSync(record, "utf8"));
    return typeof known === "object" && known !== null && "sha256" in known && known.sha256 === engineHash();
  } catch {
    return false; // no record, or not one of ours: the tests run
  }
}

/** All tests of the engine passed. */
export function noteEngineTested(): void {
  writeFileSync(record, `${JSON.stringify({ sha256: engineHash() })}\n`);
}

function engineHash(): string {
  const hash = createHash("sha256").update(versions());
  for (const file of filesBelow(folder)) {
    if (!notTested.test(file)) hash.update(`${file}\0`).update(readFileSync(join(folder, file))).update("\0");
  }
  return hash.digest("hex");
}

/** Lines of the catalog that name what the engine is made with, and Node. */
function versions(): string {
  const workspace = readFileSync(join(rootFolder, "pnpm-workspace.yaml"), "utf8");
  return workspace.split("\n").filter((line) => /^\s*"?(assemblyscript|@jsquash\/\w+|libheif[\w-]*|nodeVersion)"?:/.test(line)).join("\n");
}

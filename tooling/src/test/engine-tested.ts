import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { rootFolder } from "../paths.ts";
import { filesBelow } from "../release/files.ts";

/** Sources, tests, vectors and pictures of the image engine. */
const folders = ["remote-recovery/engine", "remote-recovery/src/engine"];
const notTested = /^(build|bench|browser|fuzz|study|reference)\/|\.md$|^tested\.json$/;

const record = join(rootFolder, "remote-recovery/engine/tested.json");

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
  for (const folder of folders) {
    for (const file of filesBelow(join(rootFolder, folder))) {
      if (!notTested.test(file)) hash.update(`${folder}/${file}\0`).update(readFileSync(join(rootFolder, folder, file))).update("\0");
    }
  }
  return hash.digest("hex");
}

/** Lines of the catalog that name what the engine is made with, and Node. */
function versions(): string {
  const workspace = readFileSync(join(rootFolder, "pnpm-workspace.yaml"), "utf8");
  return workspace.split("\n").filter((line) => /^\s*"?(assemblyscript|@jsquash\/\w+|libheif[\w-]*|nodeVersion)"?:/.test(line)).join("\n");
}

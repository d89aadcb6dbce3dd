import { createHash } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { filesBelow } from "../release/files.ts";

const folder = join(rootFolder, "remote-recovery/engine");
const record = join(folder, "tested.json");

/** Of its folder, what its tests do not depend on; and what else they do. */
const notTested = /^(node_modules|build|reference)\/|\.md$|^tested\.json$/;
const others = ["jest.config.cjs", "shared/src/errors"];

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

/** All tests of the engine passed; `sha256` is its hash from before they began. Without effect when it changed meanwhile. */
export function noteEngineTested(sha256: string): void {
  if (sha256 === engineHash()) writeFileSync(record, `${JSON.stringify({ sha256 })}\n`);
}

export function engineHash(): string {
  const hash = createHash("sha256").update(versions());
  for (const file of filesBelow(folder)) {
    if (!notTested.test(file)) hash.update(`${file}\0`).update(readFileSync(join(folder, file))).update("\0");
  }
  for (const path of others) {
    const files = statSync(join(rootFolder, path)).isFile() ? [path] : filesBelow(join(rootFolder, path)).map((file) => `${path}/${file}`);
    for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(rootFolder, file))).update("\0");
  }
  return hash.digest("hex");
}

/** Versions of all that the engine and its tests use, and of Node. */
function versions(): string {
  const { dependencies = {}, devDependencies = {} } = Manifest.parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
  const names = new Set([...Object.keys(dependencies), ...Object.keys(devDependencies), "jest", "@swc/core", "@swc/jest", "nodeVersion"]);
  const workspace = readFileSync(join(rootFolder, "pnpm-workspace.yaml"), "utf8");
  return workspace.split("\n").filter((line) => names.has(/^\s*"?([^":\s]+)"?:/.exec(line)?.[1] ?? "")).join("\n");
}

const Manifest = z.object({ dependencies: z.record(z.string(), z.string()).optional(), devDependencies: z.record(z.string(), z.string()).optional() });

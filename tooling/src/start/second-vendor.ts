/**
 * The second vendor of the portal on this machine: its own branding (tooling/vendors/arcon.json),
 * and its own `settings`, which is built outside this workspace, from the packed contract and
 * nothing else. `npm run vendor`.
 */
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { fingerprintOf } from "../bundle/fingerprint.ts";
import { createRemote } from "../create-remote/create-remote.ts";
import { rootFolder } from "../paths.ts";
import { writeBillOfMaterials } from "../release/bill-of-materials.ts";
import { pnpm } from "../release/pnpm.ts";
import { Complaint } from "./complaint.ts";
import { waitForLock } from "./lock.ts";

/** A vendor with an origin of its own, beside the default one. */
export interface OtherVendor {
  readonly id: string;
  readonly name: string;
  /** Built remotes of its own; they take the place of ours that have the same name. */
  readonly remoteFolders: readonly string[];
}

const id = "arcon";
const sources = `tooling/vendors/${id}/settings`;
const built = join(rootFolder, `.cache/vendors/${id}/settings`);
const stamp = join(built, "build/stamp");
const madeOf = ["pnpm-workspace.yaml", "shared/package.json", "shared/src", "tooling/template", sources];

/** The vendor, when its remote is built from the sources as they are now. */
export function secondVendor(): OtherVendor | null {
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== fingerprintOf(madeOf)) return null;
  return { id, name: "Arcón", remoteFolders: [built] };
}

/**
 * Builds its remote as a team elsewhere would (docs/remotes.md), in a folder for the time being,
 * and keeps the result.
 * @throws Complaint with all that was said when a step fails
 */
export async function buildSecondVendor(): Promise<OtherVendor> {
  const release = await waitForLock(join(rootFolder, ".cache/vendor.lock"));
  const outside = mkdtempSync(join(tmpdir(), `${id}-`));
  try {
    const ready = secondVendor();
    if (ready !== null) return ready;
    const made = fingerprintOf(madeOf);
    const workspace = join(outside, "settings");
    await createRemote(workspace, "settings");
    for (const own of ["manifest.json", "src/remote.tsx", "src/locales", "src/page"])
      rmSync(join(workspace, own), { recursive: true });
    cpSync(join(rootFolder, sources), workspace, { recursive: true });
    await step("install", pnpm(workspace, ["install", "--prefer-offline", "--no-frozen-lockfile"]));
    await step("types", node(workspace, "typescript/bin/tsc"));
    await step("build", node(workspace, "webpack-cli/bin/cli.js"));
    await writeBillOfMaterials(workspace);
    writeFileSync(join(workspace, "build/stamp"), made);
    rmSync(built, { recursive: true, force: true });
    mkdirSync(built, { recursive: true });
    for (const kept of ["manifest.json", "package.json", "src/locales", "build"])
      cpSync(join(workspace, kept), join(built, kept), { recursive: true });
    return { id, name: "Arcón", remoteFolders: [built] };
  } finally {
    rmSync(outside, { recursive: true, force: true });
    release();
  }
}

function node(folder: string, program: string): Promise<unknown> {
  return promisify(execFile)(process.execPath, [join(folder, "node_modules", program)], { cwd: folder });
}

async function step(name: string, work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    const said =
      error instanceof Error && "stdout" in error && "stderr" in error
        ? `${String(error.stdout)}${String(error.stderr)}`
        : String(error);
    throw new Complaint(`The settings of ${id} could not be built (${name}):\n${said.trim()}`);
  });
}

/**
 * The second vendor on this machine: its branding (tooling/vendors/arcon.json), and its own
 * `settings`, built outside this workspace from the packed contract.
 */
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { hashSources } from "../bundle/fingerprint.ts";
import { createRemoteHere } from "../remote-tools/pack.ts";
import { rootFolder } from "../paths.ts";
import { writeBillOfMaterials } from "../release/bill-of-materials.ts";
import { runPnpm } from "../release/pnpm.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { waitForLock } from "../keys/lock.ts";

export interface AdditionalVendor {
  readonly id: string;
  readonly name: string;
  /** Folders of remotes that replace the portal's own of the same name. */
  readonly remoteFolders: readonly string[];
}

const secondVendorId = "arcon";
const sourcesFolder = `tooling/vendors/${secondVendorId}/settings`;
const outputFolder = join(rootFolder, `.cache/vendors/${secondVendorId}/settings`);
const stampFile = join(outputFolder, "build/stamp");
const buildInputs = ["pnpm-workspace.yaml", "shared/package.json", "shared/src", "tooling/template", sourcesFolder];

/** Null when its remote is not built, or outdated. */
export function findSecondVendor(): AdditionalVendor | null {
  if (!existsSync(stampFile) || readFileSync(stampFile, "utf8") !== hashSources(buildInputs)) return null;
  return { id: secondVendorId, name: "Arcón", remoteFolders: [outputFolder] };
}

/**
 * Builds its remote as an external team would (docs/remotes.md).
 *
 * @throws UserFacingError with the output of a step that fails
 */
export async function buildSecondVendor(): Promise<AdditionalVendor> {
  const releaseLock = await waitForLock(join(rootFolder, ".cache/vendor.lock"));
  const temporaryFolder = mkdtempSync(join(tmpdir(), `${secondVendorId}-`));
  try {
    const existingVendor = findSecondVendor();
    if (existingVendor !== null) return existingVendor;
    const fingerprint = hashSources(buildInputs);
    const workspace = join(temporaryFolder, "settings");
    await createRemoteHere(workspace, "settings");
    for (const templateEntry of ["manifest.json", "src/remote.tsx", "src/locales", "src/page"])
      rmSync(join(workspace, templateEntry), { recursive: true });
    cpSync(join(rootFolder, sourcesFolder), workspace, { recursive: true });
    await runStep("install", runPnpm(workspace, ["install", "--prefer-offline", "--no-frozen-lockfile"]));
    await runStep("types", runNode(workspace, "typescript/bin/tsc"));
    await runStep("build", runNode(workspace, "webpack-cli/bin/cli.js"));
    await writeBillOfMaterials(workspace);
    writeFileSync(join(workspace, "build/stamp"), fingerprint);
    rmSync(outputFolder, { recursive: true, force: true });
    mkdirSync(outputFolder, { recursive: true });
    for (const entry of ["manifest.json", "package.json", "src/locales", "build"])
      cpSync(join(workspace, entry), join(outputFolder, entry), { recursive: true });
    return { id: secondVendorId, name: "Arcón", remoteFolders: [outputFolder] };
  } finally {
    rmSync(temporaryFolder, { recursive: true, force: true });
    releaseLock();
  }
}

function runNode(folder: string, program: string): Promise<unknown> {
  return promisify(execFile)(process.execPath, [join(folder, "node_modules", program)], { cwd: folder });
}

async function runStep(name: string, task: Promise<unknown>): Promise<void> {
  await task.catch((error: unknown) => {
    const output =
      error instanceof Error && "stdout" in error && "stderr" in error
        ? `${String(error.stdout)}${String(error.stderr)}`
        : String(error);
    throw new UserFacingError(`The settings of ${secondVendorId} could not be built (${name}):\n${output.trim()}`);
  });
}

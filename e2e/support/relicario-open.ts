import { spawn } from "node:child_process";
import path from "node:path";
import { text } from "node:stream/consumers";

const scriptPath = path.join(import.meta.dirname, "../../remote-recovery/vault/bin/relicario-open.mjs");

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command that opens kits, in a folder, with this standard input. */
export async function runRelicarioOpen(
  args: readonly string[],
  { folder, input }: { readonly folder: string; readonly input: string },
): Promise<CommandResult> {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", scriptPath, ...args], {
    cwd: folder,
  });
  child.stdin.end(input);
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once("close", resolve)),
  ]);
  return { code, stdout, stderr };
}

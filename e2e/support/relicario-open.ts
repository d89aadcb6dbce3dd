import { spawn } from "node:child_process";
import path from "node:path";
import { text } from "node:stream/consumers";

const program = path.join(import.meta.dirname, "../../tooling/bin/relicario-open.mjs");

export interface Ran {
  readonly code: number | null;
  readonly said: string;
  readonly complained: string;
}

/** Runs the command that opens kits, in a folder, with this standard input. */
export async function relicarioOpen(
  words: readonly string[],
  { folder, input }: { readonly folder: string; readonly input: string },
): Promise<Ran> {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program, ...words], { cwd: folder });
  child.stdin.end(input);
  const [said, complained, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once("close", resolve)),
  ]);
  return { code, said, complained };
}

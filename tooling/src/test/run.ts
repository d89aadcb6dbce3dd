import { spawn, type ChildProcess } from "node:child_process";
import { constants, setPriority } from "node:os";
import { join } from "node:path";

import { rootFolder } from "../paths.ts";

export interface ProcessResult {
  readonly code: number;
  /** stdout and stderr, in order. */
  readonly output: string;
}

interface RunOptions {
  /** Working folder; the root by default. */
  readonly folder?: string;
  /** Undefined removes a variable. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly showOutput?: boolean;
  readonly lowPriority?: boolean;
}

const runningChildren = new Set<ChildProcess>();

/** wireit's process group does not end with its terminal. */
export function terminateChildren(): void {
  for (const child of runningChildren) child.kill("SIGTERM");
}

export function run(
  program: string,
  args: readonly string[],
  { folder = rootFolder, environment = {}, showOutput = false, lowPriority = false }: RunOptions = {},
): Promise<ProcessResult> {
  const child = spawn(program, args, {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...environment },
  });
  runningChildren.add(child);
  child.once("close", () => runningChildren.delete(child));
  if (lowPriority && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      output += text;
      if (showOutput) process.stdout.write(text);
    });
  }
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ code: 127, output: `${program}: ${error.message}` }));
    child.once("close", (code) => resolve({ code: code ?? 1, output }));
  });
}

export const runNode = (args: readonly string[], options?: RunOptions): Promise<ProcessResult> =>
  run(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], options);

export const getBinPath = (name: string): string => join(rootFolder, "node_modules/.bin", name);

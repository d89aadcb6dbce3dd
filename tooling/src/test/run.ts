import { spawn, type ChildProcess } from "node:child_process";
import { constants, setPriority } from "node:os";
import { join } from "node:path";

import { rootFolder } from "../paths.ts";

export interface ProcessResult {
  readonly code: number;
  /** What it said, both streams in order. */
  readonly output: string;
}

interface RunOptions {
  /** From where; the checkout's root unless told. */
  readonly folder?: string;
  /** Added to this process's own; undefined takes one out. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Shows what it says as it says it. */
  readonly showOutput?: boolean;
  /** Lets others go first when the processors are busy. */
  readonly lowPriority?: boolean;
}

const runningChildren = new Set<ChildProcess>();

/** Ends all that runs: a group of its own, as wireit's is, does not end with its terminal. */
export function terminateChildren(): void {
  for (const child of runningChildren) child.kill("SIGTERM");
}

/** Runs a program quietly: what it said is shown when it fails. */
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

/** Runs a script of Node. */
export const runNode = (args: readonly string[], options?: RunOptions): Promise<ProcessResult> =>
  run(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], options);

/** A program of `node_modules/.bin`. */
export const getBinPath = (name: string): string => join(rootFolder, "node_modules/.bin", name);

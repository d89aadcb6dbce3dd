import { spawn, type ChildProcess } from "node:child_process";
import { constants, setPriority } from "node:os";
import { join } from "node:path";

import { rootFolder } from "../paths.ts";

export interface Outcome {
  readonly code: number;
  /** What it said, both streams in order. */
  readonly said: string;
}

interface RunOptions {
  /** From where; the checkout's root unless told. */
  readonly folder?: string;
  /** Added to this process's own; undefined takes one out. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Shows what it says as it says it. */
  readonly show?: boolean;
  /** Lets others go first when the processors are busy. */
  readonly modest?: boolean;
}

const running = new Set<ChildProcess>();

/** Ends all that runs: a group of its own, as wireit's is, does not end with its terminal. */
export function endRunning(): void {
  for (const child of running) child.kill("SIGTERM");
}

/** Runs a program quietly: what it said is shown when it fails. */
export function run(
  program: string,
  args: readonly string[],
  { folder = rootFolder, environment = {}, show = false, modest = false }: RunOptions = {},
): Promise<Outcome> {
  const child = spawn(program, args, {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...environment },
  });
  running.add(child);
  child.once("close", () => running.delete(child));
  if (modest && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      said += text;
      if (show) process.stdout.write(text);
    });
  }
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ code: 127, said: `${program}: ${error.message}` }));
    child.once("close", (code) => resolve({ code: code ?? 1, said }));
  });
}

/** Runs a script of Node. */
export const node = (args: readonly string[], options?: RunOptions): Promise<Outcome> =>
  run(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], options);

/** A program of `node_modules/.bin`. */
export const bin = (name: string): string => join(rootFolder, "node_modules/.bin", name);

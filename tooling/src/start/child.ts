import { spawn, type ChildProcessByStdio } from "node:child_process";
import { createWriteStream, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

import { z } from "zod";

import { compileCacheEnvironment } from "../compile-cache.ts";
import { rootFolder } from "../paths.ts";
import { UserFacingError } from "../user-facing-error.ts";

/**
 * A process of the portal. It says when it is ready, and where it listens, in one JSON line on its
 * stdout.
 */
export interface Child {
  readonly name: string;
  /** Where it listens: the same after each new start. */
  readonly port: () => number;
  readonly isRunning: () => boolean;
  readonly start: () => Promise<void>;
  /** Asks it to end (SIGTERM) and waits; after ten seconds it is killed. */
  readonly stop: () => Promise<void>;
  /** SIGKILL, as a crash would be. */
  readonly kill: () => Promise<void>;
}

/** One that hears lines on its standard input. */
export interface ChildWithInput extends Child {
  readonly sendLine: (line: string) => void;
}

export interface ChildSettings {
  readonly name: string;
  /** Script of Node, from the checkout's root. */
  readonly script: string;
  readonly environment: (port: number) => Readonly<Record<string, string>>;
  /** A fixed port; without it a free one. */
  readonly port?: number;
  readonly logFile: string;
  /** Starts anew when its sources change. */
  readonly watch?: boolean;
  /** Hears each line of its stdout. */
  readonly onLine?: (line: string) => void;
  /** It ended, and nobody had asked it to. */
  readonly onUnexpectedExit: (name: string, reason: string) => void;
}

const ReadyLine = z.object({ ready: z.literal(true), port: z.int() });
const startTimeoutMs = 60_000;
const stopTimeoutMs = 10_000;
const preloadScript = join(import.meta.dirname, "end-with-parent.mjs");

export function createChild({
  name,
  script,
  environment,
  port: fixedPort = 0,
  logFile,
  watch = false,
  onLine,
  onUnexpectedExit,
}: ChildSettings): ChildWithInput {
  let port = fixedPort;
  let current: {
    readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
    readonly ended: Promise<void>;
    stopRequested: boolean;
  } | null = null;

  async function start(): Promise<void> {
    if (current !== null) return;
    mkdirSync(dirname(logFile), { recursive: true });
    rotateLog(logFile);
    const log = createWriteStream(logFile, { flags: "a", mode: 0o600 });
    const child = spawn(
      process.execPath,
      [
        "--disable-warning=ExperimentalWarning",
        "--expose-gc",
        ...(watch ? ["--watch", "--watch-preserve-output"] : []),
        "--import",
        preloadScript,
        script,
      ],
      {
        cwd: rootFolder,
        env: { ...compileCacheEnvironment, ...buildInheritedEnvironment(), ...environment(port) },
        stdio: ["pipe", "pipe", "pipe"],
        // A group of its own: Ctrl-C reaches the starter alone, which then ends the others in
        // order.
        detached: true,
      },
    );
    child.stdin.on("error", () => undefined); // it ended; its exit says so
    child.stderr.pipe(log, { end: false });
    const ended = new Promise<void>((resolve) => {
      child.once("close", () => {
        log.end(resolve);
      });
    });
    const started = { process: child, ended, stopRequested: false };
    current = started;
    child.once("exit", () => {
      if (current === started) current = null;
    });

    const lines = createInterface({ input: child.stdout });
    await new Promise<void>((resolve, reject) => {
      const timeout = setTimeout(() => {
        child.kill("SIGKILL");
        reject(new UserFacingError(`${name} was not ready after ${String(startTimeoutMs / 1000)} s: see ${logFile}`));
      }, startTimeoutMs);
      lines.on("line", (line) => {
        log.write(`${line}\n`);
        onLine?.(line);
        const ready = parseReadyLine(line);
        if (ready === null) return;
        port = ready.port;
        clearTimeout(timeout);
        resolve();
      });
      child.once("error", (cause) => {
        clearTimeout(timeout);
        reject(new UserFacingError(`${name} could not be started: ${cause.message}`, { cause }));
      });
      void ended.then(() => {
        clearTimeout(timeout);
        reject(new UserFacingError(`${name} did not start: ${readLastLogLine(logFile)} (${logFile})`));
      });
    });
    child.once("exit", (code, signal) => {
      if (!started.stopRequested) onUnexpectedExit(name, signal ?? `exit code ${String(code)}`);
    });
  }

  async function terminate(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    if (current === null) return;
    const stopping = current;
    stopping.stopRequested = true;
    stopping.process.kill(signal);
    const timeout = setTimeout(() => stopping.process.kill("SIGKILL"), stopTimeoutMs);
    await stopping.ended;
    clearTimeout(timeout);
  }

  const sendLine = (line: string): void => void current?.process.stdin.write(`${line}\n`);
  return {
    name,
    port: () => port,
    isRunning: () => current !== null,
    start,
    stop: () => terminate("SIGTERM"),
    kill: () => terminate("SIGKILL"),
    sendLine,
  };
}

/**
 * What a child gets of the starter's own environment: nothing that would change how Node itself
 * runs.
 */
function buildInheritedEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(
    entries.filter(([name]) => !/^(NODE_OPTIONS|NODE_CHANNEL_FD|JEST_WORKER_ID|npm_.*|TEST_.*)$/.test(name)),
  );
}

function parseReadyLine(line: string): z.infer<typeof ReadyLine> | null {
  if (!line.startsWith("{")) return null;
  try {
    return ReadyLine.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null; // a line that only looks like it
  }
}

/** One former log is kept, so that the reason of a crash outlives the next start. */
function rotateLog(file: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  rmSync(`${file}.1`, { force: true });
  renameSync(file, `${file}.1`);
}

function readLastLogLine(file: string): string {
  const text = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
  return text === "" ? "it said nothing" : text.slice(text.lastIndexOf("\n") + 1);
}

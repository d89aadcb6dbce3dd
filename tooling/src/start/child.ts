import { spawn, type ChildProcessByStdio } from "node:child_process";
import { createWriteStream, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

import { z } from "zod";

import { compileCache } from "../compile-cache.ts";
import { rootFolder } from "../paths.ts";
import { Complaint } from "./complaint.ts";

/**
 * A process of the portal. It says when it is ready, and where it listens, in one JSON line on its
 * stdout.
 */
export interface Child {
  readonly name: string;
  /** Where it listens: the same after each new start. */
  readonly port: () => number;
  readonly running: () => boolean;
  readonly start: () => Promise<void>;
  /** Asks it to end (SIGTERM) and waits; after ten seconds it is killed. */
  readonly stop: () => Promise<void>;
  /** SIGKILL, as a crash would be. */
  readonly kill: () => Promise<void>;
}

/** One that hears lines on its standard input. */
export interface ToldChild extends Child {
  readonly tell: (line: string) => void;
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
  readonly onDeath: (name: string, how: string) => void;
}

const ReadyLine = z.object({ ready: z.literal(true), port: z.int() });
const startsWithinMs = 60_000;
const stopsWithinMs = 10_000;
const preload = join(import.meta.dirname, "end-with-parent.mjs");

export function createChild({
  name,
  script,
  environment,
  port: fixed = 0,
  logFile,
  watch = false,
  onLine,
  onDeath,
}: ChildSettings): ToldChild {
  let port = fixed;
  let running: {
    readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
    readonly ended: Promise<void>;
    asked: boolean;
  } | null = null;

  async function start(): Promise<void> {
    if (running !== null) return;
    mkdirSync(dirname(logFile), { recursive: true });
    keepFormerLog(logFile);
    const log = createWriteStream(logFile, { flags: "a", mode: 0o600 });
    const child = spawn(
      process.execPath,
      [
        "--disable-warning=ExperimentalWarning",
        "--expose-gc",
        ...(watch ? ["--watch", "--watch-preserve-output"] : []),
        "--import",
        preload,
        script,
      ],
      {
        cwd: rootFolder,
        env: { ...compileCache, ...inherited(), ...environment(port) },
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
    const mine = { process: child, ended, asked: false };
    running = mine;
    child.once("exit", () => {
      if (running === mine) running = null;
    });

    const lines = createInterface({ input: child.stdout });
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => {
        child.kill("SIGKILL");
        reject(new Complaint(`${name} was not ready after ${String(startsWithinMs / 1000)} s: see ${logFile}`));
      }, startsWithinMs);
      lines.on("line", (line) => {
        log.write(`${line}\n`);
        onLine?.(line);
        const ready = readyIn(line);
        if (ready === null) return;
        port = ready.port;
        clearTimeout(late);
        resolve();
      });
      child.once("error", (cause) => {
        clearTimeout(late);
        reject(new Complaint(`${name} could not be started: ${cause.message}`, { cause }));
      });
      void ended.then(() => {
        clearTimeout(late);
        reject(new Complaint(`${name} did not start: ${lastWords(logFile)} (${logFile})`));
      });
    });
    child.once("exit", (code, signal) => {
      if (!mine.asked) onDeath(name, signal ?? `exit code ${String(code)}`);
    });
  }

  async function end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    if (running === null) return;
    const mine = running;
    mine.asked = true;
    mine.process.kill(signal);
    const late = setTimeout(() => mine.process.kill("SIGKILL"), stopsWithinMs);
    await mine.ended;
    clearTimeout(late);
  }

  const tell = (line: string): void => void running?.process.stdin.write(`${line}\n`);
  return {
    name,
    port: () => port,
    running: () => running !== null,
    start,
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
    tell,
  };
}

/**
 * What a child gets of the starter's own environment: nothing that would change how Node itself
 * runs.
 */
function inherited(): Record<string, string> {
  const entries = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(
    entries.filter(([name]) => !/^(NODE_OPTIONS|NODE_CHANNEL_FD|JEST_WORKER_ID|npm_.*|TEST_.*)$/.test(name)),
  );
}

function readyIn(line: string): z.infer<typeof ReadyLine> | null {
  if (!line.startsWith("{")) return null;
  try {
    return ReadyLine.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null; // a line that only looks like it
  }
}

/** One former log is kept, so that the reason of a crash outlives the next start. */
function keepFormerLog(file: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  rmSync(`${file}.1`, { force: true });
  renameSync(file, `${file}.1`);
}

function lastWords(file: string): string {
  const text = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
  return text === "" ? "it said nothing" : text.slice(text.lastIndexOf("\n") + 1);
}

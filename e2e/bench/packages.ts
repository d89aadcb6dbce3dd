import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";

import { decodedMappings, TraceMap } from "@jridgewell/trace-mapping";

import { listRemotes } from "./checkout.ts";

/** A script as built; its map stands beside it. */
export interface BuiltScript {
  readonly file: string;
  /** Bytes after gzip, which are shared out to packages. */
  readonly size: number;
}

/**
 * What no source accounts for: webpack's runtime, and what it writes around modules, such as the
 * names that they export.
 */
const bundler = "webpack";
/** Webpack writes JSON, here the texts, without saying where it comes from. */
const texts = "own code: texts";

/**
 * Bytes of each package in these scripts, the largest first; each script's bytes go to packages by
 * their characters in it.
 */
export async function packageSizes(scripts: readonly BuiltScript[]): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (const { file, size } of scripts) {
    // null: made by no bundler
    const [code, map] = await Promise.all([readFile(file, "utf8"), readFile(`${file}.map`, "utf8").catch(() => null)]);
    const shares = map === null ? new Map([["own code: without a map", 1]]) : packageShares(code, map);
    for (const [name, share] of shares) sizes.set(name, (sizes.get(name) ?? 0) + share * size);
  }
  return new Map([...sizes].map(([name, size]) => [name, Math.round(size)] as const).toSorted(([, a], [, b]) => b - a));
}

/**
 * Part of a script's characters that comes from each package, by its map; the parts are 1 together.
 */
export function packageShares(code: string, map: string): Map<string, number> {
  const trace = new TraceMap(map);
  const mappings = decodedMappings(trace);
  const lines = code.split("\n");
  const total = lines.reduce((sum, line) => sum + line.length, 0);
  const shares = new Map<string, number>();
  const addShare = (name: string, characters: number): void => {
    if (characters > 0) shares.set(name, (shares.get(name) ?? 0) + characters / total);
  };
  let currentPackage = bundler; // a literal of several lines has a mapping at its start alone
  for (const [number, line] of lines.entries()) {
    const segments = mappings[number] ?? [];
    addShare(currentPackage, segments[0]?.[0] ?? line.length);
    for (const [index, segment] of segments.entries()) {
      const source = segment.length === 1 ? null : (trace.sources[segment[1]] ?? null);
      currentPackage =
        source !== null ? packageOfSource(source) : line.startsWith("JSON.parse(", segment[0]) ? texts : bundler;
      addShare(currentPackage, (segments[index + 1]?.[0] ?? line.length) - segment[0]);
    }
  }
  return shares;
}

/**
 * The package of a source as webpack names it: a scope counts as one, and our own code by its
 * folder.
 */
export function packageOfSource(source: string): string {
  const [, installed] = /.*\/node_modules\/((?:@[^/]+|[^/]+)\/)/.exec(source) ?? [];
  if (installed !== undefined) return installed.startsWith("@") ? `${installed}*` : installed.slice(0, -1);
  const [, project, rest = ""] = /^webpack:\/\/relicario_([^/]+)\/(.*)$/.exec(source) ?? [];
  const [, sibling] = /^\.\.\/([^/]+)\//.exec(rest) ?? [];
  if (sibling !== undefined) return `own code: ${sibling}`;
  return project !== undefined && rest.startsWith("./") ? `own code: ${project}` : bundler;
}

/** All scripts of pages of a build, host and remotes; workers are not among them. */
export async function allScripts(folder: string): Promise<BuiltScript[]> {
  const folders = [hostScripts(folder), ...listRemotes(folder).map((name) => remoteScripts(folder, name))];
  const files = await Promise.all(
    folders.map(async (scriptsFolder) =>
      (await readdir(scriptsFolder))
        .filter((name) => name.endsWith(".js"))
        .map((name) => path.join(scriptsFolder, name)),
    ),
  );
  return Promise.all(files.flat().map(async (file) => ({ file, size: gzippedSize(await readFile(file)) })));
}

/**
 * The script behind a path of the portal: `/static/…` is the host's, `/r/<remote>/<release>/…` a
 * remote's.
 */
export function builtFile(folder: string, pathname: string): string {
  const [, remote] = /^\/r\/([^/]+)\//.exec(pathname) ?? [];
  const scriptsFolder = remote === undefined ? hostScripts(folder) : remoteScripts(folder, remote);
  return path.join(scriptsFolder, path.posix.basename(pathname));
}

export function gzippedSize(bytes: Buffer): number {
  return gzipSync(bytes, { level: 9 }).length;
}

function hostScripts(folder: string): string {
  return path.join(folder, "host/build/web/static");
}

function remoteScripts(folder: string, name: string): string {
  return path.join(folder, `remote-${name}/build/web`);
}

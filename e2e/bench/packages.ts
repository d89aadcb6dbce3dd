import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";

import { decodedMappings, TraceMap } from "@jridgewell/trace-mapping";

import { listRemotes } from "./checkout.ts";

/** A built script, with its map next to it. */
export interface BuiltScript {
  readonly file: string;
  /** Bytes after gzip, distributed over packages. */
  readonly size: number;
}

/** Characters without a source: webpack's runtime and wrapping of modules. */
const bundler = "webpack";
/** Webpack writes JSON, here the texts, without a mapping. */
const texts = "own code: texts";

/** Bytes by package, largest first, by their characters in each script. */
export async function computePackageSizes(scripts: readonly BuiltScript[]): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (const { file, size } of scripts) {
    // null: not made by a bundler
    const [code, map] = await Promise.all([readFile(file, "utf8"), readFile(`${file}.map`, "utf8").catch(() => null)]);
    const shares = map === null ? new Map([["own code: without a map", 1]]) : computePackageShares(code, map);
    for (const [name, share] of shares) sizes.set(name, (sizes.get(name) ?? 0) + share * size);
  }
  return new Map([...sizes].map(([name, size]) => [name, Math.round(size)] as const).toSorted(([, a], [, b]) => b - a));
}

/** Share of each package in a script's characters, by its map. Shares add up to 1. */
export function computePackageShares(code: string, map: string): Map<string, number> {
  const trace = new TraceMap(map);
  const mappings = decodedMappings(trace);
  const lines = code.split("\n");
  const total = lines.reduce((sum, line) => sum + line.length, 0);
  const shares = new Map<string, number>();
  const addShare = (name: string, characters: number): void => {
    if (characters > 0) shares.set(name, (shares.get(name) ?? 0) + characters / total);
  };
  let currentPackage = bundler; // a literal of several lines has a mapping only at its start
  for (const [number, line] of lines.entries()) {
    const segments = mappings[number] ?? [];
    addShare(currentPackage, segments[0]?.[0] ?? line.length);
    for (const [index, segment] of segments.entries()) {
      const source = segment.length === 1 ? null : (trace.sources[segment[1]] ?? null);
      currentPackage =
        source !== null ? findPackageOfSource(source) : line.startsWith("JSON.parse(", segment[0]) ? texts : bundler;
      addShare(currentPackage, (segments[index + 1]?.[0] ?? line.length) - segment[0]);
    }
  }
  return shares;
}

/**
 * The package of a source by webpack's address: a scope counts as one package, own code by its
 * folder.
 */
export function findPackageOfSource(source: string): string {
  const [, installed] = /.*\/node_modules\/((?:@[^/]+|[^/]+)\/)/.exec(source) ?? [];
  if (installed !== undefined) return installed.startsWith("@") ? `${installed}*` : installed.slice(0, -1);
  const [, project, rest = ""] = /^webpack:\/\/relicario_([^/]+)\/(.*)$/.exec(source) ?? [];
  const [, sibling] = /^\.\.\/([^/]+)\//.exec(rest) ?? [];
  if (sibling !== undefined) return `own code: ${sibling}`;
  return project !== undefined && rest.startsWith("./") ? `own code: ${project}` : bundler;
}

/** All scripts of a build's pages, host and remotes, without workers. */
export async function listAllScripts(folder: string): Promise<BuiltScript[]> {
  const folders = [hostScripts(folder), ...listRemotes(folder).map((name) => remoteScripts(folder, name))];
  const files = await Promise.all(
    folders.map(async (scriptsFolder) =>
      (await readdir(scriptsFolder))
        .filter((name) => name.endsWith(".js"))
        .map((name) => path.join(scriptsFolder, name)),
    ),
  );
  return Promise.all(files.flat().map(async (file) => ({ file, size: computeGzippedSize(await readFile(file)) })));
}

/**
 * The script at a path: `/static/…` is the host's or the vault page's, `/r/<remote>/<release>/…` a
 * remote's. Entries get the hash in their name after webpack's build.
 */
export function findBuiltFile(folder: string, pathname: string): string {
  const [, remote] = /^\/r\/([^/]+)\//.exec(pathname) ?? [];
  const name = path.posix.basename(pathname);
  if (remote !== undefined) return path.join(remoteScripts(folder, remote), name);
  const entry = name.replace(/\.[0-9a-f]{8}\.js$/, ".js");
  const candidates = [path.join(hostScripts(folder), name), path.join(hostScripts(folder), entry)];
  return candidates.find((file) => existsSync(file)) ?? path.join(folder, "host/build/web/vault/static", entry);
}

export function computeGzippedSize(bytes: Buffer): number {
  return gzipSync(bytes, { level: 9 }).length;
}

function hostScripts(folder: string): string {
  return path.join(folder, "host/build/web/static");
}

function remoteScripts(folder: string, name: string): string {
  return path.join(folder, `remote-${name}/build/web`);
}

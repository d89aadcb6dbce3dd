/**
 * Compares the host that a portal serves, and what it serves at the vault's origin, with a build of
 * the sources here.
 */
import { hash } from "node:crypto";

import { z } from "zod";

import type { FileHashes } from "../bundle/rebuild.ts";
import { UserFacingError } from "../user-facing-error.ts";

const Hashes = z.record(z.string(), z.string());

export interface ServedHost {
  /** Hashes in its `host-files.json`. */
  readonly publishedHashes: FileHashes;
  /** Hashes of the requested files; one that is not served is missing. */
  readonly fileHashes: FileHashes;
  readonly page: string;
}

/** @throws UserFacingError when the portal has no list or no page */
export async function fetchServedHost(
  origin: string,
  paths: readonly string[],
  fetch: typeof globalThis.fetch = globalThis.fetch,
): Promise<ServedHost> {
  const [list, page] = await Promise.all([
    fetch(new URL("/host-files.json", origin)),
    fetch(new URL("/", origin), { headers: { accept: "text/html" } }),
  ]);
  if (!list.ok) throw new UserFacingError(`${origin} publishes no hashes of its host (HTTP ${String(list.status)}).`);
  if (!page.ok) throw new UserFacingError(`${origin} has no page (HTTP ${String(page.status)}).`);
  const published = Hashes.safeParse(await list.json().catch(() => null));
  if (!published.success) throw new UserFacingError(`${origin} publishes no list of hashes of its host.`);
  return {
    publishedHashes: stripLeadingSlashes(published.data),
    fileHashes: await fetchHashes(origin, paths, fetch),
    page: await page.text(),
  };
}

async function fetchHashes(
  origin: string,
  paths: readonly string[],
  fetch: typeof globalThis.fetch,
): Promise<FileHashes> {
  const fileHashes: Record<string, string> = {};
  for (const path of paths) {
    const response = await fetch(new URL(path, origin));
    if (response.ok)
      fileHashes[path] = `sha384-${hash("sha384", new Uint8Array(await response.arrayBuffer()), "base64")}`;
  }
  return fileHashes;
}

function stripLeadingSlashes(hashes: Readonly<Record<string, string>>): FileHashes {
  return Object.fromEntries(Object.entries(hashes).map(([path, integrity]) => [path.replace(/^\//, ""), integrity]));
}

const pagePatterns = {
  tag: /<(?:script|link)\b[^>]*>/gi,
  address: /\b(?:src|href)="?([^"\s>]+)/,
  integrity: /\bintegrity="?([^"\s>]+)/,
  list: /<script\b[^>]*\bid="?host-files"?[^>]*>([^<]*)</,
};

/**
 * Returns a sentence for each difference: in the files, in both lists, and in what the page starts.
 */
export function findHostProblems(builtFiles: FileHashes, { publishedHashes, fileHashes, page }: ServedHost): string[] {
  const problems: string[] = [];
  for (const [source, listedHashes] of [
    ["its list", publishedHashes],
    ["its page's list", parseEmbeddedList(page)],
  ] as const) {
    for (const path of new Set([...Object.keys(builtFiles), ...Object.keys(listedHashes)])) {
      if (listedHashes[path] === undefined) problems.push(`${path} is missing in ${source}`);
      else if (builtFiles[path] === undefined) problems.push(`${path} in ${source} is not built from these sources`);
      else if (listedHashes[path] !== builtFiles[path]) problems.push(`${path} in ${source} differs`);
    }
  }
  return [...problems, ...findServedProblems(builtFiles, { fileHashes, page })];
}

/**
 * Returns a sentence for each difference between the vault's origin and the built files: in what it
 * serves and in what its page starts.
 *
 * @throws UserFacingError when it has no page
 */
export async function findVaultProblems(
  builtFiles: FileHashes,
  vaultOrigin: string,
  fetch: typeof globalThis.fetch = globalThis.fetch,
): Promise<string[]> {
  const page = await fetch(new URL("/controller", vaultOrigin));
  if (!page.ok) throw new UserFacingError(`${vaultOrigin} has no page of the vault (HTTP ${String(page.status)}).`);
  const fileHashes = await fetchHashes(vaultOrigin, Object.keys(builtFiles), fetch);
  return findServedProblems(builtFiles, { fileHashes, page: await page.text() });
}

function findServedProblems(
  builtFiles: FileHashes,
  { fileHashes, page }: Pick<ServedHost, "fileHashes" | "page">,
): string[] {
  const problems: string[] = [];
  for (const [path, integrity] of Object.entries(builtFiles))
    if (fileHashes[path] !== integrity)
      problems.push(`${path} as it is served ${fileHashes[path] === undefined ? "is missing" : "differs"}`);
  for (const { address, integrity } of findExecutedResources(page)) {
    if (address === null) problems.push("its page has an inline script");
    else if (integrity === null || builtFiles[address.replace(/^\//, "")] !== integrity)
      problems.push(`its page starts ${address}, which is not built from these sources`);
  }
  return problems;
}

function parseEmbeddedList(page: string): FileHashes {
  const listJson = pagePatterns.list.exec(page)?.[1];
  if (listJson === undefined) return {};
  try {
    return stripLeadingSlashes(Hashes.parse(JSON.parse(listJson)));
  } catch {
    return {}; // then every file is reported as missing
  }
}

/** Scripts and stylesheets that a page runs; inline scripts have no address. */
function findExecutedResources(page: string): { readonly address: string | null; readonly integrity: string | null }[] {
  const isExecuted = (tag: string): boolean =>
    /^<script/i.test(tag)
      ? !/\btype="?application\/json\b/.test(tag)
      : /\brel="?(?:stylesheet|modulepreload)\b|\bas="?script\b/.test(tag);
  return [...page.matchAll(pagePatterns.tag)]
    .filter(([tag]) => isExecuted(tag))
    .map(([tag]) => ({
      address: pagePatterns.address.exec(tag)?.[1] ?? null,
      integrity: pagePatterns.integrity.exec(tag)?.[1] ?? null,
    }));
}

/** What a portal elsewhere serves of its host, beside what the sources here give. */
import { createHash } from "node:crypto";

import { z } from "zod";

import type { BuiltFiles } from "../bundle/rebuild.ts";
import { UserFacingError } from "../user-facing-error.ts";

const Hashes = z.record(z.string(), z.string());

/** What a portal serves of its host to whoever asks. */
export interface ServedHost {
  /** The list that it publishes, `host-files.json`. */
  readonly published: BuiltFiles;
  /**
   * Hashes of the files themselves, of those that were asked for; an answer that is no file has
   * none.
   */
  readonly files: BuiltFiles;
  readonly page: string;
}

/**
 * Asks a portal for its page, its list of hashes and each of these files. @throws UserFacingError
 * when it does not publish a list, or has no page
 */
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
  const files: Record<string, string> = {};
  for (const path of paths) {
    const response = await fetch(new URL(path, origin));
    if (response.ok)
      files[path] = `sha384-${createHash("sha384")
        .update(new Uint8Array(await response.arrayBuffer()))
        .digest("base64")}`;
  }
  return { published: stripLeadingSlashes(published.data), files, page: await page.text() };
}

function stripLeadingSlashes(hashes: Readonly<Record<string, string>>): BuiltFiles {
  return Object.fromEntries(Object.entries(hashes).map(([path, integrity]) => [path.replace(/^\//, ""), integrity]));
}

/** Scripts and stylesheets of a page, and the list of hashes in it. */
const pagePatterns = {
  tag: /<(?:script|link)\b[^>]*>/gi,
  address: /\b(?:src|href)="?([^"\s>]+)/,
  integrity: /\bintegrity="?([^"\s>]+)/,
  list: /<script\b[^>]*\bid="?host-files"?[^>]*>([^<]*)</,
};

/**
 * In words, in what it is not what the sources give: its files, the list that it publishes, and
 * what its page starts. None when all is the same.
 */
export function findHostProblems(builtFiles: BuiltFiles, { published, files, page }: ServedHost): string[] {
  const problems: string[] = [];
  for (const [source, listed] of [
    ["its list", published],
    ["its page's list", parseEmbeddedList(page)],
  ] as const) {
    for (const path of new Set([...Object.keys(builtFiles), ...Object.keys(listed)])) {
      if (listed[path] === undefined) problems.push(`${path} is missing in ${source}`);
      else if (builtFiles[path] === undefined) problems.push(`${path} in ${source} is not built of these sources`);
      else if (listed[path] !== builtFiles[path]) problems.push(`${path} in ${source} differs`);
    }
  }
  for (const [path, integrity] of Object.entries(builtFiles))
    if (files[path] !== integrity)
      problems.push(`${path} as it is served ${files[path] === undefined ? "is missing" : "differs"}`);
  for (const { address, integrity } of findExecutedResources(page)) {
    if (address === null) problems.push("its page has a script of its own");
    else if (integrity === null || builtFiles[address.replace(/^\//, "")] !== integrity)
      problems.push(`its page starts ${address}, which is not built of these sources`);
  }
  return problems;
}

function parseEmbeddedList(page: string): BuiltFiles {
  const listed = pagePatterns.list.exec(page)?.[1];
  if (listed === undefined) return {};
  try {
    return stripLeadingSlashes(Hashes.parse(JSON.parse(listed)));
  } catch {
    return {}; // every file is missing in it, which is what is told
  }
}

/** What a page starts: scripts, those of its own without an address, and stylesheets. */
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

import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import type { Language } from "../contract/index.ts";
import type { FetchTexts, Texts } from "../i18n/index.ts";

/**
 * The real texts: of the package that is tested, of the packages beside it, and of the host, which
 * come with this kit.
 *
 * @param localesFolder folder whose `<language>/<namespace>.json` come before those
 */
export function createDiskTextsFetcher(localesFolder?: string): FetchTexts {
  return (language, namespace) => {
    const texts = readTexts(language, namespace, localesFolder);
    return texts === null
      ? Promise.reject(new Error(`no package has the texts ${language}/${namespace}`))
      : Promise.resolve(texts);
  };
}

/**
 * The texts of one namespace, or null when no package has them. `locales` as of {@link
 * createDiskTextsFetcher}.
 */
export function readTexts(language: Language, namespace: string, localesFolder?: string): Texts | null {
  const root = findWorkspaceRoot();
  const packages = root === null ? [] : readdirSync(root).map((name) => path.join(root, name, "src", "locales"));
  for (const folder of [
    ...(localesFolder === undefined ? [] : [localesFolder]),
    path.join(process.cwd(), "src", "locales"),
    ...packages,
    path.join(import.meta.dirname, "locales"),
  ]) {
    const file = path.join(folder, language, `${namespace}.json`);
    if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as Texts;
  }
  return null;
}

/**
 * Keys of a namespace in dot notation, sorted, without the endings of plurals: two languages must
 * agree on them.
 */
export function listTextKeys(texts: Texts, prefix = ""): string[] {
  const keys = Object.entries(texts).flatMap(([key, value]) =>
    typeof value === "object" && value !== null
      ? listTextKeys(value as Texts, `${prefix}${key}.`)
      : [`${prefix}${key}`.replace(/_(zero|one|two|few|many|other)$/, "")],
  );
  return [...new Set(keys)].sort();
}

/** @throws Error outside the portal's own workspace */
export function requireWorkspaceRoot(): string {
  const root = findWorkspaceRoot();
  if (root === null) throw new Error("tests run inside the workspace");
  return root;
}

function findWorkspaceRoot(): string | null {
  for (let folder = process.cwd(); ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, "pnpm-workspace.yaml"))) return folder;
    if (folder === path.dirname(folder)) return null;
  }
}

import type { SharedModule } from "@relicario/shared/webpack";

export type Surface = Readonly<Record<string, SharedModule>>;

/**
 * What the list lacks and what it has too much, one sentence each. `exported`: what the modules
 * export.
 */
export function findSurfaceProblems(listed: Surface, exported: Surface): string[] {
  const problems: string[] = [];
  for (const name of Object.keys(listed))
    if (exported[name] === undefined) problems.push(`${name} is listed and not shared.`);
  for (const [name, { version, exports }] of Object.entries(exported)) {
    const entry = listed[name];
    if (entry === undefined) {
      problems.push(`${name} is shared and not listed.`);
      continue;
    }
    const withheld = Object.keys(entry.withheld ?? {});
    if (entry.version !== version) problems.push(`${name} is listed as ${entry.version} and is ${version}.`);
    const missing = exports.filter(
      (exportName) => !entry.exports.includes(exportName) && !withheld.includes(exportName),
    );
    // A part of a namespace, such as core.locales, is no export.
    const removed = [...entry.exports, ...withheld.filter((exportName) => !exportName.includes("."))].filter(
      (exportName) => !exports.includes(exportName),
    );
    const duplicated = withheld.filter((exportName) => entry.exports.includes(exportName));
    if (missing.length > 0) problems.push(`${name} exports ${missing.join(", ")}: not listed.`);
    if (removed.length > 0) problems.push(`${name} lists ${removed.join(", ")}: not exported.`);
    if (duplicated.length > 0) problems.push(`${name} both gives and withholds ${duplicated.join(", ")}.`);
  }
  return problems;
}

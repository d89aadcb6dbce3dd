import { isInCaretRange } from "@relicario/shared/contract/compatibility";
import type { SharedModule } from "@relicario/shared/webpack";

export type Surface = Readonly<Record<string, SharedModule>>;
export type ExportedModule = Pick<SharedModule, "exports" | "version">;

/** One sentence for each difference between the list and the installed modules. */
export function findSurfaceProblems(
  listedSurface: Surface,
  exportedModules: Readonly<Record<string, ExportedModule>>,
): string[] {
  const problems: string[] = [];
  for (const name of Object.keys(listedSurface))
    if (exportedModules[name] === undefined) problems.push(`${name} is listed and not shared.`);
  for (const [name, { version, exports }] of Object.entries(exportedModules)) {
    const entry = listedSurface[name];
    if (entry === undefined) {
      problems.push(`${name} is shared and not listed.`);
      continue;
    }
    const withheld = Object.keys(entry.withheld ?? {});
    if (entry.version !== version) problems.push(`${name} is listed as ${entry.version} and is ${version}.`);
    if (!isInCaretRange(version, `^${entry.floor}`))
      problems.push(`${name} is required from ${entry.floor} on, and is ${version}.`);
    const missingNames = exports.filter(
      (exportName) => !entry.exports.includes(exportName) && !withheld.includes(exportName),
    );
    // A dotted name, such as core.locales, is part of a namespace, not an export.
    const removedNames = [...entry.exports, ...withheld.filter((exportName) => !exportName.includes("."))].filter(
      (exportName) => !exports.includes(exportName),
    );
    const duplicatedNames = withheld.filter((exportName) => entry.exports.includes(exportName));
    if (missingNames.length > 0) problems.push(`${name} exports ${missingNames.join(", ")}: not listed.`);
    if (removedNames.length > 0) problems.push(`${name} lists ${removedNames.join(", ")}: not exported.`);
    if (duplicatedNames.length > 0) problems.push(`${name} both lists and withholds ${duplicatedNames.join(", ")}.`);
  }
  return problems;
}

/**
 * Lowest version that remotes may require: the listed one, as long as the installed version is in
 * its range and has no new name; otherwise the installed version, the only one that is tested.
 */
export function findFloor(entry: SharedModule | undefined, { version, exports }: ExportedModule): string {
  if (entry === undefined) return version;
  const knownNames = [...entry.exports, ...Object.keys(entry.withheld ?? {})];
  const isKept = isInCaretRange(version, `^${entry.floor}`) && exports.every((name) => knownNames.includes(name));
  return isKept ? entry.floor : version;
}

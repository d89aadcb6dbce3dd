/**
 * Circles of folders: a folder that imports itself by way of others beside it. Within a folder each
 * sub-folder counts as one, with all that lies below it, and so does each file that lies directly
 * in it. Imports of types count; tests and what only tests use do not.
 */

/** Files that may reach anywhere in their package. */
const testFile = /\.test\.tsx?$|(^|\/)((testing|contracts|attacks|bench)\/|conformance)/;

/** What a file imports, by file, as dpdm tells it. */
export type ImportsByFile = Readonly<Record<string, readonly { readonly id: string | null }[] | null>>;

/** One import for each part of a folder that imports another part, by both. */
type PartImports = Map<string, Map<string, string>>;

/** All circles of folders, each in one sentence with the imports that make it. */
export function findFolderCycles(files: ImportsByFile): string[] {
  const folders = new Map<string, PartImports>();
  for (const [file, dependencies] of Object.entries(files)) {
    for (const { id } of dependencies ?? []) {
      if (id === null || id === file || testFile.test(file) || testFile.test(id)) continue;
      const { folder, from, to } = splitAtCommonFolder(file, id);
      const imports: PartImports = folders.get(folder) ?? new Map<string, Map<string, string>>();
      folders.set(folder, imports.set(from, new Map(imports.get(from)).set(to, `${file} imports ${id}`)));
    }
  }
  return [...folders]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([folder, imports]) => findShortCycles(imports).map((cycle) => describe(folder, imports, cycle)));
}

/** The folder that holds both, and in which of its parts each lies. */
function splitAtCommonFolder(file: string, imported: string): { folder: string; from: string; to: string } {
  const [parts, otherParts] = [file.split("/"), imported.split("/")];
  const depth = parts.findIndex((part, index) => part !== otherParts[index]);
  const name = (path: readonly string[]) => `${path[depth] ?? ""}${path.length > depth + 1 ? "/" : ""}`;
  return { folder: parts.slice(0, depth).join("/"), from: name(parts), to: name(otherParts) };
}

/**
 * Shortest circles, so many that each part in one is named. Circles of files alone are left out:
 * they are found among files.
 */
function findShortCycles(imports: PartImports): readonly (readonly string[])[] {
  const named = new Set<string>();
  const cycles: (readonly string[])[] = [];
  for (const part of [...imports.keys()].sort()) {
    if (named.has(part)) continue;
    const cycle = findCycleThrough(part, imports);
    if (cycle?.some((each) => each.endsWith("/")) !== true) continue;
    cycles.push(cycle);
    for (const each of cycle) named.add(each);
  }
  return cycles;
}

/** The shortest way from a part back to itself; null without one. */
function findCycleThrough(start: string, imports: PartImports): readonly string[] | null {
  const paths = [[start]];
  const seen = new Set<string>();
  for (const path of paths) {
    for (const next of imports.get(path.at(-1) ?? start)?.keys() ?? []) {
      if (next === start) return path;
      if (!seen.has(next)) paths.push([...path, next]); // grows while it is read: nearest first
      seen.add(next);
    }
  }
  return null;
}

function describe(folder: string, imports: PartImports, cycle: readonly string[]): string {
  const closed = [...cycle, ...cycle.slice(0, 1)];
  const examples = cycle.map((part, index) => imports.get(part)?.get(closed[index + 1] ?? "") ?? "");
  return [
    `${folder || "."}: ${closed.join(" -> ")} is a circle of folders: move what both sides need to a folder below them.`,
    ...examples.map((example) => `  ${example}`),
  ].join("\n");
}

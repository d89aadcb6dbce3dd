/**
 * Finds cycles of folders. A subfolder with all its contents counts as one part of its folder, and
 * so does each file directly in it. Type imports count; tests and test helpers do not.
 */

/** Files that may import anything of their package. */
const testFile = /\.test\.tsx?$|(^|\/)((testing|contracts|attacks|bench)\/|conformance)/;

/** Imports of each file, as dpdm returns them. */
export type ImportsByFile = Readonly<Record<string, readonly { readonly id: string | null }[] | null>>;

/** An example import for each pair of an importing and an imported part. */
type PartImports = Map<string, Map<string, string>>;

/** One sentence for each cycle, with example imports. */
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
    .flatMap(([folder, imports]) => findShortCycles(imports).map((cycle) => describeCycle(folder, imports, cycle)));
}

/** The deepest common folder, and the part of it that holds each file. */
function splitAtCommonFolder(file: string, imported: string): { folder: string; from: string; to: string } {
  const [parts, otherParts] = [file.split("/"), imported.split("/")];
  const depth = parts.findIndex((part, index) => part !== otherParts[index]);
  const name = (path: readonly string[]) => `${path[depth] ?? ""}${path.length > depth + 1 ? "/" : ""}`;
  return { folder: parts.slice(0, depth).join("/"), from: name(parts), to: name(otherParts) };
}

/**
 * Finds short cycles until each part in a cycle is named. Leaves out cycles of only files, which
 * import-cycles.ts finds.
 */
function findShortCycles(imports: PartImports): readonly (readonly string[])[] {
  const namedParts = new Set<string>();
  const cycles: (readonly string[])[] = [];
  for (const part of [...imports.keys()].sort()) {
    if (namedParts.has(part)) continue;
    const cycle = findCycleThrough(part, imports);
    if (cycle?.some((each) => each.endsWith("/")) !== true) continue;
    cycles.push(cycle);
    for (const each of cycle) namedParts.add(each);
  }
  return cycles;
}

/** The shortest cycle through a part, by breadth-first search. */
function findCycleThrough(start: string, imports: PartImports): readonly string[] | null {
  const paths = [[start]];
  const seenParts = new Set<string>();
  for (const path of paths) {
    for (const next of imports.get(path.at(-1) ?? start)?.keys() ?? []) {
      if (next === start) return path;
      if (!seenParts.has(next)) paths.push([...path, next]); // the loop visits what it appends
      seenParts.add(next);
    }
  }
  return null;
}

function describeCycle(folder: string, imports: PartImports, cycle: readonly string[]): string {
  const closedCycle = [...cycle, ...cycle.slice(0, 1)];
  const examples = cycle.map((part, index) => imports.get(part)?.get(closedCycle[index + 1] ?? "") ?? "");
  return [
    `${folder || "."}: ${closedCycle.join(" -> ")} is a cycle of folders: move what both need to a folder below them.`,
    ...examples.map((example) => `  ${example}`),
  ].join("\n");
}

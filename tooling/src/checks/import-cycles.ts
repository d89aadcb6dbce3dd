/**
 * Circles of imports: a file that imports itself by way of others. Imports of types count: they
 * make reading circular too.
 */
import { join } from "node:path";

import { parseCircular, parseDependencyTree, type DependencyTree } from "dpdm";

/** What these files (paths from `root`) import, by file. */
export async function readImports(root: string, files: readonly string[]): Promise<DependencyTree> {
  const tree = await parseDependencyTree(
    files.map((file) => join(root, file)),
    { context: root, exclude: /node_modules/ },
  );
  // read in any order, told in one
  return Object.fromEntries(Object.entries(tree).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** All circles of files, each in one sentence. */
export function findImportCycles(imports: DependencyTree): string[] {
  return parseCircular(imports).map(
    (cycle) =>
      `${[...cycle, ...cycle.slice(0, 1)].join(" -> ")} is a circle: give what both sides need a file of its own.`,
  );
}

/**
 * Circles of imports: a file that imports itself by way of others. Imports of types count: they
 * make reading circular too.
 */
import { join } from "node:path";

import { parseCircular, parseDependencyTree } from "dpdm";

/** All problems of these files (paths from `root`), each in one sentence. */
export async function findImportCycles(root: string, files: readonly string[]): Promise<string[]> {
  const tree = await parseDependencyTree(
    files.map((file) => join(root, file)),
    { context: root, exclude: /node_modules/ },
  );
  // read in any order, told in one
  const sorted = Object.fromEntries(Object.entries(tree).sort(([a], [b]) => (a < b ? -1 : 1)));
  return parseCircular(sorted).map(
    (cycle) =>
      `${[...cycle, ...cycle.slice(0, 1)].join(" -> ")} is a circle: give what both sides need a file of its own.`,
  );
}

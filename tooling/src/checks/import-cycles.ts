/**
 * Finds import cycles of files. Counts type imports, because they also couple files in both
 * directions.
 */
import { join } from "node:path";

import { parseCircular, parseDependencyTree, type DependencyTree } from "dpdm";

export async function readImports(root: string, files: readonly string[]): Promise<DependencyTree> {
  const tree = await parseDependencyTree(
    files.map((file) => join(root, file)),
    { context: root, exclude: /node_modules/ },
  );
  // sorted, so that reports are deterministic
  return Object.fromEntries(Object.entries(tree).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function findImportCycles(imports: DependencyTree): string[] {
  return parseCircular(imports).map(
    (cycle) =>
      `${[...cycle, ...cycle.slice(0, 1)].join(" -> ")} is an import cycle: move the shared code to a separate file.`,
  );
}

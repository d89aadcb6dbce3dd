/** Circles of imports: a file that imports itself by way of others. Imports of types count: they make reading circular too. */
import { join } from "node:path";

import { parseCircular, parseDependencyTree, type DependencyTree } from "dpdm";

/** Importer and imported file, paths from the root. */
export type Import = readonly [importer: string, imported: string];

/** All problems of these files (paths from `root`), each in one sentence. An accepted import is taken as if it was not there. */
export async function problemsOfCircles(root: string, files: readonly string[], accepted: readonly Import[] = []): Promise<string[]> {
  const tree = await parseDependencyTree(files.map((file) => join(root, file)), { context: root, exclude: /node_modules/ });
  const unused = new Set(accepted);
  const others: DependencyTree = {};
  for (const [importer, imports] of Object.entries(tree)) {
    others[importer] = (imports ?? []).filter(({ id }) => {
      const line = accepted.find((each) => each[0] === importer && each[1] === id);
      if (line !== undefined) unused.delete(line);
      return line === undefined;
    });
  }
  return [
    ...parseCircular(others).map((circle) => `${[...circle, ...circle.slice(0, 1)].join(" -> ")} is a circle: give what both sides need a file of its own.`),
    ...[...unused].map((line) => `${line.join(" -> ")} is accepted and not there: take it from the list.`),
  ];
}

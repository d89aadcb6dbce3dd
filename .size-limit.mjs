/**
 * Budgets of what browsers download. Each package states its own in its `.size-limit.json`.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = import.meta.dirname;
const entryBudget = { name: "entry", path: "build/web/remoteEntry.js", gzip: true, limit: "9 kB" };
const totalBudget = { name: "all", path: "build/web/*.js", gzip: true, limit: "80 kB" };

/** Reads a package's budgets; the defaults where it has no `.size-limit.json`. */
const readBudgets = (folder) => {
  const file = join(root, folder, ".size-limit.json");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [entryBudget, totalBudget];
};
const pathsIn = (folder) => (path) => (path.startsWith("!") ? `!${folder}/${path.slice(1)}` : `${folder}/${path}`);

export default ["host", ...readdirSync(root).filter((name) => name.startsWith("remote-"))].flatMap((folder) =>
  readBudgets(folder).map((budget) => ({
    ...budget,
    name: `${folder}: ${budget.name}`,
    path: [budget.path].flat().map(pathsIn(folder)),
  })),
);

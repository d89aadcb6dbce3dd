import type { SharedModule } from "@relicario/shared/webpack";

export type Surface = Readonly<Record<string, SharedModule>>;

/**
 * What the list lacks and what it has too much, one sentence each. `own`: what the modules export.
 */
export function surfaceProblems(listed: Surface, own: Surface): string[] {
  const problems: string[] = [];
  for (const name of Object.keys(listed))
    if (own[name] === undefined) problems.push(`${name} is listed and not shared.`);
  for (const [name, { version, exports }] of Object.entries(own)) {
    const entry = listed[name];
    if (entry === undefined) {
      problems.push(`${name} is shared and not listed.`);
      continue;
    }
    const withheld = Object.keys(entry.withheld ?? {});
    if (entry.version !== version) problems.push(`${name} is listed as ${entry.version} and is ${version}.`);
    const missing = exports.filter((each) => !entry.exports.includes(each) && !withheld.includes(each));
    // A part of a namespace, such as core.locales, is no export.
    const gone = [...entry.exports, ...withheld.filter((each) => !each.includes("."))].filter(
      (each) => !exports.includes(each),
    );
    const both = withheld.filter((each) => entry.exports.includes(each));
    if (missing.length > 0) problems.push(`${name} exports ${missing.join(", ")}: not listed.`);
    if (gone.length > 0) problems.push(`${name} lists ${gone.join(", ")}: not exported.`);
    if (both.length > 0) problems.push(`${name} both gives and withholds ${both.join(", ")}.`);
  }
  return problems;
}

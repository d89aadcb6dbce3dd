import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const src = join(__dirname, "..");

/**
 * Files of the vault that a file's code needs when it runs, itself among them. Imports of types
 * alone are gone by then.
 */
function neededBy(entry: string): string[] {
  const found = new Set<string>();
  const visit = (file: string): void => {
    if (found.has(file)) return;
    found.add(file);
    const text = readFileSync(file, "utf8");
    for (const [, from = ""] of text.matchAll(/^(?:import|export) (?!type )(?:[^;"]*? from )?"(\.[^"]+)";$/gm)) {
      const next = join(dirname(file), from);
      if (!existsSync(next)) throw new Error(`${file} imports ${from}`);
      visit(next);
    }
  };
  visit(join(src, entry));
  return [...found].map((file) => relative(src, file)).sort();
}

/** What holds, makes or keeps keys of an account, or reads what a device keeps. */
const ofAnAccount =
  /^(vault-context|service|seal\/(account-key|account-signatures|opener|book|shares|requests|state|inner|ticket)|device\/device|acts\/.*|steps\/(read-|open-account|choose-openers|publish|pending|signed-change).*|worker\/vault-worker-api)\.ts$/;

describe("the visitor's worker", () => {
  it("needs no file that leads to an account's keys", () => {
    const needed = neededBy("visitor.worker.ts");
    expect(needed).toContain("shares/open-link.ts");
    expect(needed.filter((file) => ofAnAccount.test(file))).toEqual([]);
  });

  it("is told apart from one that does", () => {
    expect(neededBy("vault.worker.ts").filter((file) => ofAnAccount.test(file))).toEqual(
      expect.arrayContaining(["seal/account-key.ts", "device/device.ts", "vault-context.ts"]),
    );
  });
});

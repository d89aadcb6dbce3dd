import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const src = join(__dirname, "..");

/**
 * Files of the vault that a file's code needs when it runs, itself among them. Imports of types
 * alone are gone by then.
 */
function runtimeImportsOf(entry: string): string[] {
  const visited = new Set<string>();
  const visit = (file: string): void => {
    if (visited.has(file)) return;
    visited.add(file);
    const text = readFileSync(file, "utf8");
    for (const [, specifier = ""] of text.matchAll(/^(?:import|export) (?!type )(?:[^;"]*? from )?"(\.[^"]+)";$/gm)) {
      const imported = join(dirname(file), specifier);
      if (!existsSync(imported)) throw new Error(`${file} imports ${specifier}`);
      visit(imported);
    }
  };
  visit(join(src, entry));
  return [...visited].map((file) => relative(src, file)).sort();
}

/** What holds, makes or keeps keys of an account, or reads what a device keeps. */
const accountFilePattern =
  /^(session\/.*|keyring\/.*|openers\/(begin-account|choose-openers|enrol-image|open-account|require-account-key|unlock|with-presented-opener)|secrets\/(read-ticket|seal-secret|reseal-.*|stage-rows|portable-secret)|service\/service|seal\/(account-key|account-signatures|opener|book|shares|requests|state|document-with-inner|ticket)|device\/(device|pending-account|checked-openers|saved-keys)|operations\/.*|worker\/(refreshed-list|upload-deps|vault-operations|vault-worker-api))\.ts$/;

describe("the visitor's worker", () => {
  it("needs no file that leads to an account's keys", () => {
    const needed = runtimeImportsOf("visitor.worker.ts");
    expect(needed).toContain("shares/open-link.ts");
    expect(needed.filter((file) => accountFilePattern.test(file))).toEqual([]);
  });

  it("is told apart from one that does", () => {
    expect(runtimeImportsOf("vault.worker.ts").filter((file) => accountFilePattern.test(file))).toEqual(
      expect.arrayContaining(["seal/account-key.ts", "device/device.ts", "session/vault-session.ts"]),
    );
  });
});

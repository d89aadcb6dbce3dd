import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const sourceRoot = join(__dirname, "..");

/**
 * Files of the vault that an entry file imports at run time, including itself. Type imports do not
 * count.
 */
function listRuntimeImports(entry: string): string[] {
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
  visit(join(sourceRoot, entry));
  return [...visited].map((file) => relative(sourceRoot, file)).sort();
}

/** Files that hold, create or store keys of an account, or read data that a device stores. */
const accountFilePattern =
  /^(session\/.*|keyring\/.*|openers\/(prepare-account|choose-openers|enrol-image|open-account|obtain-account-key|unlock|with-presented-opener)|secrets\/(read-ticket|seal-secret|reseal-.*|stage-rows|portable-secret)|service\/service|seal\/(account-key|account-signatures|opener|book|shares|requests|state|document-with-inner|ticket)|device\/(device|pending-account|verified-inner|saved-keys)|operations\/.*|worker\/(refreshed-list|upload-deps|vault-operations|vault-worker-api))\.ts$/;

describe("the visitor's worker", () => {
  it("imports no file that leads to an account's keys", () => {
    const visitorImports = listRuntimeImports("visitor.worker.ts");
    expect(visitorImports).toContain("shares/open-link.ts");
    expect(visitorImports.filter((file) => accountFilePattern.test(file))).toEqual([]);
  });

  it("differs from the vault's worker, which imports such files", () => {
    expect(listRuntimeImports("vault.worker.ts").filter((file) => accountFilePattern.test(file))).toEqual(
      expect.arrayContaining(["seal/account-key.ts", "device/device.ts", "session/vault-session.ts"]),
    );
  });
});

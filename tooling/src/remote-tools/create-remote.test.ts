import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createRemote, type RemoteKit } from "./create-remote.ts";

const kit: RemoteKit = {
  dependencies: { react: "19.0.0" },
  packages: { "@relicario/shared": "3.0.0", "@relicario/remote-tools": "1.0.0" },
  pnpm: "pnpm@12.0.0",
};

// e2e/specs/a-third-party-remote.spec.ts builds, runs and releases a created remote.
describe("createRemote", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "create-remote-"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const create = (name: string, packagesFolder: string | null = null): void => {
    const templateFolder = join(import.meta.dirname, "../../template");
    createRemote(join(folder, "new"), name, { kit, templateFolder, packagesFolder });
  };
  const readPackage = () => JSON.parse(readFileSync(join(folder, "new/package.json"), "utf8")) as object;

  it("names the packages of the registry, or copies packed ones", () => {
    create("garden");
    expect(readPackage()).toMatchObject({
      name: "garden",
      dependencies: { react: "19.0.0", "@relicario/shared": "3.0.0" },
      devDependencies: { "@relicario/remote-tools": "1.0.0" },
    });
    expect(readFileSync(join(folder, "new/.gitignore"), "utf8")).toContain("team-key.json");
    rmSync(join(folder, "new"), { recursive: true });

    for (const file of ["relicario-shared-3.0.0.tgz", "relicario-remote-tools-1.0.0.tgz"])
      writeFileSync(join(folder, file), file);
    create("garden", folder);
    expect(readPackage()).toMatchObject({
      dependencies: { "@relicario/shared": "file:./relicario-shared-3.0.0.tgz" },
      devDependencies: { "@relicario/remote-tools": "file:./relicario-remote-tools-1.0.0.tgz" },
    });
    expect(readdirSync(join(folder, "new"))).toContain("relicario-shared-3.0.0.tgz");
  });

  it("writes nothing when a packed package is missing", () => {
    expect(() => create("garden", folder)).toThrow(`${folder} has no relicario-shared-3.0.0.tgz.`);
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each(["Garden", "my-garden", "../garden", "1garden", "host"])("refuses the invalid name %s", (name) => {
    expect(() => create(name)).toThrow(`cannot be called "${name}"`);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("refuses a folder that has files", () => {
    mkdirSync(join(folder, "new"));
    writeFileSync(join(folder, "new/notes.txt"), "mine");
    expect(() => create("garden")).toThrow("has files already");
    expect(readdirSync(join(folder, "new"))).toEqual(["notes.txt"]);
  });
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { findVersionProblems, readResolvedVersions } from "./resolved-versions.ts";
import { sharedModules } from "./shared-packages.ts";

const provided = (name: string): string => sharedModules[name]?.version ?? "";

describe("findVersionProblems", () => {
  it("accepts the host's versions, the lowest tested ones, and packages that are not there", () => {
    expect(findVersionProblems({ react: provided("react"), zod: sharedModules["zod"]?.floor ?? "" })).toEqual([]);
  });

  it.each([
    ["an older major version", "react", "18.3.1"],
    ["a later major version", "react", "20.0.0"],
    ["a version below the lowest tested one", "zod", "4.1.0"],
    ["a version above the host's", "zod", "4.99.0"],
    ["another contract", "@relicario/shared", "4.0.0"],
  ])("names %s", (_case, name, version) => {
    const hostVersion = provided(name === "@relicario/shared" ? "@relicario/shared/contract" : name);
    expect(findVersionProblems({ [name]: version })).toEqual([
      `${name} ${version} is installed, and the host provides ${hostVersion}: install ${hostVersion}.`,
    ]);
  });
});

describe("findVersionProblems of types", () => {
  it.each([
    ["of the major version before", "18.3.12"],
    ["of a later minor version", "19.99.0"],
  ])("names those %s", (_case, version) => {
    expect(findVersionProblems({ "@types/react": version })).toEqual([
      `@types/react ${version} is installed, and the host provides react ${provided("react")}: install types of ${provided("react")}.`,
    ]);
  });

  it("accepts those of an earlier minor version, in any patch", () => {
    expect(findVersionProblems({ "@types/react": "19.2.99", "@types/react-dom": "19.0.3" })).toEqual([]);
  });
});

describe("readResolvedVersions", () => {
  it("finds packages in the folder and above it, also those that export no package.json", () => {
    const folder = mkdtempSync(join(tmpdir(), "resolved-"));
    const install = (parent: string, name: string, version: string): void => {
      mkdirSync(join(parent, "node_modules", name), { recursive: true });
      writeFileSync(join(parent, "node_modules", name, "package.json"), JSON.stringify({ version, exports: "./x.js" }));
    };
    try {
      const remote = join(folder, "garden");
      install(folder, "react", "18.0.0");
      install(remote, "react", "19.3.1");
      install(folder, "zod", "4.1.0");
      install(folder, "@types/react", "19.2.1");
      install(folder, "lodash", "4.0.0");
      expect(readResolvedVersions(remote)).toMatchObject({
        ...{ react: "19.3.1", zod: "4.1.0", "@types/react": "19.2.1" },
      });
      expect(readResolvedVersions(remote)).not.toHaveProperty("lodash");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

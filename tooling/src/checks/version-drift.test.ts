import { findVersionProblems } from "./version-drift.ts";

const noDependencies = { dependencies: {}, devDependencies: {}, optionalDependencies: {}, peerDependencies: {} };
const workspace = 'nodeVersion: 24.21.0\n\ncatalog:\n  "@types/x": 1.0.0\n  react: 19.3.1\n';
const lockfile =
  "lockfileVersion: '9.0'\n\npackages:\n\n  '@types/x@1.0.0':\n    resolution: {}\n\n  react@19.3.1:\n    resolution: {}\n\nsnapshots:\n\n  react@19.3.1: {}\n";
const manifests = [
  {
    name: "a",
    ...noDependencies,
    dependencies: { react: "catalog:", "@relicario/shared": "workspace:*" },
    devDependencies: { "@types/x": "catalog:" },
  },
];

describe("findVersionProblems", () => {
  it("accepts versions that are all in the catalog", () => {
    expect(findVersionProblems({ manifests, workspace, lockfile })).toEqual([]);
  });

  it("finds a version outside the catalog", () => {
    const problems = findVersionProblems({
      manifests: [...manifests, { name: "b", ...noDependencies, dependencies: { react: "^19.0.0" } }],
      workspace,
      lockfile,
    });
    expect(problems).toEqual([expect.stringContaining('b asks for react "^19.0.0"')]);
  });

  it("finds a package that is installed twice", () => {
    const problems = findVersionProblems({
      manifests,
      workspace,
      lockfile: lockfile.replace(
        "  react@19.3.1:\n    resolution",
        "  react@18.0.0:\n    resolution: {}\n\n  react@19.3.1:\n    resolution",
      ),
    });
    expect(problems).toEqual(["react is installed in 2 versions: 18.0.0, 19.3.1."]);
  });

  it("finds an unused pinned package", () => {
    expect(findVersionProblems({ manifests, workspace: `${workspace}  left-pad: 1.3.0\n`, lockfile })).toEqual([
      "The catalog pins left-pad, and no package asks for it.",
    ]);
  });

  it("finds a range in the catalog", () => {
    expect(
      findVersionProblems({ manifests, workspace: workspace.replace("react: 19.3.1", "react: 19.x"), lockfile }),
    ).toEqual([expect.stringContaining("not one version")]);
  });
});

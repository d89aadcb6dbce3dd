import { findPackageFolder, parsePackageFolders, remoteNames, parseRemoteNames } from "./remotes.ts";

describe("parsePackageFolders", () => {
  it("reads the folders of `packages:`, and no other list", () => {
    const workspace =
      "packages:\n  - host\n\n  # one a line\n  - remote-notes # takes notes\n  - 'remote-maps'\n\nnodeVersion: 24.0.0\nother:\n  - remote-nothing\n";
    expect(parsePackageFolders(workspace)).toEqual(["host", "remote-notes", "remote-maps"]);
  });
});

describe("parseRemoteNames", () => {
  it("lists the remotes in the order of the packages", () => {
    expect(parseRemoteNames(["host", "remote-b", "shared", "remote-a1"])).toEqual(["b", "a1"]);
    expect(parseRemoteNames(["remote-b", "remote-b/engine"])).toEqual(["b"]);
    expect(remoteNames).toEqual(expect.arrayContaining(["secrets", "recovery"]));
  });

  it.each(["remote-my-notes", "remote-Notes", "remote-1", "remote-"])(
    "refuses %s, which cannot be in the name of a release",
    (folder) => {
      expect(() => parseRemoteNames([folder])).toThrow("small letters");
    },
  );

  it.each(["remote-host", "remote-api", "remote-gateway"])("refuses %s, whose name is taken", (folder) => {
    expect(() => parseRemoteNames([folder])).toThrow("something else");
  });
});

describe("findPackageFolder", () => {
  it("names the innermost package that contains a file", () => {
    expect(findPackageFolder("remote-recovery/src/remote.tsx")).toBe("remote-recovery");
    expect(findPackageFolder("remote-recovery/vault/src/seal/age.ts")).toBe("remote-recovery/vault");
    expect(findPackageFolder("docs/formats.md")).toBeNull();
  });
});

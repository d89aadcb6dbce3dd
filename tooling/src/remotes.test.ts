import { packagesOf, remoteNames, remotesOf } from "./remotes.ts";

describe("packagesOf", () => {
  it("reads the folders of the workspace, and nothing of what follows", () => {
    const workspace = "packages:\n  - host\n\n  # one a line\n  - remote-notes # takes notes\n  - 'remote-maps'\n\nnodeVersion: 24.0.0\nother:\n  - remote-nothing\n";
    expect(packagesOf(workspace)).toEqual(["host", "remote-notes", "remote-maps"]);
  });
});

describe("remotesOf", () => {
  it("takes the remotes among the packages, in their order", () => {
    expect(remotesOf(["host", "remote-b", "shared", "remote-a1"])).toEqual(["b", "a1"]);
    expect(remoteNames).toEqual(expect.arrayContaining(["secrets", "recovery"]));
  });

  it.each(["remote-my-notes", "remote-Notes", "remote-1", "remote-"])("refuses %s, which no release can be named after", (folder) => {
    expect(() => remotesOf([folder])).toThrow("small letters");
  });

  it.each(["remote-host", "remote-api", "remote-gateway"])("refuses %s, whose name is taken", (folder) => {
    expect(() => remotesOf([folder])).toThrow("something else");
  });
});

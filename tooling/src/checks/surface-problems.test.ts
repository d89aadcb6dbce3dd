import { findFloor, findSurfaceProblems } from "./surface-problems.ts";

const listedSurface = {
  zod: {
    version: "4.1.0",
    floor: "4.0.3",
    exports: ["object", "string"],
    withheld: { locales: "has its own entry point", "core.locales": "has its own entry point" },
  },
};
const createZodSurface = (exports: readonly string[], version = "4.1.0") => ({
  zod: { version, exports },
});

describe("findSurfaceProblems", () => {
  it("accepts a module whose exports are all listed or withheld", () => {
    expect(findSurfaceProblems(listedSurface, createZodSurface(["locales", "object", "string"]))).toEqual([]);
  });

  it.each<[string, Parameters<typeof findSurfaceProblems>[1], ...string[]]>([
    [
      "a name that is not listed",
      createZodSurface(["locales", "object", "string", "url"]),
      "zod exports url: not listed.",
    ],
    ["a name that is no longer exported", createZodSurface(["locales", "object"]), "zod lists string: not exported."],
    [
      "a withheld name that is no longer exported",
      createZodSurface(["object", "string"]),
      "zod lists locales: not exported.",
    ],
    [
      "another version",
      createZodSurface(["locales", "object", "string"], "4.2.0"),
      "zod is listed as 4.1.0 and is 4.2.0.",
    ],
    ["a module that is no longer shared", {}, "zod is listed and not shared."],
    [
      "a module that is new",
      { ...createZodSurface(["locales", "object", "string"]), react: { version: "19.0.0", exports: ["use"] } },
      "react is shared and not listed.",
    ],
  ])("finds %s", (_case, exported, ...problems) => {
    expect(findSurfaceProblems(listedSurface, exported)).toEqual(problems);
  });

  it("finds a name that is both listed and withheld", () => {
    expect(
      findSurfaceProblems(
        { zod: { ...listedSurface.zod, exports: ["locales", "object", "string"] } },
        createZodSurface(["locales", "object", "string"]),
      ),
    ).toEqual(["zod both lists and withholds locales."]);
  });
});

describe("findFloor", () => {
  const names = ["locales", "object", "string"];
  it.each([
    ["stays with a later version", "4.2.0", names, "4.0.3"],
    ["stays when a name is lost", "4.2.0", ["locales", "object"], "4.0.3"],
    ["rises with a name that is new", "4.2.0", [...names, "url"], "4.2.0"],
    ["rises with a major version", "5.0.0", names, "5.0.0"],
    ["falls with an earlier version", "4.0.2", names, "4.0.2"],
  ])("%s", (_case, version, exports, floor) => {
    expect(findFloor(listedSurface.zod, { version, exports })).toBe(floor);
  });

  it("is the version of a new module", () => {
    expect(findFloor(undefined, { version: "4.1.0", exports: [] })).toBe("4.1.0");
  });
});

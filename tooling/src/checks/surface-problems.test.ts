import { findSurfaceProblems } from "./surface-problems.ts";

const listed = {
  zod: {
    version: "4.1.0",
    exports: ["object", "string"],
    withheld: { locales: "has a door of its own", "core.locales": "has a door of its own" },
  },
};
const createZodSurface = (exports: readonly string[], version = "4.1.0") => ({ zod: { version, exports } });

describe("surfaceProblems", () => {
  it("finds none where what is listed and what is withheld are all that the module exports", () => {
    expect(findSurfaceProblems(listed, createZodSurface(["locales", "object", "string"]))).toEqual([]);
  });

  it.each([
    [
      "a name that is not listed",
      createZodSurface(["locales", "object", "string", "url"]),
      "zod exports url: not listed.",
    ],
    ["a name that is gone", createZodSurface(["locales", "object"]), "zod lists string: not exported."],
    ["an exception that is gone", createZodSurface(["object", "string"]), "zod lists locales: not exported."],
    [
      "another version",
      createZodSurface(["locales", "object", "string"], "4.2.0"),
      "zod is listed as 4.1.0 and is 4.2.0.",
    ],
    ["a module that is not shared any more", {}, "zod is listed and not shared."],
    [
      "a module that is new",
      { ...createZodSurface(["locales", "object", "string"]), react: { version: "19.0.0", exports: ["use"] } },
      "react is shared and not listed.",
    ],
  ])("finds %s", (_case, exported, problem) => {
    expect(findSurfaceProblems(listed, exported)).toEqual([problem]);
  });

  it("finds a name that is both given and withheld", () => {
    expect(
      findSurfaceProblems(
        { zod: { ...listed.zod, exports: ["locales", "object", "string"] } },
        createZodSurface(["locales", "object", "string"]),
      ),
    ).toEqual(["zod both gives and withholds locales."]);
  });
});

import { randomBytes } from "node:crypto";

import { PlantedTexts } from "./planted-texts.ts";
import { createSentinel } from "./sentinel.ts";

const surroundWithRandom = (bytes: Uint8Array | string): Buffer =>
  Buffer.concat([randomBytes(503), Buffer.from(bytes as string), randomBytes(307)]);

describe("PlantedTexts", () => {
  it.each(["utf8", "utf16le"] as const)("finds a text as %s, raw and inside base64", (encoding) => {
    const planted = new PlantedTexts();
    const value = planted.addText(`Door ${createSentinel()}`);
    const bytes = Buffer.from(`the title is ${value}.`, encoding);
    expect(planted.search.search(surroundWithRandom(bytes), "x")).not.toEqual([]);
    expect(planted.search.search(surroundWithRandom(` ${bytes.toString("base64")} `), "x")).not.toEqual([]);
    expect(planted.search.search(surroundWithRandom("Door"), "x")).toEqual([]);
  });

  it("finds the key of a link in the form of the fragment, and as bytes", () => {
    const planted = new PlantedTexts();
    const key = randomBytes(32);
    planted.addLink(`https://portal.test/shared/abc#s=${key.toString("base64url")}`);
    expect(
      planted.search.search(surroundWithRandom(`/shared/abc#s=${key.toString("base64url")} `), "x").length,
    ).toBeGreaterThan(0);
    expect(planted.search.search(surroundWithRandom(key), "x").map(({ needle }) => needle)).toEqual([
      "bytes of a link's key",
    ]);
    expect(planted.search.search(surroundWithRandom(` ${key.toString("hex")} `), "x").length).toBeGreaterThan(0);
  });

  it("refuses what would be found by chance, and a search for nothing", () => {
    const planted = new PlantedTexts();
    expect(() => planted.addText("Door")).toThrow("too short");
    planted.addLink("https://portal.test/p-shared/abc");
    expect(() => planted.search).toThrow("nothing was planted");
  });
});

import { randomBytes } from "node:crypto";

import { Planted } from "./planted.ts";
import { sentinel } from "./sentinel.ts";

const among = (bytes: Uint8Array | string): Buffer =>
  Buffer.concat([randomBytes(503), Buffer.from(bytes as string), randomBytes(307)]);

describe("Planted", () => {
  it.each(["utf8", "utf16le"] as const)("finds a text as %s, raw and inside base64", (encoding) => {
    const planted = new Planted();
    const value = planted.text(`Door ${sentinel()}`);
    const bytes = Buffer.from(`the title is ${value}.`, encoding);
    expect(planted.search.search(among(bytes), "x")).not.toEqual([]);
    expect(planted.search.search(among(` ${bytes.toString("base64")} `), "x")).not.toEqual([]);
    expect(planted.search.search(among("Door"), "x")).toEqual([]);
  });

  it("finds the key of a link as it stands in the fragment, and as its bytes", () => {
    const planted = new Planted();
    const key = randomBytes(32);
    planted.link(`https://portal.test/shared/abc#s=${key.toString("base64url")}`);
    expect(planted.search.search(among(`/shared/abc#s=${key.toString("base64url")} `), "x").length).toBeGreaterThan(0);
    expect(planted.search.search(among(key), "x").map(({ needle }) => needle)).toEqual(["bytes of a link's key"]);
    expect(planted.search.search(among(` ${key.toString("hex")} `), "x").length).toBeGreaterThan(0);
  });

  it("refuses what would be found by chance, and a search for nothing", () => {
    const planted = new Planted();
    expect(() => planted.text("Door")).toThrow("too short");
    planted.link("https://portal.test/p-shared/abc");
    expect(() => planted.search).toThrow("nothing was planted");
  });
});

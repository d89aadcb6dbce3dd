import { deflateSync } from "node:zlib";
import { gridOf } from "../tests/heif-files.ts";
import { fromHex, makePng, pngOf, readKind, readPhoto, sha256, toHex, vectors } from "../tests/vectors.ts";
import { asSrgb, fromSrgb, spaces } from "../study/gamut.ts";
import { decodePicture } from "./decoders/decode.ts";
import { createEngineCore, type EngineModules } from "./engine-core.ts";
import { loadCodecInNode, loadModulesInNode } from "./load-engine.ts";
import type { Raster } from "./rows.ts";

let modules: EngineModules;
let rocket: Raster;
beforeAll(async () => {
  modules = await loadModulesInNode();
  rocket = await decode(readPhoto("rocket.jpg"));
});
const decode = (bytes: Uint8Array) =>
  decodePicture(bytes, (name) =>
    name === "jpeg" || name === "png" ? Promise.resolve(modules[name]) : loadCodecInNode(name),
  );
const pixels = async (bytes: Uint8Array) => sha256((await decode(bytes)).rgba);

/** The profile of Adobe RGB (1998) that the AVIF brings along. */
function profile(): Buffer {
  const file = readKind("rocket.avif");
  const at = file.indexOf("colrprof");
  return file.subarray(at + 8, at - 4 + file.readUInt32BE(at - 4));
}

describe("a colour profile", () => {
  it("is a profile of Adobe RGB in these tests", () => {
    expect(profile().toString("latin1", 4, 8)).toBe("ADBE");
    expect(profile().readUInt32BE(0)).toBe(profile().length);
  });

  it("changes no pixel of a JPEG", async () => {
    const file = readPhoto("rocket.jpg");
    const body = Buffer.concat([Buffer.from("ICC_PROFILE\0\x01\x01", "latin1"), profile()]);
    const segment = Buffer.concat([Uint8Array.of(0xff, 0xe2, (body.length + 2) >> 8, (body.length + 2) & 255), body]);
    expect(await pixels(Buffer.concat([file.subarray(0, 2), segment, file.subarray(2)]))).toBe(await pixels(file));
  });

  it("changes no pixel of a PNG", async () => {
    const { rgba, width, height } = rocket;
    const plain = { width, height, colourType: 6, depth: 8, data: rgba };
    const chunks = [["iCCP", Buffer.concat([Buffer.from("Adobe RGB\0\0", "latin1"), deflateSync(profile())])] as const];
    expect(await pixels(makePng({ ...plain, chunks }))).toBe(await pixels(makePng(plain)));
  });

  it.each(["avif", "heic"])(
    "changes no pixel of a picture of kind %s, nor do primaries of Display P3",
    async (kind) => {
      const file = readKind(`rocket.${kind}`);
      const without = await pixels(gridOf(file, { columns: 1, rows: 1 }));
      expect(await pixels(file)).toBe(without);
      const wide = Buffer.from(file);
      const at = wide.indexOf("colrnclx");
      if (at === -1) wide.write("free", wide.indexOf("colrprof"), "latin1");
      else wide.writeUInt16BE(12, at + 8);
      expect(await pixels(wide)).toBe(without);
    },
  );
});

describe("a picture of a wider space", () => {
  const picture = vectors.pictures.find(({ name }) => name === "rocket.jpg");
  if (picture === undefined) throw new Error("unknown picture");
  const sketch = { choice: fromHex(picture.choice), syndrome: fromHex(picture.syndrome) };

  it.each([
    ["Display P3, brought to sRGB", spaces.displayP3, "to"],
    ["Display P3, brought to sRGB and back", spaces.displayP3, "to and back"],
    ["sRGB, brought to Display P3", spaces.displayP3, "from"],
    ["Adobe RGB, brought to sRGB", spaces.adobeRgb, "to"],
    ["Adobe RGB, brought to sRGB and back", spaces.adobeRgb, "to and back"],
    ["sRGB, brought to Adobe RGB", spaces.adobeRgb, "from"],
  ] as const)("opens after %s", async (_, space, way) => {
    const brought = way === "from" ? fromSrgb(rocket, space) : asSrgb(rocket, space);
    const copy = way === "to and back" ? fromSrgb(brought, space) : brought;
    expect(sha256(copy.rgba)).not.toBe(sha256(rocket.rgba));
    const result = await createEngineCore(modules).recover(pngOf(copy), [sketch]);
    expect(result.outcome).toBe("recovered");
    expect(result.outcome === "recovered" && toHex(result.imageSecretBytes)).toBe(picture.image_secret);
  });
});

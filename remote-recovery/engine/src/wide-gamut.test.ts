import { deflateSync } from "node:zlib";
import { makeGridFile } from "../tests/heif-files.ts";
import { fromHex, makePng, encodePng, readSample, readPhoto, sha256, toHex, vectors } from "../tests/vectors.ts";
import { convertToSrgb, convertFromSrgb, colourSpaces } from "../study/gamut.ts";
import { decodePicture } from "./decoders/decode.ts";
import { createEngineCore, type EngineModules } from "./engine-core.ts";
import { loadCodecInNode, loadModulesInNode } from "./load-engine.ts";
import type { Raster } from "./picture-rows.ts";

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
const hashPixels = async (bytes: Uint8Array) => sha256((await decode(bytes)).rgba);

/** The profile Adobe RGB (1998), which the AVIF contains. */
function readProfile(): Buffer {
  const file = readSample("rocket.avif");
  const offset = file.indexOf("colrprof");
  return file.subarray(offset + 8, offset - 4 + file.readUInt32BE(offset - 4));
}

describe("a colour profile", () => {
  it("of Adobe RGB is present in the sample", () => {
    expect(readProfile().toString("latin1", 4, 8)).toBe("ADBE");
    expect(readProfile().readUInt32BE(0)).toBe(readProfile().length);
  });

  it("changes no pixel of a JPEG", async () => {
    const file = readPhoto("rocket.jpg");
    const body = Buffer.concat([Buffer.from("ICC_PROFILE\0\x01\x01", "latin1"), readProfile()]);
    const segment = Buffer.concat([Uint8Array.of(0xff, 0xe2, (body.length + 2) >> 8, (body.length + 2) & 255), body]);
    expect(await hashPixels(Buffer.concat([file.subarray(0, 2), segment, file.subarray(2)]))).toBe(
      await hashPixels(file),
    );
  });

  it("changes no pixel of a PNG", async () => {
    const { rgba, width, height } = rocket;
    const options = { width, height, colourType: 6, depth: 8, data: rgba };
    const chunks = [
      ["iCCP", Buffer.concat([Buffer.from("Adobe RGB\0\0", "latin1"), deflateSync(readProfile())])] as const,
    ];
    expect(await hashPixels(makePng({ ...options, chunks }))).toBe(await hashPixels(makePng(options)));
  });

  it.each(["avif", "heic"])(
    "changes no pixel of a picture of kind %s, and neither do primaries of Display P3",
    async (kind) => {
      const file = readSample(`rocket.${kind}`);
      const originalHash = await hashPixels(makeGridFile(file, { columns: 1, rows: 1 }));
      expect(await hashPixels(file)).toBe(originalHash);
      const wideGamut = Buffer.from(file);
      const offset = wideGamut.indexOf("colrnclx");
      if (offset === -1) wideGamut.write("free", wideGamut.indexOf("colrprof"), "latin1");
      else wideGamut.writeUInt16BE(12, offset + 8);
      expect(await hashPixels(wideGamut)).toBe(originalHash);
    },
  );
});

describe("a picture", () => {
  const picture = vectors.pictures.find(({ name }) => name === "rocket.jpg");
  if (picture === undefined) throw new Error("the vectors lack rocket.jpg");
  const sketch = { choice: fromHex(picture.choice), syndrome: fromHex(picture.syndrome) };

  it.each([
    ["Display P3 to sRGB", colourSpaces.displayP3, "to"],
    ["Display P3 to sRGB and back", colourSpaces.displayP3, "to and back"],
    ["sRGB to Display P3", colourSpaces.displayP3, "from"],
    ["Adobe RGB to sRGB", colourSpaces.adobeRgb, "to"],
    ["Adobe RGB to sRGB and back", colourSpaces.adobeRgb, "to and back"],
    ["sRGB to Adobe RGB", colourSpaces.adobeRgb, "from"],
  ] as const)("opens its secret after conversion from %s", async (_, space, direction) => {
    const converted = direction === "from" ? convertFromSrgb(rocket, space) : convertToSrgb(rocket, space);
    const copy = direction === "to and back" ? convertFromSrgb(converted, space) : converted;
    expect(sha256(copy.rgba)).not.toBe(sha256(rocket.rgba));
    const result = await createEngineCore(modules).recover(encodePng(copy), [sketch]);
    expect(result.outcome).toBe("recovered");
    expect(result.outcome === "recovered" && toHex(result.imageSecretBytes)).toBe(picture.image_secret);
  });
});

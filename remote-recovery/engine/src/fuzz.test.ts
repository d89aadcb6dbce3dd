import fc from "fast-check";
import { PortalError } from "@relicario/shared/errors";
import { brokenPictureArbitrary, createBrokenBytes } from "../fuzz/damage.ts";
import { readSample, vectors, fromHex } from "../tests/vectors.ts";
import { decodePicture } from "./decoders/decode.ts";
import { readExifOrientation } from "./decoders/exif-orientation.ts";
import { readHeader } from "./decoders/header.ts";
import { createEngineCore, type EngineModules } from "./engine-core.ts";
import { loadCodecInNode, loadModulesInNode } from "./load-engine.ts";

jest.setTimeout(600_000);

/** Runs per test; `pnpm fuzz:engine` tries 10,000 pictures and limits time and memory. */
const numRuns = 60;

let modules: EngineModules;
beforeAll(async () => {
  modules = await loadModulesInNode();
});

const lazyCodecs = new Map<string, Promise<WebAssembly.Module>>();
const loadCodec = (name: "jpeg" | "png" | "webp" | "avif" | "heic") => {
  if (name === "jpeg" || name === "png") return Promise.resolve(modules[name]);
  const pending = lazyCodecs.get(name) ?? loadCodecInNode(name);
  lazyCodecs.set(name, pending);
  return pending;
};

it("decodes every broken picture to valid pixels, or refuses it with a typed error", async () => {
  await fc.assert(
    fc.asyncProperty(brokenPictureArbitrary, async (picture) => {
      try {
        const { width, height, rgba, orientation, release } = await decodePicture(
          createBrokenBytes(picture),
          loadCodec,
        );
        expect(rgba.length).toBe(width * height * 4);
        expect(orientation >= 1 && orientation <= 8).toBe(true);
        release();
      } catch (error) {
        if (!(error instanceof PortalError)) throw error;
        expect(["picture_unreadable", "picture_too_large"]).toContain(error.code);
      }
    }),
    { numRuns: numRuns * 2 },
  );
});

it("reads the header of any bytes, or refuses the bytes with a typed error", () => {
  const starts = [
    [],
    [0xff, 0xd8, 0xff],
    [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
    [...Buffer.from("RIFF....WEBPVP8X")],
    [...Buffer.from("\0\0\0\x18ftypavif....avif")],
  ];
  fc.assert(
    fc.property(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 400 }), (prefix, rest) => {
      try {
        const { width, height, orientation, extraBytesPerPixel } = readHeader(Uint8Array.from([...prefix, ...rest]));
        expect(width > 0 && height > 0 && orientation >= 1 && orientation <= 8 && extraBytesPerPixel >= 0).toBe(true);
      } catch (error) {
        if (!(error instanceof PortalError)) throw error;
        expect(error.code).toBe("picture_unreadable");
      }
    }),
    { numRuns: numRuns * 10 },
  );
});

it("reads an orientation or null from any metadata", () => {
  const head = fc.constantFrom([], [0x49, 0x49, 42, 0, 8, 0, 0, 0], [0x4d, 0x4d, 0, 42, 0, 0, 0, 8]);
  fc.assert(
    fc.property(head, fc.uint8Array({ maxLength: 200 }), (prefix, rest) => {
      const value = readExifOrientation(Uint8Array.from([...prefix, ...rest]));
      expect(value === null || (Number.isInteger(value) && value >= 1 && value <= 8)).toBe(true);
    }),
    { numRuns: numRuns * 10 },
  );
});

it("recovers no random sketch, nor a genuine choice with a random syndrome", async () => {
  const core = createEngineCore(modules, { loadCodec: loadCodecInNode });
  const picture = vectors.pictures.find(({ name }) => name === "rocket.jpg");
  if (picture === undefined) throw new Error("unknown picture");
  const genuine = { choice: fromHex(picture.choice), syndrome: fromHex(picture.syndrome) };
  const bitString = (bytes: number, unused: number) =>
    fc
      .uint8Array({ minLength: bytes, maxLength: bytes })
      .map((value) => value.map((byte, index) => (index === bytes - 1 ? byte & (0xff >> unused) : byte)));
  await fc.assert(
    fc.asyncProperty(bitString(256, 1), bitString(86, 6), async (choice, syndrome) => {
      expect((await core.recover(readSample("rocket.jpg"), [{ choice, syndrome }])).outcome).toBe("not_this_picture");
      expect((await core.recover(readSample("rocket.jpg"), [{ choice: genuine.choice, syndrome }])).outcome).toBe(
        "too_many_errors",
      );
    }),
    { numRuns: 3 },
  );
});

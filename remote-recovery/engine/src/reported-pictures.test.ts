/** Pictures from public bug reports, and similar ones. */
import { encodePng, readCase, readPhoto, readSample } from "../tests/vectors.ts";
import { hideBoxes } from "../tests/heif-files.ts";
import type { Pixels } from "../tests/generated-pictures.ts";
import { PortalError } from "@relicario/shared/errors";
import { decodePicture } from "./decoders/decode.ts";
import type { Engine } from "./engine.ts";
import type { EngineModules } from "./engine-core.ts";
import { simulateJpeg50 } from "./self-test/jpeg-simulation.ts";
import { ResampleFilter, resample } from "./self-test/resample.ts";
import { loadCodecInNode, loadEngineInNode, loadModulesInNode } from "./load-engine.ts";

jest.setTimeout(120_000);

let engine: Engine;
let modules: EngineModules;
beforeAll(async () => {
  [engine, modules] = [await loadEngineInNode(), await loadModulesInNode()];
});

const decode = (bytes: Uint8Array) =>
  decodePicture(bytes, (name) =>
    name === "jpeg" || name === "png" ? Promise.resolve(modules[name]) : loadCodecInNode(name),
  );

async function catchError(call: Promise<unknown>): Promise<{ readonly code: string; readonly details: unknown }> {
  const error: unknown = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PortalError)) throw new Error(`expected a PortalError, got ${String(error)}`);
  return { code: error.code, details: error.details };
}

const brokenError = (kind: string) => ({ code: "picture_unreadable", details: { reason: "broken", kind } });

describe("a transparent picture", () => {
  it("is refused when its copy on black would not open", async () => {
    const report = await engine.inspect(readCase("cutout.webp"), { selfTest: true });
    expect(report).toMatchObject({ verdict: "red", refusalReasons: ["transparent"] });
    expect(await catchError(engine.enrol(readCase("cutout.webp"), []))).toMatchObject({
      code: "picture_too_plain",
      details: { reasons: ["transparent"] },
    });
  });

  it("is judged without the reason transparent once saved on black", async () => {
    const report = await engine.inspect(readCase("cutout-flattened-on-black.jpg"), { selfTest: true });
    expect(report.reasons).not.toContain("transparent");
  });

  it("is good when its copies on black and white give the same bits", async () => {
    const { width, height, rgba } = await decode(readPhoto("picos-1200x900.jpg"));
    const pixels = new Uint8Array(rgba);
    for (let offset = 3; offset < 40 * width * 4; offset += 4) pixels[offset] = offset % 256; // along the upper edge
    const picture = encodePng({ width, height, orientation: 1, rgba: pixels });
    expect(await engine.inspect(picture, { selfTest: true })).toMatchObject({ verdict: "green", reasons: [] });
  });
});

describe("a damaged copy", () => {
  it("opens what its original was enrolled for when its end is missing", async () => {
    const { sketch, imageSecretBytes } = await engine.enrol(readCase("original-of-both.jpg"), []);
    expect(await engine.recover(readCase("jpeg-without-EOI.jpg"), [sketch])).toEqual({
      outcome: "recovered",
      index: 0,
      imageSecretBytes,
      errors: 0,
      score: expect.any(Number) as number,
    });
  });

  it("has the pixels of the intact file when bytes are inserted between its segments", async () => {
    const bytes = readCase("jpeg-junk-between-segments.jpg");
    const junk = bytes.indexOf("hello");
    const soundBytes = Buffer.concat([bytes.subarray(0, junk), bytes.subarray(junk + 5)]);
    const [damaged, sound] = [await decode(bytes), await decode(soundBytes)];
    expect([damaged.damage?.code, sound.damage]).toEqual(["picture_unreadable", null]);
    expect(Buffer.compare(damaged.rgba, sound.rgba)).toBe(0);
    const { sketch } = await engine.enrol(soundBytes, []);
    expect(await engine.recover(bytes, [sketch])).toMatchObject({ outcome: "recovered", errors: 0 });
  });

  it.each(["jpeg-without-EOI.jpg", "jpeg-junk-between-segments.jpg"])(
    "is not enrolled, nor judged with the self-test: %s",
    async (name) => {
      expect(await catchError(engine.enrol(readCase(name), []))).toEqual(brokenError("jpeg"));
      expect(await catchError(engine.inspect(readCase(name), { selfTest: true }))).toEqual(brokenError("jpeg"));
    },
  );

  it("is recognised as an existing image, although it could not become one", async () => {
    const { sketch, imageSecretBytes } = await engine.enrol(readCase("original-of-both.jpg"), []);
    const { knownPicture } = await engine.enrol(readCase("jpeg-without-EOI.jpg"), [sketch]);
    expect(knownPicture?.imageSecretBytes).toEqual(imageSecretBytes);
    expect(await engine.inspect(readCase("jpeg-without-EOI.jpg"))).toMatchObject({ verdict: "green" });
  });

  it("is reported as damaged when it opens nothing", async () => {
    const { sketch } = await engine.enrol(readPhoto("picos-1200x900.jpg"), []);
    expect(await catchError(engine.recover(readCase("jpeg-without-EOI.jpg"), [sketch]))).toEqual(brokenError("jpeg"));
  });

  it.each([
    ["rocket.avif", ["pixi"]],
    ["rocket-turned.avif", ["pixi"]],
    ["rocket-odd-alpha.avif", ["pixi"]],
  ])("has the same pixels without properties that only strict readers require: %s, %s", async (name, types) => {
    const [damaged, sound] = [await decode(hideBoxes(readSample(name), types)), await decode(readSample(name))];
    expect(damaged.damage?.code).toBe("picture_unreadable");
    expect(damaged.orientation).toBe(sound.orientation);
    expect(Buffer.compare(damaged.rgba, sound.rgba)).toBe(0);
  });

  it.each([
    "rocket.jpg",
    "rocket-progressive.jpg",
    "rocket-restarts.jpg",
    "rocket-grey.jpg",
    "rocket-16bit.png",
    "rocket-palette.png",
    "rocket.webp",
    "rocket-lossless.webp",
    "rocket.heic",
  ])("keeps nearly all pixels when its last bytes are missing: %s", async (name) => {
    const bytes = readSample(name);
    const sound = await decode(bytes);
    for (const missing of [1, 2, 13]) {
      const damaged = await decode(bytes.subarray(0, bytes.length - missing));
      expect(damaged.damage?.code).toBe("picture_unreadable");
      expect([damaged.width, damaged.height]).toEqual([sound.width, sound.height]);
      const changedCount = damaged.rgba.reduce(
        (count, value, index) => count + (value === sound.rgba[index] ? 0 : 1),
        0,
      );
      expect(changedCount / sound.rgba.length).toBeLessThan(0.05);
    }
  });
});

describe("a copy that was cut", () => {
  it.each(["rocket.jpg", "rocket-grey.jpg", "rocket-16bit.png", "rocket-palette.png"])(
    "has the pixels before the cut: %s",
    async (name) => {
      const bytes = readSample(name);
      const [sound, damaged] = [await decode(bytes), await decode(bytes.subarray(0, Math.floor(bytes.length * 0.8)))];
      expect(damaged.damage?.code).toBe("picture_unreadable");
      expect([damaged.width, damaged.height]).toEqual([sound.width, sound.height]);
      const upperPart = Math.floor(sound.height / 3) * sound.width * 4;
      expect(Buffer.compare(damaged.rgba.subarray(0, upperPart), sound.rgba.subarray(0, upperPart))).toBe(0);
    },
  );
});

describe("a drawn picture", () => {
  it("with plain bars, like a screenshot, is not good", async () => {
    const report = await engine.inspect(encodePng(drawBars()), { selfTest: true });
    expect(report.reasons).toContain("drawn");
    expect(report.verdict).not.toBe("green");
  });

  it("is not good after a messenger has reduced it", async () => {
    const smaller = resample(drawBars(), 720, 1280, ResampleFilter.bilinear);
    expect(await engine.inspect(encodePng(simulateJpeg50(smaller)))).toMatchObject({
      verdict: "amber",
      reasons: ["drawn"],
    });
  });
});

/** Draws lines of text as bars, in rows of cards, like a mock-up. */
function drawBars(): Pixels {
  const [width, height] = [1080, 1920];
  const rgba = new Uint8Array(width * height * 4).fill(255);
  let state = 7;
  const draw = (n: number) => {
    state = (Math.imul(1664525, state) + 1013904223) >>> 0;
    return (state >>> 8) % n;
  };
  for (let top = 20; top + 40 < height; top += 28) {
    for (let left = 20 + draw(60); left + 30 < width;) {
      const barWidth = 20 + draw(160);
      const grey = draw(200);
      for (let y = top; y < top + 16; y++)
        for (let x = left; x < Math.min(width - 20, left + barWidth); x++)
          rgba.fill(grey, (y * width + x) * 4, (y * width + x) * 4 + 3);
      left += barWidth + 10 + draw(40);
    }
  }
  return { width, height, orientation: 1, rgba };
}

import { PortalError } from "@relicario/shared/errors";
import { generatePicture } from "../tests/generated-pictures.ts";
import { encodePng, readSample, readPhoto, readVectorFile, toHex, vectors, fromHex } from "../tests/vectors.ts";
import type { Engine, EngineProgress, Sketch } from "./engine.ts";
import { decodePicture } from "./decoders/decode.ts";
import { resample } from "./self-test/resample.ts";
import { createEngineCore, type EngineModules } from "./engine-core.ts";
import { loadCodecInNode, loadEngineInNode, loadModulesInNode } from "./load-engine.ts";

let engine: Engine;
let modules: EngineModules;
beforeAll(async () => {
  engine = await loadEngineInNode();
  modules = await loadModulesInNode();
});

const readPicos = () => readPhoto("picos-3264x2448.jpg");
/** Enrolled once, as enrolment is slow. */
const enrolPicos = memoize(() => engine.enrol(readPicos(), []));
/**
 * A picture of 800 × 600 block noise around a grey level, with contrast reduced to this fraction.
 */
const makeFadedNoise = (contrast: number, grey: number) => {
  const noise = generatePicture("block noise");
  if (noise === null) throw new Error("unknown picture");
  const [width, height] = [noise.width / 2, noise.height / 2];
  const rgba = Uint8Array.from({ length: width * height * 4 }, (_, index) => {
    const pixel = index >> 2;
    const value =
      noise.rgba[(2 * Math.floor(pixel / width) * noise.width + 2 * (pixel % width)) * 4 + (index & 3)] ?? 0;
    return (index & 3) === 3 ? value : Math.round(grey + (value - 128) * contrast);
  });
  return encodePng({ width, height, orientation: 1, rgba });
};
const readFriends = () => readPhoto("friends-2056x3088.jpg");
const findSketchVector = (name: string): Sketch => {
  const picture = vectors.pictures.find((row) => row.name === name);
  if (picture === undefined) throw new Error("unknown picture");
  return { choice: fromHex(picture.choice), syndrome: fromHex(picture.syndrome) };
};

function memoize<T>(create: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | null = null;
  return () => (pending ??= create());
}

async function catchRejection(call: Promise<unknown>): Promise<PortalError> {
  const error: unknown = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PortalError)) throw new Error(`expected a PortalError, got ${String(error)}`);
  return error;
}

describe("inspect", () => {
  it.each([
    ["picos-3264x2448.jpg", "green", [], 3264, 2448],
    ["friends-2056x3088.jpg", "green", [], 2056, 3088],
    ["sunset-4272x2848.jpg", "green", [], 4272, 2848],
    ["spacex-3000x1688.jpg", "red", ["estimate"], 3000, 1688],
    ["rocket.jpg", "red", ["too_small", "estimate"], 640, 427],
    ["chelsea.png", "red", ["too_small"], 451, 300],
  ])("judges the photograph %s", async (name, verdict, refusalReasons, width, height) => {
    expect(await engine.inspect(readPhoto(name))).toMatchObject({ verdict, refusalReasons, width, height });
  });

  it("judges a picture under 64 pixels as too_small", async () => {
    const pixels = { width: 63, height: 200, orientation: 1, rgba: new Uint8Array(63 * 200 * 4) };
    expect(await engine.inspect(encodePng(pixels))).toMatchObject({
      verdict: "red",
      refusalReasons: expect.arrayContaining(["too_small"]) as unknown,
      width: 63,
    });
  });
});

describe("the self-test", () => {
  it.each([
    ["a pale picture, whose brighter copy is white", makeFadedNoise(0.3, 218), "amber", ["copy_bright"], []],
    ["a soft picture, whose smallest copy is lost", makeFadedNoise(0.15, 128), "amber", ["copy_small"], []],
    ["a softer picture, whose larger copy is lost too", makeFadedNoise(0.08, 128), "red", ["self_test"], ["self_test"]],
    ["a picture with enough detail", makeFadedNoise(1, 128), "green", [], []],
  ])("judges %s", async (_, picture, verdict, reasons, refusalReasons) => {
    expect((await engine.inspect(picture)).verdict).toBe("green");
    expect(await engine.inspect(picture, { selfTest: true })).toMatchObject({
      verdict,
      reasons,
      refusalReasons,
    });
  });

  it("enrols a picture that fails only the bright copy, and refuses one that fails more", async () => {
    const { gate, knownPicture, sketch } = await engine.enrol(makeFadedNoise(0.3, 218), []);
    expect([gate.verdict, gate.reasons, knownPicture]).toEqual(["amber", ["copy_bright"], null]);
    expect(await engine.recover(makeFadedNoise(0.3, 218), [sketch])).toMatchObject({ outcome: "recovered" });
    // a copy that is a fifth brighter
    expect((await engine.recover(makeFadedNoise(0.36, 255), [sketch])).outcome).not.toBe("recovered");
    expect((await catchRejection(engine.enrol(makeFadedNoise(0.08, 128), []))).details).toMatchObject({
      reasons: ["self_test"],
    });
  });

  it("is skipped for a picture that the gate refuses", async () => {
    const phases = new Set<string>();
    const onProgress = ({ phase }: EngineProgress) => void phases.add(phase);
    expect(
      (await engine.inspect(readPhoto("spacex-3000x1688.jpg"), { selfTest: true, onProgress })).refusalReasons,
    ).toEqual(["estimate"]);
    expect([...phases]).toEqual(["decoding"]);
  });
});

describe("enrol and recover", () => {
  it("recover from the same file", async () => {
    const { sketch, imageSecretBytes, gate, knownPicture } = await enrolPicos();
    expect(gate.verdict).toBe("green");
    expect(knownPicture).toBeNull();
    const result = await engine.recover(readPicos(), [sketch]);
    expect(result).toMatchObject({ outcome: "recovered", index: 0, errors: 0 });
    expect(result.outcome === "recovered" && toHex(result.imageSecretBytes)).toBe(toHex(imageSecretBytes));
  });

  it("find the right sketch among many", async () => {
    const sketches = Array.from({ length: 40 }, (_, i) =>
      findSketchVector(["coffee.png", "chelsea.png", "synthetic-1200x900"][i % 3] ?? ""),
    );
    sketches[37] = (await enrolPicos()).sketch;
    expect(await engine.recover(readPicos(), sketches)).toMatchObject({ outcome: "recovered", index: 37 });
  });

  it("recover a cropped and turned copy", async () => {
    const result = await engine.recover(readVectorFile("pictures/spacex-turned.png"), [
      findSketchVector("coffee.png"),
      findSketchVector("spacex-3000x1688.jpg"),
    ]);
    expect(result).toMatchObject({ outcome: "recovered", index: 1 });
  });

  it.each([
    "rocket.webp",
    "rocket-turned.webp",
    "rocket.avif",
    "rocket.heic",
    "rocket-progressive.jpg",
    "rocket-16bit.png",
  ])("recover from a copy of another kind: %s", async (name) => {
    expect(await engine.recover(readSample(name), [findSketchVector("rocket.jpg")])).toMatchObject({
      outcome: "recovered",
    });
  });

  it("fetch a codec once, when a picture needs it, and retry after a failure", async () => {
    const requestedCodecs: string[] = [];
    let online = false;
    const core = createEngineCore(modules, {
      loadCodec: (name) => {
        requestedCodecs.push(name);
        return online ? loadCodecInNode(name) : Promise.reject(new PortalError("offline"));
      },
    });
    expect((await core.inspect(readSample("rocket.jpg"))).width).toBe(320);
    expect((await catchRejection(core.inspect(readSample("rocket.webp")))).code).toBe("offline");
    online = true;
    for (const name of ["rocket.webp", "rocket-lossless.webp"])
      expect((await core.inspect(readSample(name))).width).toBe(320);
    expect(requestedCodecs).toEqual(["webp", "webp"]);
  });

  it("name the kind of a picture whose codec cannot be fetched", async () => {
    const error = await catchRejection(createEngineCore(modules).inspect(readSample("rocket.heic")));
    expect(error).toMatchObject({ code: "picture_unreadable", details: { reason: "unsupported", kind: "heic" } });
  });

  it("return not_this_picture for another picture, and without sketches", async () => {
    const result = await engine.recover(readFriends(), [findSketchVector("coffee.png")]);
    expect(result.outcome).toBe("not_this_picture");
    expect(result.score).toBeLessThan(0.2);
    expect(await engine.recover(readFriends(), [])).toEqual({ outcome: "not_this_picture", score: -1 });
  });

  it("return too_many_errors for a picture whose sketch has a wrong syndrome", async () => {
    const { choice } = findSketchVector("coffee.png");
    const { syndrome } = findSketchVector("chelsea.png");
    expect(await engine.recover(readPhoto("coffee.png"), [{ choice, syndrome }])).toMatchObject({
      outcome: "too_many_errors",
      index: 0,
    });
  });

  it("report an existing image, with its secret", async () => {
    const firstEnrolment = await enrolPicos();
    const secondEnrolment = await engine.enrol(readPicos(), [findSketchVector("coffee.png"), firstEnrolment.sketch]);
    expect(secondEnrolment.knownPicture).toMatchObject({ index: 1 });
    expect(toHex(secondEnrolment.knownPicture?.imageSecretBytes ?? new Uint8Array(0))).toBe(
      toHex(firstEnrolment.imageSecretBytes),
    );
  });

  it("report a small copy of an existing image, even if the gate refuses the copy", async () => {
    const enrolment = await engine.enrol(readVectorFile("pictures/spacex-quarter.png"), [
      findSketchVector("spacex-3000x1688.jpg"),
    ]);
    expect(enrolment.gate.verdict).toBe("red");
    expect(enrolment.knownPicture?.imageSecretBytes).toHaveLength(32);
  });

  it("report a picture that only resembles an existing image, without a secret", async () => {
    const { choice } = findSketchVector("coffee.png");
    const { syndrome } = findSketchVector("chelsea.png");
    expect((await engine.enrol(readPhoto("coffee.png"), [{ choice, syndrome }])).knownPicture).toMatchObject({
      index: 0,
      imageSecretBytes: null,
    });
  });

  it("refuse a plain picture with the gate's reasons", async () => {
    const error = await catchRejection(engine.enrol(readPhoto("spacex-3000x1688.jpg"), []));
    expect(error.code).toBe("picture_too_plain");
    expect(error.details).toEqual({ reasons: ["estimate"], width: 3000, height: 1688 });
  });

  it("refuse a picture under 64 pixels", async () => {
    const tiny = encodePng({ width: 63, height: 200, orientation: 1, rgba: new Uint8Array(63 * 200 * 4) });
    expect((await catchRejection(engine.enrol(tiny, []))).details).toMatchObject({
      reasons: expect.arrayContaining(["too_small"]) as unknown,
    });
    expect(await catchRejection(engine.recover(tiny, []))).toMatchObject({
      code: "picture_unreadable",
      details: { reason: "too_small" },
    });
  });

  it("refuse a sketch of a wrong size or with unused bits set", async () => {
    const { choice, syndrome } = findSketchVector("coffee.png");
    for (const sketch of [
      { choice: choice.subarray(1), syndrome },
      { choice, syndrome: new Uint8Array(87) },
      { choice: choice.map((value, index) => (index === 255 ? value | 0x80 : value)), syndrome },
    ]) {
      await expect(engine.recover(readPhoto("coffee.png"), [sketch])).rejects.toThrow(TypeError);
    }
  });
});

describe("search hints", () => {
  /** A photograph in the middle of an upright screen, with bars above and below. */
  const screenshot = memoize(async () => {
    const picture = await decodePicture(readPhoto("picos-3264x2448.jpg"), (name) =>
      Promise.resolve(name === "jpeg" ? modules.jpeg : modules.png),
    );
    const { width, height, rgba } = resample(picture, 720, 540, "bilinear");
    const screen = new Uint8Array(720 * 1280 * 4).fill(255);
    for (let offset = 0; offset < screen.length; offset += 4) screen.fill(24, offset, offset + 3);
    screen.set(rgba, 720 * 310 * 4);
    expect([width, height]).toEqual([720, 540]);
    return encodePng({ width: 720, height: 1280, orientation: 1, rgba: screen });
  });

  it("find a picture inside a screenshot that the usual search does not find", async () => {
    const { sketch, imageSecretBytes } = await enrolPicos();
    const picture = await screenshot();
    expect((await engine.recover(picture, [sketch])).outcome).toBe("not_this_picture");
    const result = await engine.recover(picture, [findSketchVector("coffee.png"), sketch], {
      hint: { kind: "screenshot" },
    });
    expect(result).toMatchObject({ outcome: "recovered", index: 1 });
    expect(result.outcome === "recovered" && toHex(result.imageSecretBytes)).toBe(toHex(imageSecretBytes));
  });

  it("find a picture in a frame drawn by hand, with sides exact to about 1 %", async () => {
    const { sketch } = await enrolPicos();
    const hint = {
      kind: "frame",
      left: 0.008,
      right: 0.995,
      top: 310 / 1280 - 0.006,
      bottom: 850 / 1280 + 0.007,
    } as const;
    expect(await engine.recover(await screenshot(), [sketch], { hint })).toMatchObject({ outcome: "recovered" });
  });

  it("find nothing in another picture, nor with an invalid frame", async () => {
    expect(
      (await engine.recover(readFriends(), [findSketchVector("coffee.png")], { hint: { kind: "screenshot" } })).outcome,
    ).toBe("not_this_picture");
    const hint = { kind: "frame", left: NaN, right: 1, top: 0, bottom: Infinity } as const;
    expect(
      (
        await engine.recover(
          readVectorFile("pictures/astronaut-cropped-too-far.png"),
          [findSketchVector("coffee.png")],
          {
            hint,
          },
        )
      ).outcome,
    ).toBe("not_this_picture");
  });
});

describe("call options", () => {
  it("report the progress of each phase, never backwards", async () => {
    const progressEvents: EngineProgress[] = [];
    await engine.recover(readFriends(), [findSketchVector("coffee.png")], {
      onProgress: (progress) => progressEvents.push(progress),
    });
    expect([...new Set(progressEvents.map(({ phase }) => phase))]).toEqual(["decoding", "straight", "searching"]);
    for (const phase of ["decoding", "straight", "searching"]) {
      const fractions = progressEvents
        .filter((progress) => progress.phase === phase)
        .map(({ done, total }) => done / total);
      expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
      expect(fractions.every((fraction) => fraction >= 0 && fraction <= 1)).toBe(true);
    }
  });

  it("cancel a call at any pause, and leave the engine usable", async () => {
    const phases = new Set<string>();
    let pauses = 0;
    await engine.recover(readFriends(), [findSketchVector("coffee.png")], { onProgress: () => pauses++ });
    for (const stopAfter of [1, 2, 3, Math.ceil(pauses / 2), pauses]) {
      const controller = new AbortController();
      let reports = 0;
      const call = engine.recover(readFriends(), [findSketchVector("coffee.png")], {
        signal: controller.signal,
        onProgress: ({ phase }) => {
          if (++reports !== stopAfter) return;
          phases.add(phase);
          controller.abort();
        },
      });
      expect((await catchRejection(call)).code).toBe("cancelled");
    }
    expect([...phases]).toEqual(expect.arrayContaining(["decoding", "searching"]));
    expect(await engine.recover(readPhoto("coffee.png"), [findSketchVector("coffee.png")])).toMatchObject({
      outcome: "recovered",
      errors: 0,
    });
  });

  it("cancel a call that waits for a codec, and leave the engine usable", async () => {
    const core = createEngineCore(modules, { loadCodec: () => new Promise(() => undefined) });
    const controller = new AbortController();
    const call = core.recover(readSample("rocket.webp"), [], { signal: controller.signal });
    setTimeout(() => {
      controller.abort();
    }, 20);
    expect((await catchRejection(call)).code).toBe("cancelled");
    expect(await core.inspect(readPhoto("coffee.png"))).toMatchObject({ width: 600 });
  });

  it("allow waiting calls to run after a failed call", async () => {
    const brokenCall = engine.inspect(readPicos().subarray(0, 5000));
    const validCall = engine.inspect(readPicos());
    expect((await catchRejection(brokenCall)).code).toBe("picture_unreadable");
    expect((await validCall).verdict).toBe("green");
  });
});

describe("the engine's memory", () => {
  it("contains neither pixels, coefficients nor bits after a call", async () => {
    const instances: WebAssembly.Memory[] = [];
    const core = createEngineCore(modules, { onMemory: (memory) => instances.push(memory) });
    const { sketch, imageSecretBytes } = await core.enrol(readPicos(), [findSketchVector("coffee.png")]);
    await core.recover(readVectorFile("pictures/spacex-turned.png"), [
      sketch,
      findSketchVector("spacex-3000x1688.jpg"),
    ]);
    await catchRejection(core.enrol(readPhoto("rocket.jpg"), []));
    await catchRejection(core.recover(readFriends(), [sketch], { signal: AbortSignal.abort() }));
    expect(instances.length).toBeGreaterThan(0);
    const initialMemory = readInitialMemory(modules);
    for (const { buffer } of instances) {
      const memory = new Uint8Array(buffer);
      // The memory beyond the initial memory of a new instance is all zeros.
      expect(Buffer.compare(memory.subarray(0, initialMemory.length), initialMemory)).toBe(0);
      expect(memory.subarray(initialMemory.length).every((value) => value === 0)).toBe(true);
      for (const secret of [imageSecretBytes, sketch.choice, sketch.syndrome]) {
        expect(Buffer.from(buffer).includes(Buffer.from(secret.subarray(0, 16)))).toBe(false);
      }
    }
  });

  it("contains no copy of an image secret except the returned one", async () => {
    const slices = jest.spyOn(Uint8Array.prototype, "slice");
    const { imageSecretBytes } = await createEngineCore(modules).enrol(readPicos(), []);
    const copies = slices.mock.results
      .map(({ value }) => value as Uint8Array)
      .filter((copy) => copy.length === 32 && copy !== imageSecretBytes);
    slices.mockRestore();
    expect(copies.length).toBeGreaterThanOrEqual(6); // one for each changed copy of the self-test
    expect(copies.filter((copy) => copy.some((byte) => byte !== 0))).toEqual([]);
  });

  describe("of a codec", () => {
    const RealInstance = WebAssembly.Instance;
    const memories: WebAssembly.Memory[] = [];
    beforeEach(() => {
      memories.length = 0;
      WebAssembly.Instance = class extends RealInstance {
        constructor(...args: ConstructorParameters<typeof RealInstance>) {
          super(...args);
          for (const value of Object.values(this.exports))
            if (value instanceof WebAssembly.Memory) memories.push(value);
        }
      };
    });
    afterEach(() => {
      WebAssembly.Instance = RealInstance;
    });

    it.each(["rocket.jpg", "rocket-16bit.png", "rocket.webp", "rocket.avif", "rocket.heic"])(
      "is all zeros, pixels included, after the codec has read %s",
      async (name) => {
        const bytes = readSample(name);
        const raster = await decodePicture(bytes, async (kind) =>
          kind === "jpeg" || kind === "png" ? modules[kind] : loadCodecInNode(kind),
        );
        const { rgba } = raster;
        expect(rgba.some((value) => value !== 0)).toBe(true);
        raster.release();
        expect(rgba.every((value) => value === 0)).toBe(true);
        expect(memories).toHaveLength(1);
        for (const { buffer } of memories) {
          const words = new Uint32Array(buffer);
          expect(words.length * 4).toBeGreaterThan(bytes.length);
          expect(words.every((word) => word === 0)).toBe(true);
        }
      },
    );
  });

  it("contains a sketch while a call runs, which proves that the test above would find it", async () => {
    const instances: WebAssembly.Memory[] = [];
    const core = createEngineCore(modules, { onMemory: (memory) => instances.push(memory) });
    const coffee = findSketchVector("coffee.png");
    let found = false;
    await core.recover(readFriends(), [coffee], {
      onProgress: ({ phase }) => {
        if (phase === "searching")
          found ||= instances.some(({ buffer }) => Buffer.from(buffer).includes(Buffer.from(coffee.choice)));
      },
    });
    expect(found).toBe(true);
  });
});

function readInitialMemory({ engine: module }: EngineModules): Uint8Array {
  const { memory } = new WebAssembly.Instance(module).exports;
  if (!(memory instanceof WebAssembly.Memory)) throw new Error("the engine exports no memory");
  return new Uint8Array(memory.buffer);
}

it("the scalar build gives the same results", async () => {
  const scalar = await loadEngineInNode("scalar");
  const noise = encodePng(
    generatePicture("block noise") ?? { width: 0, height: 0, orientation: 1, rgba: new Uint8Array(0) },
  );
  expect(await scalar.enrol(readPicos(), [])).toEqual(await enrolPicos());
  expect(await scalar.enrol(noise, [])).toEqual(await engine.enrol(noise, []));
});

/** Broken pictures: a corpus of every supported kind, and random damage. */
import fc from "fast-check";
import { readSample } from "../tests/vectors.ts";
import { enlargeFile } from "./enlarge.ts";

export const corpus = [
  "rocket.jpg",
  "rocket-progressive.jpg",
  "rocket-grey.jpg",
  "rocket-palette.png",
  "rocket-16bit.png",
  "rocket.webp",
  "rocket-lossless.webp",
  "rocket-turned.webp",
  "rocket.avif",
  "rocket.heic",
  "rocket-turned.heic",
  "rocket-444.jpg",
  "rocket-restarts.jpg",
  "rocket-odd-alpha.avif",
  "rocket-odd-alpha.heic",
  "rocket-animated.webp",
  "rocket-animated.avif",
  "rocket-cmyk.jpg",
  "rocket.gif",
] as const;

/**
 * Damage to a file: flipped bits of a byte, often in the header; bytes dropped or inserted; the end
 * cut off or replaced by that of another file.
 */
export const damageArbitrary = fc.oneof(
  fc.record({
    kind: fc.constant("flip" as const),
    placeFraction: fc.double({ min: 0, max: 1, noNaN: true }),
    value: fc.integer({ min: 1, max: 255 }),
    inHeader: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("cut" as const), placeFraction: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({
    kind: fc.constant("drop" as const),
    placeFraction: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.integer({ min: 1, max: 300 }),
  }),
  fc.record({
    kind: fc.constant("insert" as const),
    placeFraction: fc.double({ min: 0, max: 1, noNaN: true }),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 64 }),
  }),
  fc.record({
    kind: fc.constant("splice" as const),
    placeFraction: fc.double({ min: 0, max: 1, noNaN: true }),
    other: fc.constantFrom(...corpus),
  }),
);
const claimedSizeArbitrary = fc.record({
  width: fc.integer({ min: 64, max: 9000 }),
  height: fc.integer({ min: 64, max: 7000 }),
});

type Damage = typeof damageArbitrary extends fc.Arbitrary<infer T> ? T : never;

export interface BrokenPicture {
  readonly name: (typeof corpus)[number];
  readonly size: { readonly width: number; readonly height: number } | null;
  readonly changes: readonly Damage[];
}

export const brokenPictureArbitrary: fc.Arbitrary<BrokenPicture> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      name: fc.constantFrom(...corpus),
      size: fc.constant(null),
      changes: fc.array(damageArbitrary, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      name: fc.constantFrom(...corpus),
      size: claimedSizeArbitrary,
      changes: fc.array(damageArbitrary, { maxLength: 1 }),
    }),
  },
);

export function createBrokenBytes({ name, size, changes }: BrokenPicture): Uint8Array {
  const bytes = readSample(name);
  return changes.reduce<Uint8Array>(applyDamage, size === null ? bytes : enlargeFile(bytes, size.width, size.height));
}

export function applyDamage(bytes: Uint8Array, change: Damage): Uint8Array {
  const offset = Math.floor(change.placeFraction * bytes.length);
  switch (change.kind) {
    case "flip": {
      const out = new Uint8Array(bytes);
      const position = change.inHeader ? Math.floor(change.placeFraction * Math.min(200, bytes.length)) : offset;
      if (position < out.length) out[position] = (out[position] ?? 0) ^ change.value;
      return out;
    }
    case "cut":
      return bytes.subarray(0, offset);
    case "drop":
      return Buffer.concat([bytes.subarray(0, offset), bytes.subarray(offset + change.length)]);
    case "insert":
      return Buffer.concat([bytes.subarray(0, offset), change.bytes, bytes.subarray(offset)]);
    case "splice":
      return Buffer.concat([bytes.subarray(0, offset), readSample(change.other).subarray(offset)]);
  }
}

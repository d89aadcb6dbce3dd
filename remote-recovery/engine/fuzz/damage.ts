/** Broken pictures: a corpus of every kind of file, and what happens to files. */
import fc from "fast-check";
import { readKind } from "../tests/vectors.ts";
import { enlarged } from "./enlarge.ts";

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
 * What happens to files: bytes turn, go missing, are doubled or swapped with those of another file;
 * headers above all.
 */
export const damage = fc.oneof(
  fc.record({
    kind: fc.constant("turn" as const),
    place: fc.double({ min: 0, max: 1, noNaN: true }),
    value: fc.integer({ min: 1, max: 255 }),
    near: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("cut" as const), place: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({
    kind: fc.constant("drop" as const),
    place: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.integer({ min: 1, max: 300 }),
  }),
  fc.record({
    kind: fc.constant("insert" as const),
    place: fc.double({ min: 0, max: 1, noNaN: true }),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 64 }),
  }),
  fc.record({
    kind: fc.constant("splice" as const),
    place: fc.double({ min: 0, max: 1, noNaN: true }),
    other: fc.constantFrom(...corpus),
  }),
);
/**
 * A header that says much where little follows, some of them with too much: whole otherwise, or
 * damaged as well.
 */
const enlargement = fc.record({
  width: fc.integer({ min: 64, max: 9000 }),
  height: fc.integer({ min: 64, max: 7000 }),
});

type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;

export interface BrokenPicture {
  readonly name: (typeof corpus)[number];
  readonly size: { readonly width: number; readonly height: number } | null;
  readonly changes: readonly Damage[];
}

/** One in five is enlarged. */
export const brokenPicture: fc.Arbitrary<BrokenPicture> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      name: fc.constantFrom(...corpus),
      size: fc.constant(null),
      changes: fc.array(damage, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      name: fc.constantFrom(...corpus),
      size: enlargement,
      changes: fc.array(damage, { maxLength: 1 }),
    }),
  },
);

export function bytesOf({ name, size, changes }: BrokenPicture): Uint8Array {
  const bytes = readKind(name);
  return changes.reduce<Uint8Array>(damaged, size === null ? bytes : enlarged(bytes, size.width, size.height));
}

export function damaged(bytes: Uint8Array, change: Damage): Uint8Array {
  const at = Math.floor(change.place * bytes.length);
  switch (change.kind) {
    case "turn": {
      const out = new Uint8Array(bytes);
      const place = change.near ? Math.floor(change.place * Math.min(200, bytes.length)) : at;
      if (place < out.length) out[place] = (out[place] ?? 0) ^ change.value;
      return out;
    }
    case "cut":
      return bytes.subarray(0, at);
    case "drop":
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + change.length)]);
    case "insert":
      return Buffer.concat([bytes.subarray(0, at), change.bytes, bytes.subarray(at)]);
    case "splice":
      return Buffer.concat([bytes.subarray(0, at), readKind(change.other).subarray(at)]);
  }
}

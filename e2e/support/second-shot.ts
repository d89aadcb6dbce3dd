import sharp from "sharp";

import type { UploadedFile } from "./photographs.ts";

/** Movement of the camera between the first shot and the second. */
export interface CameraMovement {
  /** To the side, as a fraction of the distance of the nearest things. */
  readonly lateralShift: number;
  /** Degrees: to the side, upwards, and about its own axis. */
  readonly yaw: number;
  readonly pitch: number;
  readonly roll: number;
}

export const handheldMovement: CameraMovement = { lateralShift: 0.04, yaw: 1.5, pitch: 1, roll: 1 };

/** Phone camera's focal length, in widths of the picture; ratio of farthest to nearest distance. */
const focalLength = 0.72;
const depths = 12;
/** Pixels of the longer side, as messengers send it. */
const maxSide = 1200;
/**
 * Exposure in stops; noise variance in linear light: the part proportional to light, and that of
 * the sensor.
 */
const noise = { stops: 0.3, shot: 4e-4, read: 4e-6 };

/**
 * Computes a second shot of a photographed scene, since no fixture has two shots. A pinhole camera
 * moves and turns. Things low in the picture are near and move more; things high in it are far.
 * Exposure, noise and encoding change. Unlike in a real second shot, no thing moves by itself, and
 * near edges hide nothing.
 */
export async function renderSecondShot(
  file: string,
  movement: CameraMovement = handheldMovement,
): Promise<UploadedFile> {
  const { data, info } = await sharp(file)
    .rotate()
    .resize({ width: maxSide, height: maxSide, fit: "inside", withoutEnlargement: true })
    .removeAlpha()
    .toColourspace("srgb")
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  const pixels = Buffer.alloc(width * height * 3);
  const nextDeviate = createGaussian(1);
  const sourcePosition = createSourceMapping(movement, width, height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [fromX, fromY] = sourcePosition(x, y);
      for (let channel = 0; channel < 3; channel++) {
        const light = sampleLight(data, width, height, channel, fromX, fromY) * 2 ** noise.stops;
        pixels[3 * (y * width + x) + channel] = toSrgb(
          light + Math.sqrt(noise.shot * light + noise.read) * nextDeviate(),
        );
      }
    }
  }
  const picture = sharp(pixels, { raw: { width, height, channels: 3 } }).jpeg({ quality: 90 });
  return { name: "another-shot.jpg", mimeType: "image/jpeg", buffer: await picture.toBuffer() };
}

/** Maps a pixel of the second shot to its position in the first. */
function createSourceMapping(
  { lateralShift, yaw, pitch, roll }: CameraMovement,
  width: number,
  height: number,
): (x: number, y: number) => readonly [x: number, y: number] {
  const [a, b, c] = [yaw, pitch, roll].map((degrees) => (degrees * Math.PI) / 180) as [number, number, number];
  const [cosA, sinA, cosB, sinB, cosC, sinC] = [
    Math.cos(a),
    Math.sin(a),
    Math.cos(b),
    Math.sin(b),
    Math.cos(c),
    Math.sin(c),
  ];
  return (x, y) => {
    const [u, v] = [(x - width / 2) / width, (y - height / 2) / width];
    const [rolledX, rolledY] = [cosC * u - sinC * v, sinC * u + cosC * v];
    const [pitchedY, pitchedZ] = [cosB * rolledY - sinB * focalLength, sinB * rolledY + cosB * focalLength];
    const [turnedX, turnedZ] = [cosA * rolledX + sinA * pitchedZ, -sinA * rolledX + cosA * pitchedZ];
    const [planeX, planeY] = [(focalLength * turnedX) / turnedZ, (focalLength * pitchedY) / turnedZ];
    const lowness = Math.min(1, Math.max(0, (planeY * width) / height + 0.5));
    // a plane of ground: the inverse of its distance grows evenly
    const nearness = 1 / depths + (1 - 1 / depths) * lowness;
    return [(planeX + lateralShift * focalLength * nearness) * width + width / 2, planeY * width + height / 2];
  };
}

/** Samples bilinearly, in linear light from 0 to 1; outside, the edge is repeated. */
function sampleLight(data: Uint8Array, width: number, height: number, channel: number, x: number, y: number): number {
  const [left, top] = [Math.min(width - 1, Math.max(0, x)), Math.min(height - 1, Math.max(0, y))];
  const [x0, y0] = [Math.min(width - 2, Math.floor(left)), Math.min(height - 2, Math.floor(top))];
  const lightAt = (dx: number, dy: number): number =>
    srgbToLinear[data[3 * ((y0 + dy) * width + x0 + dx) + channel] ?? 0] ?? 0;
  const [fx, fy] = [left - x0, top - y0];
  return (
    (lightAt(0, 0) * (1 - fx) + lightAt(1, 0) * fx) * (1 - fy) + (lightAt(0, 1) * (1 - fx) + lightAt(1, 1) * fx) * fy
  );
}

/** IEC 61966-2-1. */
const srgbToLinear = Float64Array.from({ length: 256 }, (_, value) =>
  value <= 10 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
);

function toSrgb(light: number): number {
  const clamped = Math.min(1, Math.max(0, light));
  return Math.round(255 * (clamped <= 0.0031308 ? 12.92 * clamped : 1.055 * clamped ** (1 / 2.4) - 0.055));
}

/** Normal deviates (Box and Muller), the same each time. */
function createGaussian(seed: number): () => number {
  let state = seed;
  const uniform = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state + 1) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

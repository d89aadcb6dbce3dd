import path from "node:path";

import sharp, { type Sharp } from "sharp";

const folder = path.join(import.meta.dirname, "../fixtures/photos");

/**
 * Photographs that the gate calls good, a small one, and two that it refuses. Licences are next to
 * the files.
 */
export const photographs = {
  mountains: path.join(folder, "picos-3264x2448.jpg"),
  small: path.join(folder, "picos-1200x900.jpg"),
  smallHeic: path.join(folder, "picos-1200x900.heic"),
  friends: path.join(folder, "friends-2056x3088.jpg"),
  sunset: path.join(folder, "sunset-4272x2848.jpg"),
  tooPlain: path.join(folder, "spacex-3000x1688.jpg"),
  tooSmall: path.join(folder, "chelsea.png"),
} as const;

/** Changed copies of a picture. */
export const pictureCopies = {
  "JPEG quality 60": (file: string) =>
    toUploadedFile("copy-q60.jpg", "image/jpeg", sharp(file).rotate().jpeg({ quality: 60 })),
  "half the size": async (file: string) => {
    const { width } = await sharp(file).metadata();
    return toUploadedFile(
      "copy-half.jpg",
      "image/jpeg",
      sharp(file)
        .rotate()
        .resize(Math.round(width / 2))
        .jpeg({ quality: 85 }),
    );
  },
} as const;

/** Copies as messengers and phones make them, of the pixels of a picture file. */
export const messengerCopies = {
  "1600 pixels, quality 75": (file: string) =>
    toUploadedFile(
      "copy-1600.jpg",
      "image/jpeg",
      sharp(file).rotate().resize({ width: 1600, height: 1600, fit: "inside" }).jpeg({ quality: 75 }),
    ),
  "1280 pixels, quality 75": (file: string) =>
    toUploadedFile(
      "copy-1280.jpg",
      "image/jpeg",
      sharp(file).rotate().resize({ width: 1280, height: 1280, fit: "inside" }).jpeg({ quality: 75 }),
    ),
  PNG: (file: string) => toUploadedFile("copy.png", "image/png", sharp(file).rotate().png({ compressionLevel: 2 })),
  WebP: (file: string) => toUploadedFile("copy.webp", "image/webp", sharp(file).rotate().webp({ quality: 80 })),
  "a screenshot with 3 % cropped": async (file: string) => {
    const { width, height } = await sharp(file).metadata();
    const [left, top] = [Math.round(width * 0.015), Math.round(height * 0.015)];
    return toUploadedFile(
      "screenshot.png",
      "image/png",
      sharp(file)
        .extract({ left, top, width: width - 2 * left, height: height - 2 * top })
        .resize({ width: 1170 })
        .png(),
    );
  },
  /** Rotated pixels, with the orientation in the file. */
  "turned by the phone, as its file says": (file: string) =>
    toUploadedFile(
      "turned-exif.jpg",
      "image/jpeg",
      sharp(file).rotate(270).withMetadata({ orientation: 6 }).jpeg({ quality: 85 }),
    ),
  "turned by the phone": (file: string) =>
    toUploadedFile("turned.jpg", "image/jpeg", sharp(file).rotate(90).jpeg({ quality: 85 })),
} as const;

/** Places a photograph on a scanned sheet, where it is not found without help. */
export async function placeOnSheet(file: string): Promise<UploadedFile> {
  const picture = sharp(file).rotate().resize(1000);
  const { data, info } = await picture.jpeg({ quality: 85 }).toBuffer({ resolveWithObject: true });
  const sheet = sharp({
    create: { width: info.width + 600, height: info.height + 700, channels: 3, background: "#f4f1ea" },
  });
  return toUploadedFile(
    "scan.jpg",
    "image/jpeg",
    sheet.composite([{ input: data, left: 200, top: 300 }]).jpeg({ quality: 85 }),
  );
}

export interface UploadedFile {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

async function toUploadedFile(name: string, mimeType: string, picture: Sharp): Promise<UploadedFile> {
  return { name, mimeType, buffer: await picture.toBuffer() };
}

/** Luma rows as the engine computes them: (77 R + 150 G + 29 B) >> 8, row after row. */
export async function lumaRows(file: string): Promise<Uint8Array> {
  const { data, info } = await sharp(file)
    .rotate()
    .removeAlpha()
    .toColourspace("srgb")
    .raw()
    .toBuffer({ resolveWithObject: true });
  const luma = new Uint8Array(info.width * info.height);
  for (let i = 0; i < luma.length; i++) {
    luma[i] = (77 * (data[3 * i] ?? 0) + 150 * (data[3 * i + 1] ?? 0) + 29 * (data[3 * i + 2] ?? 0)) >> 8;
  }
  return luma;
}

import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { crc32, deflateSync } from "node:zlib";

import { photographs, type UploadedFile } from "./photographs.ts";

const picturesFolder = path.join(import.meta.dirname, "../../remote-recovery/engine/tests/pictures");
const photo = readFileSync(photographs.mountains);

/** Files that cannot be used as a picture, as users might choose them. */
export const badPictures: Readonly<
  Record<"broken" | "cut" | "empty" | "text" | "overLimit" | "gif" | "cmyk" | "animated" | "raw", UploadedFile>
> = {
  broken: {
    name: "broken.jpg",
    mimeType: "image/jpeg",
    buffer: Buffer.concat([Buffer.from("ffd8ffe000104a46494600010100000100010000", "hex"), randomBytes(4000)]),
  },
  cut: { name: "half-downloaded.jpg", mimeType: "image/jpeg", buffer: photo.subarray(0, Math.floor(photo.length / 2)) },
  gif: { name: "picture.gif", mimeType: "image/gif", buffer: readFileSync(path.join(picturesFolder, "rocket.gif")) },
  cmyk: {
    name: "for-the-printer.jpg",
    mimeType: "image/jpeg",
    buffer: readFileSync(path.join(picturesFolder, "rocket-cmyk.jpg")),
  },
  animated: {
    name: "sticker.webp",
    mimeType: "image/webp",
    buffer: readFileSync(path.join(picturesFolder, "rocket-animated.webp")),
  },
  raw: {
    name: "IMG_0001.CR3",
    mimeType: "image/x-canon-cr3",
    buffer: Buffer.concat([Buffer.from("\0\0\0\x18ftypcrx \0\0\0\x01crx isom", "latin1"), randomBytes(4000)]),
  },
  empty: { name: "empty.jpg", mimeType: "image/jpeg", buffer: Buffer.alloc(0) },
  text: {
    name: "notes.jpg",
    mimeType: "image/jpeg",
    buffer: Buffer.from("This is a shopping list, not a picture.\n".repeat(50)),
  },
  overLimit: { name: "huge.png", mimeType: "image/png", buffer: createBlackPng(9_000, 6_000) },
};

/** A black grey-scale PNG of 54 million pixels in some kilobytes. */
function createBlackPng(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8; // bits per sample; colour type, compression, filter and interlace stay 0
  const rows = Buffer.alloc((width + 1) * height);
  const signature = Buffer.from("89504e470d0a1a0a", "hex");
  return Buffer.concat([
    signature,
    buildChunk("IHDR", header),
    buildChunk("IDAT", deflateSync(rows)),
    buildChunk("IEND", Buffer.alloc(0)),
  ]);
}

function buildChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const buffer = Buffer.alloc(body.length + 8);
  buffer.writeUInt32BE(data.length, 0);
  body.copy(buffer, 4);
  buffer.writeUInt32BE(crc32(body), body.length + 4);
  return buffer;
}

import { createHash, randomBytes } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { once } from "node:events";

const blockBytes = 1024 * 1024;

/** Writes random bytes; returns their SHA-256 in hex. */
export async function writeLargeFile(path: string, mebibytes: number): Promise<string> {
  const hash = createHash("sha256");
  const stream = createWriteStream(path);
  for (let writtenBlocks = 0; writtenBlocks < mebibytes; writtenBlocks++) {
    const bytes = randomBytes(blockBytes);
    hash.update(bytes);
    if (!stream.write(bytes)) await once(stream, "drain");
  }
  stream.end();
  await once(stream, "finish");
  return hash.digest("hex");
}

/** SHA-256 in hex. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const bytes of createReadStream(path)) hash.update(bytes as Buffer);
  return hash.digest("hex");
}

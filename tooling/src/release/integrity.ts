import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** Subresource integrity of bytes: `sha384-` and base64. */
export function integrityOfBytes(bytes: Uint8Array): string {
  return `sha384-${createHash("sha384").update(bytes).digest("base64")}`;
}

export function integrityOfFile(path: string): string {
  return integrityOfBytes(readFileSync(path));
}

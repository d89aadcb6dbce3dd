import { hash } from "node:crypto";
import { readFileSync } from "node:fs";

/** Subresource integrity of bytes: `sha384-` and base64. */
export function computeIntegrity(bytes: Uint8Array): string {
  return `sha384-${hash("sha384", bytes, "base64")}`;
}

export function computeFileIntegrity(path: string): string {
  return computeIntegrity(readFileSync(path));
}

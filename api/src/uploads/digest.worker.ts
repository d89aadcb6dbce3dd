import { createHash } from "node:crypto";
import { parentPort } from "node:worker_threads";

/** SHA-256 over chunks, each acknowledged; null asks for the digest. */
const digest = createHash("sha256");
parentPort?.on("message", (chunk: Uint8Array | null) => {
  if (chunk !== null) digest.update(chunk);
  parentPort?.postMessage(chunk === null ? digest.digest() : null);
});

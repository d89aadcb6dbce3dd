/**
 * What the page has of the program: its parts are read, compared with the SHA-256 that the script
 * knows, and started.
 */
import { compileModule, compileModules, type LazyCodec } from "@relicario/engine/modules";
import { createAbortableCalls, type AbortableCalls } from "@relicario/engine/abortable-calls";
import { createCallClient } from "@relicario/engine/worker-calls";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";
import { bytesToHex } from "@noble/hashes/utils.js";

import { sha256Async, type Bytes } from "../../seal/bytes.ts";
import { fromBase64, partElementId } from "../kit-document.ts";
import type { KitWorkerApi } from "../kit-worker-api.ts";

/**
 * SHA-256 in hex of every part, unpacked. Stands before this script, under the same hash of the
 * page's policy.
 */
declare const kitParts: Readonly<Record<string, string>>;

export interface KitWorker {
  readonly remote: Comlink.Remote<KitWorkerApi>;
  readonly end: () => void;
  readonly abortable: AbortableCalls["abortable"];
}

/**
 * Starts the worker. @throws PortalError `vault_unavailable` where the browser cannot,
 * `decryption_failed` for a part that was changed.
 */
export async function startKitWorker(): Promise<KitWorker> {
  const script = await loadPart("worker");
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const worker = new Worker(url);
  const { abortable, abort } = createAbortableCalls();
  worker.addEventListener("error", (event) => {
    abort(new PortalError("vault_unavailable", { cause: event.error }));
  });
  const remote = createCallClient<KitWorkerApi>(worker);
  const terminate = (): void => {
    worker.terminate();
  };
  try {
    await abortable(remote.ping());
    const modules = await compileModules(fetchPart);
    await abortable(remote.init(modules, Comlink.proxy(loadCodec)));
    return { remote, abortable, end: terminate };
  } catch (error) {
    terminate();
    throw error;
  } finally {
    URL.revokeObjectURL(url);
  }
}

async function loadCodec(name: LazyCodec) {
  if (document.getElementById(partElementId(name)) === null)
    throw new PortalError("picture_unreadable", { details: { reason: "unsupported", kind: name } });
  return compileModule(name, fetchPart);
}

/** As the portal's page fetches its files; here they are in the document. */
async function fetchPart(name: string): Promise<Response> {
  return new Response(await loadPart(name));
}

async function loadPart(name: string): Promise<Bytes> {
  const compressed = fromBase64(document.getElementById(partElementId(name))?.textContent ?? "");
  const bytes = await decompress(compressed);
  if (bytesToHex(await sha256Async(bytes)) !== kitParts[name]) throw new PortalError("decryption_failed");
  return bytes;
}

async function decompress(compressed: Bytes): Promise<Bytes> {
  try {
    return new Uint8Array(
      await new Response(new Blob([compressed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer(),
    );
  } catch (cause) {
    throw new PortalError(typeof DecompressionStream === "undefined" ? "vault_unavailable" : "decryption_failed", {
      cause,
    });
  }
}

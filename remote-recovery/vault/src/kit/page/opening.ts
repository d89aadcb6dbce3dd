/**
 * What the page has of the program: its parts are read, compared with the SHA-256 that the script
 * knows, and started.
 */
import { compileModule, compileModules, type LazyCodec } from "@relicario/engine/modules";
import { createGone, type Gone } from "@relicario/engine/worker-gone";
import { callsTo } from "@relicario/engine/worker-calls";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";
import { bytesToHex } from "@noble/hashes/utils.js";

import { digestOf, type Bytes } from "../../seal/bytes.ts";
import { fromBase64, partElement } from "../kit-document.ts";
import type { KitWorkerApi } from "../kit-worker-api.ts";

/**
 * SHA-256 in hex of every part, unpacked. Stands before this script, under the same hash of the
 * page's policy.
 */
declare const kitParts: Readonly<Record<string, string>>;

export interface KitWorker {
  readonly remote: Comlink.Remote<KitWorkerApi>;
  readonly end: () => void;
  readonly orGone: Gone["orGone"];
}

/**
 * Starts the worker. @throws PortalError `vault_unavailable` where the browser cannot,
 * `decryption_failed` for a part that was changed.
 */
export async function startKitWorker(): Promise<KitWorker> {
  const script = await part("worker");
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const worker = new Worker(address);
  const { orGone, say } = createGone();
  worker.addEventListener("error", (event) => {
    say(new PortalError("vault_unavailable", { cause: event.error }));
  });
  const remote = callsTo<KitWorkerApi>(worker);
  const end = (): void => {
    worker.terminate();
  };
  try {
    await orGone(remote.ping());
    const modules = await compileModules(fetchPart);
    await orGone(remote.init(modules, Comlink.proxy(loadCodec)));
    return { remote, orGone, end };
  } catch (error) {
    end();
    throw error;
  } finally {
    URL.revokeObjectURL(address);
  }
}

async function loadCodec(name: LazyCodec) {
  if (document.getElementById(partElement(name)) === null)
    throw new PortalError("picture_unreadable", { details: { reason: "unsupported", kind: name } });
  return compileModule(name, fetchPart);
}

/** As the portal's page fetches its files; here they are in the document. */
async function fetchPart(name: string): Promise<Response> {
  return new Response(await part(name));
}

async function part(name: string): Promise<Bytes> {
  const packed = fromBase64(document.getElementById(partElement(name))?.textContent ?? "");
  const bytes = await unpacked(packed);
  if (bytesToHex(await digestOf(bytes)) !== kitParts[name]) throw new PortalError("decryption_failed");
  return bytes;
}

async function unpacked(packed: Bytes): Promise<Bytes> {
  try {
    return new Uint8Array(
      await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer(),
    );
  } catch (cause) {
    throw new PortalError(typeof DecompressionStream === "undefined" ? "vault_unavailable" : "decryption_failed", {
      cause,
    });
  }
}

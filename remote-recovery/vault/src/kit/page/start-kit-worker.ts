/**
 * Starts the kit's worker from the parts in the page, after comparing each part with the SHA-256 in
 * the script.
 */
import { compileModules, serveCodecs } from "@relicario/engine/modules";
import { createAbortableCalls, type AbortableCalls } from "@relicario/engine/abortable-calls";
import { PortalError } from "@relicario/shared/errors";
import type * as Comlink from "comlink";
import { bytesToHex } from "@noble/hashes/utils.js";

import { startWorker } from "../../rpc/start-worker.ts";
import { sha256Async, type Bytes } from "../../seal/bytes.ts";
import { fromBase64, getPartElementId } from "../kit-document.ts";
import type { KitWorkerApi } from "../kit-worker-api.ts";

/**
 * SHA-256 in hex of every unpacked part. Defined at the start of this script, so the page's policy
 * covers it too.
 */
declare const kitParts: Readonly<Record<string, string>>;

export interface KitWorker {
  readonly remote: Comlink.Remote<KitWorkerApi>;
  /** Ends the worker. Rejects pending calls with `cancelled`. */
  readonly end: () => void;
  readonly abortable: AbortableCalls["abortable"];
}

/**
 * Starts the worker.
 *
 * @throws PortalError `vault_unavailable` if the browser cannot start it, `decryption_failed` for a
 *   changed part
 */
export async function startKitWorker(): Promise<KitWorker> {
  // the kit is one file: its worker can only be a blob
  const script = new Blob([await loadPart("worker")], { type: "text/javascript" });
  const scriptUrl = URL.createObjectURL(script);
  const { remote, failure, end } = await startWorker<KitWorkerApi>(
    new Worker(scriptUrl, { name: "kit-worker" }),
    (worker) => worker.ping(),
  ).finally(() => {
    URL.revokeObjectURL(scriptUrl);
  });
  const { abortable, abort } = createAbortableCalls();
  void failure.then(abort);
  try {
    const modules = await compileModules(fetchPart);
    await abortable(remote.init(modules, serveCodecs(hasPart, fetchPart)));
  } catch (error) {
    end();
    throw error;
  }
  return {
    remote,
    abortable,
    end: () => {
      end();
      abort(new PortalError("cancelled"));
    },
  };
}

function hasPart(name: string): boolean {
  return document.getElementById(getPartElementId(name)) !== null;
}

/** Reads a part from the document; the portal's page fetches a file instead. */
async function fetchPart(name: string): Promise<Response> {
  return new Response(await loadPart(name));
}

async function loadPart(name: string): Promise<Bytes> {
  const compressed = fromBase64(document.getElementById(getPartElementId(name))?.textContent ?? "");
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

/**
 * The worker's entry: serves the engine to the page that started it and, through ports, to the
 * vault's worker. Where there are two cores it starts itself a second time, for half of each
 * search: at once, while the blob address that it runs from is there.
 */
import * as Comlink from "comlink";
import { createEngineWorkerApi } from "./engine-worker-api.ts";
import { serveCalls } from "./worker-calls.ts";
import { createSearchWorkerApi, searchHelperOver, type SearchWorkerApi } from "./second-core.ts";

const secondName = "engine-search";

/** Of the Trusted Types API, what is used here. https://w3c.github.io/trusted-types/dist/spec/ */
declare const trustedTypes:
  | {
      readonly createPolicy: (
        name: string,
        rules: { readonly createScriptURL: (address: string) => string | null },
      ) => unknown;
    }
  | undefined;

if (self.name === secondName) {
  Comlink.expose(createSearchWorkerApi());
} else {
  const second = startSecond();
  serveCalls(
    createEngineWorkerApi((module) =>
      second === null ? null : searchHelperOver(Comlink.wrap<SearchWorkerApi>(second.worker), module, second.lost),
    ),
  );
}

/** Null where one core is all, or a worker cannot start another. */
function startSecond(): { readonly worker: Worker; readonly lost: Promise<unknown> } | null {
  if (typeof Worker === "undefined" || navigator.hardwareConcurrency < 2) return null;
  const own = globalThis.location.href;
  try {
    // Where the page asks for Trusted Types, its workers do too: this one may start its own file,
    // and nothing else.
    if (typeof trustedTypes !== "undefined")
      trustedTypes.createPolicy("default", { createScriptURL: (address) => (address === own ? address : null) });
    const worker = new Worker(own, { name: secondName });
    return {
      worker,
      lost: new Promise((resolve) => {
        worker.addEventListener("error", resolve);
      }),
    };
  } catch {
    return null; // searches then take one core, as elsewhere
  }
}

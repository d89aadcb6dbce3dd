import type { Page } from "@playwright/test";

/**
 * Removes Ed25519 from WebCrypto in the workers of this page as they start, before anything is
 * unlocked. Returns a function that counts those workers.
 */
export function removeEd25519(page: Page): () => number {
  let workerCount = 0;
  page.on("worker", (worker) => {
    worker.evaluate(rejectEd25519).then(
      () => {
        workerCount += 1;
      },
      () => undefined, // the worker has ended
    );
  });
  return () => workerCount;
}

/** Runs in the worker: rejects Ed25519 as a browser without it does. */
function rejectEd25519(): void {
  const { subtle } = crypto;
  const importKey = subtle.importKey.bind(subtle) as (...parameters: readonly unknown[]) => Promise<CryptoKey>;
  subtle.importKey = (...parameters: readonly unknown[]) =>
    parameters[2] === "Ed25519"
      ? Promise.reject(new DOMException("Algorithm: Unrecognized name", "NotSupportedError"))
      : importKey(...parameters);
}

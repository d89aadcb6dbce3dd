import type { Page } from "@playwright/test";

/**
 * Takes Ed25519 from WebCrypto in the workers of this page as they start, before anything is
 * unlocked. Returns in how many it is gone.
 */
export function removeEd25519(page: Page): () => number {
  let workers = 0;
  page.on("worker", (worker) => {
    worker.evaluate(rejectEd25519).then(
      () => {
        workers += 1;
      },
      () => undefined, // gone already
    );
  });
  return () => workers;
}

/** What a browser without it does. Runs in the worker. */
function rejectEd25519(): void {
  const { subtle } = crypto;
  const importKey = subtle.importKey.bind(subtle) as (...parameters: readonly unknown[]) => Promise<CryptoKey>;
  subtle.importKey = (...parameters: readonly unknown[]) =>
    parameters[2] === "Ed25519"
      ? Promise.reject(new DOMException("Algorithm: Unrecognized name", "NotSupportedError"))
      : importKey(...parameters);
}

/**
 * The router makes a Request with jsdom's AbortSignal, and Node's Request refuses the signal of another realm. No test
 * aborts a navigation, so such a signal is left out.
 */
export function acceptForeignSignals(): void {
  const Native = globalThis.Request;
  const own = new Native("http://localhost/").signal.constructor;
  globalThis.Request = new Proxy(Native, {
    construct: (target, [input, init]: [string | URL, RequestInit | undefined]) => {
      const { signal, ...rest } = init ?? {};
      return new target(input, signal != null && signal instanceof own ? { ...rest, signal } : rest);
    },
  });
}

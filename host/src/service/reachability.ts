import type { HttpClient } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { createStore } from "zustand/vanilla";

/** Pauses between checks of a service that is down, in milliseconds. The last pause repeats. */
export const recheckDelaysMs = [3000, 6000, 12_000, 30_000] as const;

/** Whether the service responds, judged by this page's calls. */
export interface Reachability {
  readonly isDown: () => boolean;
  readonly subscribe: (listener: () => void) => () => void;
  /** Reports a call of another client: whether it found the service available. */
  readonly report: (isUp: boolean) => void;
  /** Wraps a client to observe its calls. */
  readonly observe: (http: HttpClient) => HttpClient;
}

/**
 * When a call finds the service unavailable, checks it with a separate call: one broken
 * connection is not an outage. Repeats the check while the service is down; the first response to
 * any call ends the outage.
 *
 * @param checkService resolves when the service responds
 */
export function createReachability(checkService: () => Promise<unknown>): Reachability {
  const store = createStore(() => ({ down: false }));
  let isChecking = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const isDown = () => store.getState().down;
  const setDown = (down: boolean) => {
    if (!down) clearTimeout(timer);
    if (down !== isDown()) store.setState({ down });
  };

  const checkOnce = async (delays: readonly number[]) => {
    if (isChecking) return;
    isChecking = true;
    const isUp = await checkService().then(
      () => true,
      () => false,
    );
    isChecking = false;
    setDown(!isUp);
    if (isUp) return;
    const [delay = recheckDelaysMs[3], ...laterDelays] = delays;
    clearTimeout(timer);
    timer = setTimeout(() => void checkOnce(laterDelays), delay);
  };

  const report = (isUp: boolean) => {
    if (isUp) setDown(false);
    else if (!isDown()) void checkOnce(recheckDelaysMs);
  };

  return Object.freeze<Reachability>({
    isDown,
    subscribe: store.subscribe,
    report,
    observe: (http) =>
      Object.freeze<HttpClient>({
        ...http,
        request: async (method, path, schema, options) => {
          try {
            const result = await http.request(method, path, schema, options);
            report(true);
            return result;
          } catch (error) {
            if (isPortalError(error, "service_unavailable")) report(false);
            throw error;
          }
        },
      }),
  });
}

import type { HttpClient } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { createStore } from "zustand/vanilla";

/**
 * Pauses between checks of a service that does not answer, in milliseconds; the last one is
 * repeated.
 */
export const recheckDelaysMs = [3000, 6000, 12_000, 30_000] as const;

/** Whether the service answers, as far as the calls of this page show. */
export interface Reachability {
  readonly isDown: () => boolean;
  readonly subscribe: (listener: () => void) => () => void;
  /** Wraps a client so that its calls are observed. */
  readonly observe: (http: HttpClient) => HttpClient;
}

/**
 * Observes calls to the service. When one fails because the service does not answer, the service is
 * checked by a call of its own, since a single broken connection is no outage. While it is down the
 * check is repeated; the first answer to any call ends the outage.
 *
 * @param checkService checks the service; resolves when it answers
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

  return Object.freeze<Reachability>({
    isDown,
    subscribe: store.subscribe,
    observe: (http) =>
      Object.freeze<HttpClient>({
        ...http,
        request: async (method, path, schema, options) => {
          try {
            const result = await http.request(method, path, schema, options);
            setDown(false);
            return result;
          } catch (error) {
            if (isPortalError(error, "service_unavailable") && !isDown()) void checkOnce(recheckDelaysMs);
            throw error;
          }
        },
      }),
  });
}

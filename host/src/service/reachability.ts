import type { Http } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { createStore } from "zustand/vanilla";

/**
 * Pauses between checks of a service that does not answer, in milliseconds; the last one is
 * repeated.
 */
export const askAgainPausesMs = [3000, 6000, 12_000, 30_000] as const;

/** Whether the service answers, as far as the calls of this page show. */
export interface Reachability {
  readonly isDown: () => boolean;
  readonly subscribe: (listener: () => void) => () => void;
  /** Wraps a client so that its calls are observed. */
  readonly watch: (http: Http) => Http;
}

/**
 * Observes calls to the service. When one fails because the service does not answer, the service is
 * checked by a call of its own, since a single broken connection is no outage. While it is down the
 * check is repeated; the first answer to any call ends the outage.
 *
 * @param ask checks the service; resolves when it answers
 */
export function createReachability(ask: () => Promise<unknown>): Reachability {
  const store = createStore(() => ({ down: false }));
  let asking = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const isDown = () => store.getState().down;
  const setDown = (down: boolean) => {
    if (!down) clearTimeout(timer);
    if (down !== isDown()) store.setState({ down });
  };

  const askOnce = async (pauses: readonly number[]) => {
    if (asking) return;
    asking = true;
    const answered = await ask().then(
      () => true,
      () => false,
    );
    asking = false;
    setDown(!answered);
    if (answered) return;
    const [pause = askAgainPausesMs[3], ...later] = pauses;
    clearTimeout(timer);
    timer = setTimeout(() => void askOnce(later), pause);
  };

  return Object.freeze<Reachability>({
    isDown,
    subscribe: store.subscribe,
    watch: (http) =>
      Object.freeze<Http>({
        ...http,
        request: async (method, path, answer, options) => {
          try {
            const result = await http.request(method, path, answer, options);
            setDown(false);
            return result;
          } catch (error) {
            if (isPortalError(error, "service_unavailable") && !isDown()) void askOnce(askAgainPausesMs);
            throw error;
          }
        },
      }),
  });
}

import type { Http, HttpMethod, HttpOptions } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import type * as Comlink from "comlink";
import { z } from "zod";

/**
 * Calls to the service cross from the vault's worker to the page, which holds the session token. Schemas and signals do
 * not cross: answers arrive as they are and are parsed in the worker, a call is cancelled by its id.
 */
export interface PageHttp {
  readonly request: (id: string, method: HttpMethod, path: string, options: Pick<HttpOptions, "body" | "query">) => Promise<unknown>;
  /** Without effect when the call is over. */
  readonly cancel: (id: string) => void;
}

/** The page's side. */
export function servePageHttp(http: Http): PageHttp {
  const running = new Map<string, AbortController>();
  return {
    request: async (id, method, path, options) => {
      const controller = new AbortController();
      running.set(id, controller);
      try {
        return await http.request(method, path, z.unknown(), { ...options, signal: controller.signal });
      } finally {
        running.delete(id);
      }
    },
    cancel: (id) => {
      running.get(id)?.abort();
    },
  };
}

/** The worker's side: the contract's Http over the page. */
export function httpOverPage(page: Comlink.Remote<PageHttp> | PageHttp): Http {
  return {
    request: async <T>(method: HttpMethod, path: string, answer: z.ZodType<T>, options: HttpOptions = {}): Promise<T> => {
      const { signal, body, query } = options;
      if (signal?.aborted === true) throw new PortalError("cancelled", { cause: signal.reason });
      const id = crypto.randomUUID();
      const cancel = (): void => void page.cancel(id);
      signal?.addEventListener("abort", cancel, { once: true });
      try {
        const answered: unknown = await page.request(id, method, path, { ...(body === undefined ? {} : { body }), ...(query === undefined ? {} : { query }) });
        const parsed = answer.safeParse(answered);
        if (!parsed.success) throw new PortalError("bad_answer", { cause: parsed.error });
        return parsed.data;
      } catch (error) {
        throw toPortalError(error);
      } finally {
        signal?.removeEventListener("abort", cancel);
      }
    },
  };
}

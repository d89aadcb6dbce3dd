import type { z } from "zod";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface HttpOptions {
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/**
 * Calls to the service, already authorised. Paths are those of the service's contract (`/secrets/store`), without its
 * base address. A remote reaches only the paths that its signed release declares; another one is `forbidden`.
 *
 * Every failure is a PortalError whose cause is an HttpError where the service answered. GET is tried again up to three
 * times on network errors and 5xx; nothing else is ever repeated here.
 */
export interface Http {
  /** The parsed answer. An answer that does not fit the schema is `bad_answer`. */
  request<T>(method: HttpMethod, path: string, answer: z.ZodType<T>, options?: HttpOptions): Promise<T>;
}

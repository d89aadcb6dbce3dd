import type { z } from "zod";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface HttpRequestOptions {
  /** Sent as JSON; a FormData goes as a multipart form. */
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Bytes of the service as they arrive. */
export interface StreamedResponse {
  /** Bytes of the whole, of which this may be a range. */
  readonly totalSize: number;
  /** Where in the whole the first byte of {@link body} stands. */
  readonly offset: number;
  /** Breaks off with `offline`, `service_unavailable` or `cancelled`. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
}

/**
 * Calls to the service, already authorised. Paths are those of the service's contract
 * (`/secrets/store`), without its base address. A remote reaches only the paths that its signed
 * release declares; another one is `forbidden`.
 *
 * Every failure is a PortalError whose cause is an HttpError where the service answered. Each call
 * of a page is made once: the query cache tries reads again, up to three times on network errors
 * and 5xx. For a service that runs in a worker, where no cache is, GET is tried again here by the
 * same rule. Nothing else is ever repeated.
 */
export interface HttpClient {
  /** The parsed answer. An answer that does not fit the schema is `bad_answer`. */
  request<T>(method: HttpMethod, path: string, schema: z.ZodType<T>, options?: HttpRequestOptions): Promise<T>;
  /**
   * A binary answer; a part of it with the header `range`. An answer that does not say its size is
   * `bad_answer`. Never repeated.
   */
  stream(method: HttpMethod, path: string, options?: HttpRequestOptions): Promise<StreamedResponse>;
}

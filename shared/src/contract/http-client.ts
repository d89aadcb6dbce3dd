import type { z } from "zod";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface HttpRequestOptions {
  /** Sent as JSON, or as a multipart form if it is a `FormData`. */
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** A binary response as a stream. */
export interface StreamedResponse {
  /** Bytes of the whole content, even if the response is only a range of it. */
  readonly totalSize: number;
  /** Offset of the first byte of {@link body} in the whole content. */
  readonly offset: number;
  /** Fails with `offline`, `service_unavailable` or `cancelled`. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
}

/**
 * Authorised calls to the service. Paths are those of the service's API (`/secrets/store`), without
 * its base URL. A remote may call only the paths that its signed manifest declares; other calls
 * fail with `forbidden`. Every failure is a PortalError, whose cause is an HttpError if the service
 * responded.
 *
 * A page's call is sent once: the query cache retries reads up to three times after network errors
 * and 5xx. A service that runs in a worker has no query cache, so its client retries GET by the
 * same rule. No other call is retried.
 */
export interface HttpClient {
  /** Returns the validated response. Fails with `bad_answer` if it does not match the schema. */
  request<T>(method: HttpMethod, path: string, schema: z.ZodType<T>, options?: HttpRequestOptions): Promise<T>;
  /**
   * Returns a binary response, or a range of it with the header `range`. Fails with `bad_answer` if
   * the response's headers do not state the size. Never retried.
   */
  stream(method: HttpMethod, path: string, options?: HttpRequestOptions): Promise<StreamedResponse>;
}

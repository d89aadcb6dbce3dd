import pRetry from "p-retry";
import type { z } from "zod";

import type { HttpClient, HttpMethod, HttpRequestOptions, StreamedResponse } from "../contract/http-client.ts";
import {
  describeStatus,
  genericTitle,
  HttpError,
  isErrorCode,
  isPortalError,
  isTransient,
  PortalError,
  type ErrorDetails,
} from "../errors/index.ts";
import { ProblemDocument } from "./problem.ts";

export interface HttpClientSettings {
  /** Without a trailing slash, such as `https://portal.example/api`. */
  readonly baseUrl: string;
  /** Returns the session token, or null for calls without one. Called before each attempt. */
  readonly getToken: () => Promise<string | null>;
  /** Whether to send cookies. */
  readonly credentials?: boolean;
  /**
   * Returns the language in which mails are written, such as `es`. Without it the browser sends its
   * own language.
   */
  readonly getLanguage?: () => string;
  readonly fetch?: typeof globalThis.fetch;
  /**
   * Maximum number of retries of GET; by default that of {@link readRetryPolicy}. 0 if the caller
   * retries.
   */
  readonly retries?: number;
}

/**
 * Retries of a failed read: their number, the delay before the first, and the factor by which each
 * further delay grows.
 */
export const readRetryPolicy = { retries: 3, firstDelayMs: 350, factor: 2 } as const;

/**
 * Whether a failed read is retried. True for errors that are {@link isTransient}, except those that
 * do not end within seconds: `offline` (the browser knows that it has no network), and responses
 * with a status below 500, such as 429.
 *
 * True only if the call itself failed, so that the cause is the TypeError of `fetch` or the
 * HttpError of a response. An error without a cause comes from the vault's worker, and an error
 * whose cause is a PortalError from the token exchange: both have retried already.
 */
export function isRetryableRead(error: unknown): boolean {
  if (!isTransient(error) || !isPortalError(error) || error.code === "offline") return false;
  return error.cause instanceof TypeError || (error.cause instanceof HttpError && error.cause.status >= 500);
}

export function createHttpClient(settings: HttpClientSettings): HttpClient {
  const send = settings.fetch ?? globalThis.fetch.bind(globalThis);
  const retries = settings.retries ?? readRetryPolicy.retries;

  async function fetchResponse(
    method: HttpMethod,
    path: string,
    options: HttpRequestOptions,
    accept: string,
  ): Promise<Response> {
    const token = await settings.getToken();
    const headers = new Headers(options.headers);
    headers.set("accept", accept);
    if (settings.getLanguage !== undefined) headers.set("accept-language", settings.getLanguage());
    const { body } = options;
    const isForm = body instanceof FormData; // the browser sets the content type, with the boundary
    if (body !== undefined && !isForm) headers.set("content-type", "application/json");
    if (token !== null) headers.set("authorization", `Bearer ${token}`);

    let response: Response;
    try {
      response = await send(buildUrl(settings.baseUrl, path, options.query), {
        method,
        headers,
        credentials: settings.credentials === true ? "include" : "omit",
        cache: "no-store",
        redirect: "error",
        ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      });
    } catch (cause) {
      throw toNetworkError(cause, options.signal);
    }
    if (!response.ok) throw await toResponseError(response, path);
    return response;
  }

  async function fetchJson(method: HttpMethod, path: string, options: HttpRequestOptions): Promise<unknown> {
    const response = await fetchResponse(method, path, options, "application/json");
    if (response.status === 204) return null;
    try {
      return await response.json();
    } catch (cause) {
      if (options.signal?.aborted === true) throw new PortalError("cancelled", { cause });
      throw new PortalError("bad_answer", { cause });
    }
  }

  async function requestOnce<T>(
    method: HttpMethod,
    path: string,
    schema: z.ZodType<T>,
    options: HttpRequestOptions,
  ): Promise<T> {
    const parsed = schema.safeParse(await fetchJson(method, path, options));
    if (!parsed.success) throw new PortalError("bad_answer", { cause: parsed.error });
    return parsed.data;
  }

  async function request<T>(
    method: HttpMethod,
    path: string,
    schema: z.ZodType<T>,
    options: HttpRequestOptions = {},
  ): Promise<T> {
    if (method !== "GET" || retries === 0) return requestOnce(method, path, schema, options);
    try {
      return await pRetry(() => requestOnce(method, path, schema, options), {
        retries,
        minTimeout: readRetryPolicy.firstDelayMs,
        factor: readRetryPolicy.factor,
        shouldRetry: ({ error }) => isRetryableRead(error),
        signal: options.signal,
      });
    } catch (error) {
      // An abort during a delay rejects with the signal's reason, which may itself be a
      // PortalError.
      if (options.signal?.aborted === true && !isPortalError(error, "cancelled"))
        throw new PortalError("cancelled", { cause: error });
      throw error;
    }
  }

  async function stream(method: HttpMethod, path: string, options: HttpRequestOptions = {}): Promise<StreamedResponse> {
    const response = await fetchResponse(method, path, options, "application/octet-stream");
    const range = parseRange(response);
    if (response.body === null || range === null) throw new PortalError("bad_answer");
    return { ...range, body: mapStreamErrors(response.body, options.signal) };
  }

  return Object.freeze({ request, stream });
}

/** Converts a broken connection during the stream to a PortalError. */
function mapStreamErrors(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  return new ReadableStream({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (cause) {
        controller.error(toNetworkError(cause, signal));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/**
 * Offset of the response in the whole content, and size of that content (RFC 9110, 14.4). Null when
 * the headers do not state them.
 */
function parseRange(response: Response): { offset: number; totalSize: number } | null {
  const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(response.headers.get("content-range") ?? "");
  if (response.status === 206) return range === null ? null : { offset: Number(range[1]), totalSize: Number(range[2]) };
  const length = response.headers.get("content-length") ?? "";
  return /^\d+$/.test(length) ? { offset: 0, totalSize: Number(length) } : null;
}

function buildUrl(baseUrl: string, path: string, query: HttpRequestOptions["query"]): string {
  const entries = Object.entries(query ?? {}).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return entries.length === 0 ? `${baseUrl}${path}` : `${baseUrl}${path}?${new URLSearchParams(entries).toString()}`;
}

/**
 * Converts a rejection of `fetch`: a TypeError after a network failure, the signal's reason after
 * an abort.
 */
function toNetworkError(cause: unknown, signal: AbortSignal | undefined): PortalError {
  if (signal?.aborted === true) return new PortalError("cancelled", { cause });
  const online = (globalThis as { navigator?: { onLine?: boolean } }).navigator?.onLine ?? true;
  return new PortalError(online ? "service_unavailable" : "offline", { cause });
}

async function toResponseError(response: Response, path: string): Promise<PortalError> {
  const { code: statusCode, title } = describeStatus(response.status);
  const body = await readBody(response);
  const parsed = ProblemDocument.safeParse(body);
  const problem = parsed.success ? parsed.data : null; // without it only the status determines the code
  const cause = new HttpError({
    status: response.status,
    statusText: title === genericTitle ? response.statusText : title,
    path,
    requestId: response.headers.get("x-request-id"),
    problem,
    body,
  });
  const retryAfter = response.headers.get("retry-after");
  const triesLeft = problem?.["tries_left"];
  const details: ErrorDetails = {
    ...(retryAfter === null ? {} : { retry_after: retryAfter }),
    ...(typeof triesLeft === "number" ? { tries_left: triesLeft } : {}),
  };
  return new PortalError(problem !== null && isErrorCode(problem.code) ? problem.code : statusCode, { cause, details });
}

/**
 * Reads the body. Returns parsed JSON, or the text if it is not JSON; null when the body is empty
 * or the connection broke.
 */
async function readBody(response: Response): Promise<unknown> {
  const text = await response.text().catch(() => "");
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return text; // for example an error page of a proxy
  }
}

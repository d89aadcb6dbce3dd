import type { z } from "zod";

import type { Http, HttpMethod, HttpOptions, HttpStream } from "../contract/http.ts";
import { errorOfStatus, genericTitle, HttpError, isErrorCode, isPortalError, PortalError, type ErrorDetails } from "../errors/index.ts";
import { ProblemDocument } from "./problem.ts";

export interface HttpSettings {
  /** Without a trailing slash, such as `https://portal.example/api`. */
  readonly baseUrl: string;
  /** The session token, or null for calls without one. Asked for before each attempt. */
  readonly token: () => Promise<string | null>;
  /** Whether cookies go along. */
  readonly credentials?: boolean;
  /** The language that the person chose, such as `es`: mails are written in it. Without it the browser sends its own. */
  readonly language?: () => string;
  readonly fetch?: typeof globalThis.fetch;
  /** Attempts after the first one, for GET alone: as in {@link readRetries}, or 0 where the caller makes its own. */
  readonly retries?: number;
  /** Waits between attempts; a seam for tests. */
  readonly pause?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

/** How often a read that failed is tried again, and how long after that many failures: here, or by the query cache of a page. */
export const readRetries = { times: 3, pauseMs: (failures: number) => 350 * 2 ** (failures - 1) } as const;

/**
 * A read that failed so may pass the next time: it got no answer, or the service has a fault. Only a failure of the call itself,
 * which has what fetch or the service said for its cause: what comes from the vault's worker has none, and what the token
 * exchange met is a PortalError itself. Both were tried again where they were made.
 */
export function readMayPass(error: unknown): boolean {
  if (!isPortalError(error, "service_unavailable", "internal_error")) return false;
  return error.cause instanceof HttpError || error.cause instanceof TypeError;
}

/** Calls to the service as the contract describes them. */
export function createHttp(settings: HttpSettings): Http {
  const send = settings.fetch ?? globalThis.fetch.bind(globalThis);
  const pause = settings.pause ?? pauseFor;
  const retries = settings.retries ?? readRetries.times;

  async function respond(method: HttpMethod, path: string, options: HttpOptions, accept: string): Promise<Response> {
    const token = await settings.token();
    const headers = new Headers(options.headers);
    headers.set("accept", accept);
    if (settings.language !== undefined) headers.set("accept-language", settings.language());
    const { body } = options;
    const isForm = body instanceof FormData; // the browser writes its content type, with the boundary
    if (body !== undefined && !isForm) headers.set("content-type", "application/json");
    if (token !== null) headers.set("authorization", `Bearer ${token}`);

    let response: Response;
    try {
      response = await send(addressOf(settings.baseUrl, path, options.query), {
        method,
        headers,
        credentials: settings.credentials === true ? "include" : "omit",
        cache: "no-store",
        redirect: "error",
        ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      });
    } catch (cause) {
      throw failureOf(cause, options.signal);
    }
    if (!response.ok) throw await errorOf(response, path);
    return response;
  }

  async function attempt(method: HttpMethod, path: string, options: HttpOptions): Promise<unknown> {
    const response = await respond(method, path, options, "application/json");
    if (response.status === 204) return null;
    try {
      return await response.json();
    } catch (cause) {
      if (options.signal?.aborted === true) throw new PortalError("cancelled", { cause });
      throw new PortalError("bad_answer", { cause });
    }
  }

  async function request<T>(method: HttpMethod, path: string, answer: z.ZodType<T>, options: HttpOptions = {}): Promise<T> {
    for (let failures = 1; ; failures++) {
      try {
        const parsed = answer.safeParse(await attempt(method, path, options));
        if (!parsed.success) throw new PortalError("bad_answer", { cause: parsed.error });
        return parsed.data;
      } catch (error) {
        if (method !== "GET" || failures > retries || !readMayPass(error)) throw error;
        await pause(readRetries.pauseMs(failures), options.signal);
      }
    }
  }

  async function stream(method: HttpMethod, path: string, options: HttpOptions = {}): Promise<HttpStream> {
    const response = await respond(method, path, options, "application/octet-stream");
    const extent = extentOf(response);
    if (response.body === null || extent === null) throw new PortalError("bad_answer");
    return { ...extent, body: sayingWhy(response.body, options.signal) };
  }

  return Object.freeze({ request, stream });
}

/** The same bytes; a broken connection is told as a PortalError. */
function sayingWhy(body: ReadableStream<Uint8Array<ArrayBuffer>>, signal: AbortSignal | undefined): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  return new ReadableStream({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (cause) {
        controller.error(failureOf(cause, signal));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Where the bytes of an answer stand in the whole (RFC 9110 14.4); null when it does not say. */
function extentOf(response: Response): { start: number; size: number } | null {
  const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(response.headers.get("content-range") ?? "");
  if (response.status === 206) return range === null ? null : { start: Number(range[1]), size: Number(range[2]) };
  const length = response.headers.get("content-length") ?? "";
  return /^\d+$/.test(length) ? { start: 0, size: Number(length) } : null;
}

function addressOf(baseUrl: string, path: string, query: HttpOptions["query"]): string {
  const entries = Object.entries(query ?? {}).flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, String(value)]]));
  return entries.length === 0 ? `${baseUrl}${path}` : `${baseUrl}${path}?${new URLSearchParams(entries).toString()}`;
}

/** fetch rejects with a TypeError for every network failure and with the signal's reason when it was aborted. */
function failureOf(cause: unknown, signal: AbortSignal | undefined): PortalError {
  if (signal?.aborted === true) return new PortalError("cancelled", { cause });
  const online = (globalThis as { navigator?: { onLine?: boolean } }).navigator?.onLine ?? true;
  return new PortalError(online ? "service_unavailable" : "offline", { cause });
}

async function errorOf(response: Response, path: string): Promise<PortalError> {
  const { code: statusCode, title } = errorOfStatus(response.status);
  const body = await bodyOf(response);
  const parsed = ProblemDocument.safeParse(body);
  const problem = parsed.success ? parsed.data : null; // no problem document: the status speaks
  const cause = new HttpError({
    status: response.status,
    statusText: title === genericTitle ? response.statusText : title,
    path,
    requestId: response.headers.get("x-request-id"),
    problem,
    body,
  });
  const retryAfter = response.headers.get("retry-after");
  const details: ErrorDetails = retryAfter === null ? {} : { retry_after: retryAfter };
  return new PortalError(problem !== null && isErrorCode(problem.code) ? problem.code : statusCode, { cause, details });
}

/** Parsed where it is JSON, text otherwise; null when there is none, or when it broke off. */
async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text().catch(() => "");
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return text; // a page of some server in between
  }
}

function pauseFor(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new PortalError("cancelled", { cause: signal?.reason }));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

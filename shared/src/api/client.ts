import type { z } from "zod";

import type { Http, HttpMethod, HttpOptions } from "../contract/http.ts";
import { errorOfStatus, genericTitle, HttpError, isErrorCode, PortalError, type ErrorDetails } from "../errors/index.ts";
import { ProblemDocument } from "./problem.ts";

export interface HttpSettings {
  /** Without a trailing slash, such as `https://portal.example/api`. */
  readonly baseUrl: string;
  /** The session token, or null for calls without one. Asked for before each attempt. */
  readonly token: () => Promise<string | null>;
  /** Whether cookies go along. */
  readonly credentials?: boolean;
  readonly fetch?: typeof globalThis.fetch;
  /** Waits between attempts; a seam for tests. */
  readonly pause?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

/** Attempts after the first one, for GET alone. */
const retries = 3;
const firstPauseMilliseconds = 350;

/** Calls to the service as the contract describes them. */
export function createHttp(settings: HttpSettings): Http {
  const send = settings.fetch ?? globalThis.fetch.bind(globalThis);
  const pause = settings.pause ?? pauseFor;

  async function attempt(method: HttpMethod, path: string, options: HttpOptions): Promise<unknown> {
    const token = await settings.token();
    const headers = new Headers(options.headers);
    headers.set("accept", "application/json");
    if (options.body !== undefined) headers.set("content-type", "application/json");
    if (token !== null) headers.set("authorization", `Bearer ${token}`);

    let response: Response;
    try {
      response = await send(addressOf(settings.baseUrl, path, options.query), {
        method,
        headers,
        credentials: settings.credentials === true ? "include" : "omit",
        cache: "no-store",
        redirect: "error",
        ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      });
    } catch (cause) {
      throw failureOf(cause, options.signal);
    }
    if (!response.ok) throw await errorOf(response, path);
    if (response.status === 204) return null;
    try {
      return await response.json();
    } catch (cause) {
      if (options.signal?.aborted === true) throw new PortalError("cancelled", { cause });
      throw new PortalError("bad_answer", { cause });
    }
  }

  async function request<T>(method: HttpMethod, path: string, answer: z.ZodType<T>, options: HttpOptions = {}): Promise<T> {
    for (let done = 0; ; done++) {
      try {
        const parsed = answer.safeParse(await attempt(method, path, options));
        if (!parsed.success) throw new PortalError("bad_answer", { cause: parsed.error });
        return parsed.data;
      } catch (error) {
        if (method !== "GET" || done >= retries || !mayPass(error)) throw error;
        await pause(firstPauseMilliseconds * 2 ** done, options.signal);
      }
    }
  }

  return Object.freeze({ request });
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

function mayPass(error: unknown): boolean {
  return error instanceof PortalError && (error.code === "service_unavailable" || error.code === "internal_error");
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

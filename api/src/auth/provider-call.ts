import { Problem } from "../http/problem.ts";
import { getTraceHeaders } from "../http/request-trace.ts";

/** A person is waiting. */
const defaultTimeoutSeconds = 10;

export interface ProviderResponse {
  readonly status: number;
  /** Parsed JSON; null if empty or invalid. */
  readonly body: unknown;
}

/**
 * Calls the identity provider, without retries or redirects: passwords reach only the configured
 * address.
 *
 * @throws Problem `service_unavailable` when it does not respond, responds 5xx, or refuses this
 *   service's credentials (403); `too_many_requests` for 429. The cause contains status and URL,
 *   nothing that was sent.
 */
export async function callProvider(
  url: string,
  init: {
    readonly method: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string | URLSearchParams;
  },
  timeoutSeconds = defaultTimeoutSeconds,
): Promise<ProviderResponse> {
  const response = await fetch(url, {
    ...init,
    headers: { ...init.headers, ...getTraceHeaders() },
    redirect: "error",
    signal: AbortSignal.timeout(timeoutSeconds * 1_000),
  }).catch((cause: unknown) => {
    throw new Problem("service_unavailable", { cause });
  });
  const { status } = response;
  if (status === 429)
    throw new Problem("too_many_requests", { headers: { "retry-after": response.headers.get("retry-after") ?? "60" } });
  if (status >= 500 || status === 403)
    throw new Problem("service_unavailable", { cause: new Error(`the identity provider answered ${String(status)}`) });
  return { status, body: parseJson(await response.text().catch(() => "")) };
}

/** @throws Problem `service_unavailable`: the response does not fit the interface. */
export function throwUnexpectedResponse({ status }: ProviderResponse): never {
  throw new Problem("service_unavailable", { cause: new Error(`the identity provider answered ${String(status)}`) });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // a proxy's error page
  }
}

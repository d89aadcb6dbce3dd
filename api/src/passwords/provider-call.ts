import { Problem } from "../http/problem.ts";

/** Whoever changes a password waits for it. */
const callTimeoutSeconds = 10;

export interface ProviderResponse {
  readonly status: number;
  /** Parsed JSON; null for none, and for what is no JSON. */
  readonly body: unknown;
}

/**
 * One call to the identity provider, never repeated. No redirect is followed: passwords go to the
 * configured address alone.
 *
 * @throws Problem `service_unavailable` when it does not answer, answers 5xx, or does not take this
 *   service's own credentials (403); `too_many_requests` for 429. The cause names status and
 *   address, and nothing that was sent.
 */
export async function callProvider(
  url: string,
  init: {
    readonly method: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string | URLSearchParams;
  },
): Promise<ProviderResponse> {
  const response = await fetch(url, {
    ...init,
    redirect: "error",
    signal: AbortSignal.timeout(callTimeoutSeconds * 1_000),
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

/**
 * @throws Problem `service_unavailable`, always: the provider said what its interface does not
 *   know.
 */
export function throwUnexpectedResponse({ status }: ProviderResponse): never {
  throw new Problem("service_unavailable", { cause: new Error(`the identity provider answered ${String(status)}`) });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // an error page of a proxy
  }
}

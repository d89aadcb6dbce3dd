import { ProviderJwks } from "@relicario/shared/api";
import type { HttpClient } from "@relicario/shared/contract";
import { PortalError, type ErrorCode } from "@relicario/shared/errors";
import { z } from "zod";

/** The checks. `trust`: whether the service knows the provider's signing keys. */
export const healthNames = ["portal", "service", "identity", "trust"] as const;
export type HealthName = (typeof healthNames)[number];

/** Null when the check succeeds. */
export type HealthFailure = ErrorCode | null;

export interface HealthDeps {
  readonly origin: string;
  readonly authority: string;
  /** HTTP client without a token. */
  readonly publicHttp: HttpClient;
  readonly fetch: typeof globalThis.fetch;
  /** Creates a signal that aborts after the given time; replaced in tests. */
  readonly timeLimit?: (milliseconds: number) => AbortSignal;
}

const healthLimitMs = 8000;

/** Runs a check. Rejects when the response is missing or wrong. */
export async function checkHealth(name: HealthName, deps: HealthDeps): Promise<void> {
  switch (name) {
    case "portal":
      return fetchOk(`${deps.origin}/healthz`, deps);
    case "service":
      await deps.publicHttp.request("GET", "/readyz", z.unknown());
      return;
    case "identity":
      return fetchOk(`${deps.authority.replace(/\/$/, "")}/.well-known/openid-configuration`, deps);
    case "trust": {
      const { keys } = await deps.publicHttp.request("GET", "/auth/certs", ProviderJwks);
      if (keys.length === 0) throw new PortalError("bad_answer");
      return;
    }
  }
}

async function fetchOk(
  address: string,
  { fetch, timeLimit = (milliseconds) => AbortSignal.timeout(milliseconds) }: HealthDeps,
): Promise<void> {
  const signal = timeLimit(healthLimitMs);
  let response: Response;
  try {
    response = await fetch(address, { cache: "no-store", credentials: "omit", signal });
  } catch (cause) {
    if (signal.aborted) throw new PortalError("timed_out", { cause });
    throw new PortalError(navigator.onLine ? "service_unavailable" : "offline", { cause });
  }
  if (!response.ok) throw new PortalError("service_unavailable");
}

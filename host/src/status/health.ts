import { ProviderJwks } from "@relicario/shared/api";
import type { HttpClient } from "@relicario/shared/contract";
import { PortalError, type ErrorCode } from "@relicario/shared/errors";
import { z } from "zod";

/**
 * What is checked. `trust`: whether the service knows the keys that the sign-in provider signs
 * with.
 */
export const healthNames = ["portal", "service", "identity", "trust"] as const;
export type HealthName = (typeof healthNames)[number];

/** Null when it answers, otherwise why not. */
export type HealthFailure = ErrorCode | null;

export interface HealthDeps {
  readonly origin: string;
  readonly authority: string;
  /** Calls without a token. */
  readonly http: HttpClient;
  readonly fetch: typeof globalThis.fetch;
  /** A seam for tests: a signal that aborts after so many milliseconds. */
  readonly timeLimit?: (milliseconds: number) => AbortSignal;
}

/** Time limit of one check. */
const healthLimitMs = 8000;

/** Runs one check. Rejects with the reason when the answer is missing or wrong. */
export async function checkHealth(name: HealthName, deps: HealthDeps): Promise<void> {
  switch (name) {
    case "portal":
      return fetchOk(`${deps.origin}/healthz`, deps);
    case "service":
      await deps.http.request("GET", "/readyz", z.unknown());
      return;
    case "identity":
      return fetchOk(`${deps.authority.replace(/\/$/, "")}/.well-known/openid-configuration`, deps);
    case "trust": {
      const { keys } = await deps.http.request("GET", "/auth/certs", ProviderJwks);
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

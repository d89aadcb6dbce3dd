import { randomBytes } from "node:crypto";

import { createFetch } from "@relicario/api/testing/fetch";
import { startService, type TestService } from "@relicario/api/testing/service";
import { createHttpClient, minPartBytes, TokenExchangeBody } from "@relicario/shared/api";
import type { HttpClient } from "@relicario/shared/contract";

/**
 * The real service in this process, with its own database, minimum part size and a small limit of
 * former versions.
 */
export interface RealService {
  /** Signs a person in. Returns an HTTP client with that session. */
  readonly signIn: (subject: string) => Promise<HttpClient>;
  readonly visitor: HttpClient;
  readonly now: () => number;
  /** Sets its clock ahead of the real time. */
  readonly setClockOffset: (milliseconds: number) => void;
  readonly testService: TestService;
}

export const maxFormerVersions = 2;

export const createSubject = (): string => `person-${randomBytes(4).toString("hex")}`;

const vendor = {
  vendor_id: "relicario",
  name: "Relicario",
  part_bytes: minPartBytes,
  former_versions: maxFormerVersions,
};

export async function startRealService(): Promise<RealService> {
  let clockOffsetMs = 0;
  const now = (): number => Date.now() + clockOffsetMs;
  const testService = await startService({ VENDORS: JSON.stringify([vendor]) }, () => new Date(now()));
  const createClient = (token: string | null): HttpClient =>
    createHttpClient({
      baseUrl: testService.origin,
      getToken: () => Promise.resolve(token),
      fetch: createFetch(testService.app),
      retries: 0,
    });
  const visitor = createClient(null);
  return {
    signIn: async (subject) => {
      const token = await testService.issuer.createAccessToken(subject, { auth_time: Math.floor(now() / 1_000) });
      return createClient(
        (
          await visitor.request("POST", "/auth/token", TokenExchangeBody, {
            query: { app_vendor_id: vendor.vendor_id },
            body: { token },
          })
        ).token,
      );
    },
    visitor,
    now,
    setClockOffset: (milliseconds) => {
      clockOffsetMs = milliseconds;
    },
    testService,
  };
}

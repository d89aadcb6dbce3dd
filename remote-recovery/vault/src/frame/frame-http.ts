import { createAuthorisedHttpClient, createHttpClient } from "@relicario/shared/api";
import type { Channel, HttpClient } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { decodeJwt } from "jose";
import { z } from "zod";

export interface FrameHttpClients {
  /**
   * With the session token, which the portal's page gives and renews. Sends no token of another
   * account than this one, and reports one: nothing may be saved into that account.
   */
  readonly forAccount: (userId: string, onOtherAccount: () => void) => HttpClient;
  /** With the session token of whoever is signed in. */
  readonly forVisitor: HttpClient;
  readonly anonymous: HttpClient;
}

/**
 * Clients of the service at the frame's own origin. They retry failed reads, and tell the portal
 * about outages.
 *
 * @param apiUrl without a trailing slash
 */
export function createFrameHttpClients(channel: Channel, apiUrl: string): FrameHttpClients {
  const callPortal = (name: string, args: readonly unknown[] = []): Promise<unknown> =>
    channel.call("portal", [name], args);
  let isReportedDown = false;
  const report = (isUp: boolean): void => {
    if (isUp && !isReportedDown) return;
    isReportedDown = !isUp;
    callPortal("reportReachable", [isUp]).catch(() => undefined); // the page is gone
  };
  const observe = (http: HttpClient): HttpClient => ({
    ...http,
    request: async (method, path, schema, options) => {
      try {
        const result = await http.request(method, path, schema, options);
        report(true);
        return result;
      } catch (error) {
        if (isPortalError(error, "service_unavailable")) report(false);
        throw error;
      }
    },
  });
  const createWithToken = (check: (token: string) => void): HttpClient =>
    observe(
      createAuthorisedHttpClient(
        { baseUrl: apiUrl },
        {
          getToken: async () => {
            const token = z.string().parse(await callPortal("getToken"));
            check(token);
            return token;
          },
          renew: () => callPortal("renewToken"),
        },
      ),
    );
  return {
    forAccount: (userId, onOtherAccount) =>
      createWithToken((token) => {
        if (readUserId(token) === userId) return;
        onOtherAccount();
        throw new PortalError("login_required");
      }),
    forVisitor: createWithToken(() => undefined),
    anonymous: observe(createHttpClient({ baseUrl: apiUrl, getToken: () => Promise.resolve(null) })),
  };
}

/** The service verifies the token: a forged one is refused there. Null for what is no token. */
function readUserId(token: string): string | null {
  try {
    return decodeJwt(token).sub ?? null;
  } catch {
    return null; // no token of any account
  }
}

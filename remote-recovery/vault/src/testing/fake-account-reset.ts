import type { AccountReset } from "@relicario/shared/api";
import type { HttpClient, HttpMethod, HttpRequestOptions } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import type { z } from "zod";

import type { FakeService } from "./fake-service.ts";

const path = "/user/start-anew";
const [askedAt, readyAt, endedAt, keptUntil] = [
  "2026-11-10T09:00:00.000Z",
  "2026-11-17T09:00:00.000Z",
  "2026-11-18T09:00:00.000Z",
  "2026-12-18T09:00:00.000Z",
];

/**
 * Adds the calls of an account reset to the client of one sign-in, by the service's rules. The fake
 * service itself applies the reset.
 */
export function withAccountReset(
  service: FakeService,
  http: HttpClient,
  initialState: AccountReset["state"] = "none",
): HttpClient {
  let state = initialState;
  const isOpen = (): boolean => state === "waiting" || state === "ready";
  if (state === "ready") service.account.accountReset = "ready";
  const presentStatus = (): AccountReset => {
    if (service.account.accountReset === "begun") state = "begun";
    if (state === "none") return { state, asked_at: null, ready_at: null, ended_at: null, kept_until: null };
    return {
      state,
      asked_at: askedAt,
      ready_at: readyAt,
      ended_at: isOpen() ? null : endedAt,
      kept_until: state === "begun" ? keptUntil : null,
    };
  };
  const handle = (method: HttpMethod, { query = {} }: HttpRequestOptions): void => {
    if (method === "POST" && service.account.keyring === null) throw new PortalError("no_keyring");
    if (method === "POST" && !isOpen()) state = "waiting";
    if (method === "DELETE" && isOpen()) {
      state = query["reason"] === "objected" ? "objected" : "cancelled";
      delete service.account.accountReset;
    }
  };
  return {
    ...http,
    request: async <T>(
      method: HttpMethod,
      calledPath: string,
      schema: z.ZodType<T>,
      options: HttpRequestOptions = {},
    ): Promise<T> => {
      if (calledPath !== path) return http.request(method, calledPath, schema, options);
      handle(method, options);
      return schema.parse(presentStatus());
    },
  };
}

import type { Me } from "@relicario/shared/api";
import { HttpError, PortalError } from "@relicario/shared/errors";
import { createFakeHttpClient, renderApp, type FakeHttpClient } from "@relicario/shared/testing";

import remote from "../remote.tsx";
import { account } from "./account.ts";

/** An account without a contact address. */
export const me: Me = { ...account, contact_email: null, contact_email_verified: false };

/** Fakes the service: applies updates and returns the result. */
export function createService(overrides: Partial<Me> = {}): FakeHttpClient {
  let currentMe: Me = { ...me, ...overrides };
  return createFakeHttpClient({
    "GET /user/me": () => currentMe,
    "POST /user/me": ({ body }) => (currentMe = { ...currentMe, ...(body as Partial<Me>) }),
    "POST /user/validate-username": () => ({ valid: true }),
    "POST /user/send-validate-email": () => null,
    "GET /user/password": () => ({
      changeable: true,
      rules: [{ rule: "min_length", value: 10 }, { rule: "not_common" }],
    }),
    "POST /user/change-password": () => null,
    "GET /user/billing": () => ({
      plan: "free",
      use: { storage_quota: 10, storage_used: 1, secrets: 0, shares: 0 },
      invoices: [],
    }),
    "POST /user/feedback": () => null,
    "GET /user/sessions": () => ({
      sessions: [
        {
          id: me.user_id,
          current: true,
          device: "Firefox, Linux",
          address: "192.0.2.x",
          signed_in_at: me.created_at,
          last_seen_at: me.created_at,
        },
      ],
    }),
    "GET /user/activity": () => ({
      entries: [
        {
          id: me.user_id,
          at: me.created_at,
          kind: "signed_in",
          count: 1,
          secret: null,
          device: "Firefox, Linux",
          address: "192.0.2.x",
        },
      ],
      next_cursor: null,
    }),
  });
}

/** Creates a `validation_error` like that of the HTTP client. */
export function createValidationError(
  path: string,
  errors: readonly { readonly path: string; readonly reason: string }[],
): PortalError {
  return new PortalError("validation_error", {
    cause: new HttpError({
      status: 422,
      statusText: "Validation Error",
      path,
      requestId: null,
      problem: { title: "Validation Error", status: 422, code: "validation_error", errors },
    }),
  });
}

/** Renders the screen at a path, like the host. */
export const renderPage = (path: string, settings: Parameters<typeof renderApp>[1] = {}) =>
  renderApp(null, { routes: remote.routes, routePattern: "/elsewhere", path, http: createService(), ...settings });

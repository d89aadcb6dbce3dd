import { z } from "zod";

import type { KeycloakAdmin as KeycloakSettings } from "../env/env.ts";
import { callProvider, throwUnexpectedResponse, type ProviderResponse } from "./provider-call.ts";

/** Keycloak's admin REST API for one realm, as a confidential client with a service account. */
export interface KeycloakAdmin {
  /**
   * Calls a path below the realm.
   *
   * @throws Problem `service_unavailable`, also when the client's credentials are refused;
   *   `too_many_requests`
   */
  call(method: string, path: string, body?: unknown): Promise<ProviderResponse>;
  /** Calls the token endpoint as this client. Throws as `call` does. */
  requestToken(grant: Readonly<Record<string, string>>): Promise<ProviderResponse>;
}

const AdminToken = z.looseObject({ access_token: z.string(), expires_in: z.number() });

/** How long before its expiry an admin token is replaced. */
const tokenLeadSeconds = 30;

/** @param timeoutSeconds of each call; 10 by default */
export function createKeycloakAdmin(
  { url, realm, client_id, client_secret }: KeycloakSettings,
  timeoutSeconds?: number,
): KeycloakAdmin {
  const adminUrl = `${url}/admin/realms/${encodeURIComponent(realm)}`;
  const tokenUrl = `${url}/realms/${encodeURIComponent(realm)}/protocol/openid-connect/token`;
  let token: { readonly value: string; readonly expiresAt: number } | null = null;

  const requestToken: KeycloakAdmin["requestToken"] = (grant) =>
    callProvider(
      tokenUrl,
      { method: "POST", body: new URLSearchParams({ client_id, client_secret, ...grant }) },
      timeoutSeconds,
    );

  async function getAdminToken(): Promise<string> {
    if (token !== null && performance.now() < token.expiresAt) return token.value;
    const response = await requestToken({ grant_type: "client_credentials" });
    const adminToken = AdminToken.safeParse(response.body);
    if (response.status !== 200 || !adminToken.success) return throwUnexpectedResponse(response);
    const { access_token: value, expires_in: seconds } = adminToken.data;
    token = { value, expiresAt: performance.now() + (seconds - tokenLeadSeconds) * 1_000 };
    return value;
  }

  const callWithToken = async (method: string, path: string, body: unknown): Promise<ProviderResponse> =>
    callProvider(
      `${adminUrl}${path}`,
      {
        method,
        headers: { authorization: `Bearer ${await getAdminToken()}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      },
      timeoutSeconds,
    );

  return {
    requestToken,
    async call(method, path, body) {
      const response = await callWithToken(method, path, body);
      if (response.status !== 401) return response;
      token = null; // the provider has new keys, or restarted without its sessions
      return callWithToken(method, path, body);
    },
  };
}

const User = z.looseObject({ enabled: z.boolean() });

/**
 * Whether the person exists and may sign in.
 *
 * @throws as {@link KeycloakAdmin.call} does
 */
export async function isUserEnabled(admin: KeycloakAdmin, subject: string): Promise<boolean> {
  const response = await admin.call("GET", `/users/${encodeURIComponent(subject)}`);
  if (response.status === 404) return false;
  const user = User.safeParse(response.body);
  return response.status === 200 && user.success ? user.data.enabled : throwUnexpectedResponse(response);
}

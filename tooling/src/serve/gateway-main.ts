/** The gateway as a process. */
import { PortalTrustAnchors } from "@relicario/shared/contract";
import { z } from "zod";

import { TrustedProxies } from "./address.ts";
import { jsonSetting, readEnvironment } from "./environment.ts";
import { buildGateway } from "./gateway.ts";
import { ServeLimits } from "./limits.ts";
import { serve } from "./serve.ts";
import { resolveRemoteAddresses, Upstreams } from "./upstreams.ts";

const HttpUrl = z.url({ protocol: /^https?$/, error: "is not an http(s) address" });

const settings = readEnvironment("gateway", {
  GATEWAY_HOST: z.string().min(1).default("localhost"),
  GATEWAY_PORT: z.coerce.number().int().min(0).max(65_535).default(3000),
  PUBLIC_ORIGIN: HttpUrl,
  HOST_FOLDER: z.string().min(1),
  DEPLOYMENTS_FOLDER: z.string().min(1),
  /** Vendor and public keys, as the page gets them. */
  PORTAL_PAGE: jsonSetting(PortalTrustAnchors),
  IDP_AUTHORITY: HttpUrl,
  API_BASE_URL: HttpUrl,
  /** The service and the remotes, as this process reaches them. */
  UPSTREAMS: jsonSetting(Upstreams),
  /** Whose `X-Forwarded-…` headers are believed. */
  TRUSTED_PROXIES: TrustedProxies.prefault(""),
  /**
   * Other limits than the usual ones, by name (limits.ts), such as `{"callsOfAddress":2000}` for a
   * large office.
   */
  GATEWAY_LIMITS: jsonSetting(ServeLimits).prefault("{}"),
});

const app = await buildGateway({
  origin: settings.PUBLIC_ORIGIN,
  hostFolder: settings.HOST_FOLDER,
  deploymentsFolder: settings.DEPLOYMENTS_FOLDER,
  page: settings.PORTAL_PAGE,
  identityOrigin: new URL(settings.IDP_AUTHORITY).origin,
  apiBase: settings.API_BASE_URL.replace(/\/+$/, ""),
  service: settings.UPSTREAMS.api,
  trustedProxies: settings.TRUSTED_PROXIES,
  limits: settings.GATEWAY_LIMITS,
  // Whoever has a team's key in the page has a place behind the gateway.
  remotes: resolveRemoteAddresses(settings.UPSTREAMS, Object.keys(settings.PORTAL_PAGE.team_keys)),
});
await serve(app, { host: settings.GATEWAY_HOST, port: settings.GATEWAY_PORT });

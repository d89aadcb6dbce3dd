import { Origin, PortalTrustAnchors } from "@relicario/shared/contract";
import { z } from "zod";

import { TrustedProxies } from "../http/address.ts";
import { LogLevel } from "../http/logging.ts";
import { MetricsToken } from "../http/register-metrics.ts";
import { startTracing } from "../tracing/index.ts";
import { jsonSetting, readEnvironment } from "./environment.ts";
import { buildGateway } from "./gateway.ts";
import { ServeLimits } from "./limits.ts";
import { serve } from "./serve.ts";
import { resolveRemoteAddresses, Upstreams } from "./upstreams.ts";

const HttpUrl = z.url({ protocol: /^https?$/, error: "is not an http(s) address" });

await startTracing();
const settings = readEnvironment("gateway", {
  GATEWAY_HOST: z.string().min(1).default("localhost"),
  GATEWAY_PORT: z.coerce.number().int().min(0).max(65_535).default(3000),
  PUBLIC_ORIGIN: HttpUrl,
  VAULT_ORIGIN: Origin,
  /** Where it listens for the vault's origin too, if that has another port. */
  VAULT_PORT: z.coerce.number().int().min(1).max(65_535).optional(),
  DEVELOPMENT_ORIGIN: Origin.optional(),
  HOST_FOLDER: z.string().min(1),
  DEPLOYMENTS_FOLDER: z.string().min(1),
  PORTAL_PAGE: jsonSetting(PortalTrustAnchors),
  IDP_AUTHORITY: HttpUrl,
  API_BASE_URL: HttpUrl,
  UPSTREAMS: jsonSetting(Upstreams),
  TRUSTED_PROXIES: TrustedProxies.prefault(""),
  /** Replaces limits by name (limits.ts), such as `{"callsOfAddress":2000}` for a large office. */
  GATEWAY_LIMITS: jsonSetting(ServeLimits).prefault("{}"),
  LOG_LEVEL: LogLevel,
  METRICS_TOKEN: MetricsToken.optional(),
});

const app = await buildGateway({
  origin: settings.PUBLIC_ORIGIN,
  vaultOrigin: settings.VAULT_ORIGIN,
  developmentOrigin: settings.DEVELOPMENT_ORIGIN,
  hostFolder: settings.HOST_FOLDER,
  deploymentsFolder: settings.DEPLOYMENTS_FOLDER,
  trustAnchors: settings.PORTAL_PAGE,
  identityOrigin: new URL(settings.IDP_AUTHORITY).origin,
  apiBase: settings.API_BASE_URL.replace(/\/+$/, ""),
  serviceAddress: settings.UPSTREAMS.api,
  trustedProxies: settings.TRUSTED_PROXIES,
  limits: settings.GATEWAY_LIMITS,
  logLevel: settings.LOG_LEVEL,
  metricsToken: settings.METRICS_TOKEN,
  // Every remote with a team key in the page is served.
  remoteAddresses: resolveRemoteAddresses(settings.UPSTREAMS, Object.keys(settings.PORTAL_PAGE.team_keys)),
});
await serve(app, {
  host: settings.GATEWAY_HOST,
  port: settings.GATEWAY_PORT,
  secondPort: settings.VAULT_PORT,
});

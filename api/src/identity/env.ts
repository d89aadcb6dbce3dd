import {
  ConnectionLimits,
  LogLevel,
  MetricsToken,
  TrustedProxies,
  type ProxyTrustCheck,
} from "@relicario/tooling/http";
import { z } from "zod";

import { jsonSetting } from "../env/json-setting.ts";

const Client = z.strictObject({
  client_id: z.string().min(1),
  redirect_uris: z.array(z.url()).min(1),
  post_logout_redirect_uris: z.array(z.url()).min(1),
  /** Pages of these origins may call the token endpoint and frame the session check. */
  origins: z.array(z.url().refine((value) => new URL(value).origin === value, "is not an origin")).min(1),
});
export type Client = z.infer<typeof Client>;

/** A private signing key, as {@link file://./generate-keys.ts} generates it. */
const SigningKey = z.looseObject({
  kty: z.literal("RSA"),
  kid: z.string(),
  alg: z.literal("RS256"),
  use: z.literal("sig"),
  n: z.string(),
  e: z.string(),
  d: z.string(),
});

export const IdentityLimits = ConnectionLimits.extend({
  /** Each call takes up to two of ten database connections. */
  turnsOfAddress: z.int().positive().default(4),
  /** Sign-in pages per IP address and minute: each is a row for an hour. */
  signInPagesOfAddress: z.int().positive().default(600),
});
type IdentityLimits = Readonly<z.infer<typeof IdentityLimits>>;

const DemoAccount = z.strictObject({ username: z.string(), email: z.string(), password: z.string() });

const Issuer = z
  .url({ protocol: /^https?$/ })
  .refine(
    (value) => new URL(value).pathname.length > 1 && !value.endsWith("/"),
    "needs a path, without a slash at its end",
  );

const Environment = z.object({
  IDENTITY_PORT: z.coerce.number().int().min(0).max(65_535),
  IDENTITY_HOST: z.string().min(1).default("localhost"),
  IDENTITY_ISSUER: Issuer,
  IDENTITY_DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\//, "is not a postgresql:// address"),
  IDENTITY_CLIENTS: jsonSetting(z.array(Client).min(1)),
  IDENTITY_KEYS: jsonSetting(z.object({ keys: z.array(SigningKey).min(1) })),
  COOKIE_KEYS: jsonSetting(z.array(z.string().min(32)).min(1)),
  DEMO_ACCOUNT: jsonSetting(DemoAccount).optional(),
  /**
   * Bearer token for changes of passwords through `/admin` (admin-routes.ts); empty or absent:
   * `/admin` is off.
   */
  IDENTITY_ADMIN_TOKEN: z
    .string()
    .regex(/^([A-Za-z0-9._-]{32,256})?$/, "is not 32 to 256 letters, digits, dots, dashes or underscores")
    .optional(),
  LOG_LEVEL: LogLevel,
  METRICS_TOKEN: MetricsToken.optional(),
  PRODUCT_NAME: z.string().min(1).default("Relicario"),
  /** Proxies whose `X-Forwarded-For` is trusted, so that limits count the caller's IP address. */
  TRUSTED_PROXIES: TrustedProxies.prefault(""),
  /**
   * Replaces limits by name (above and in tooling/src/http/limits.ts), such as
   * `{"callsOfAddress":2000}`.
   */
  IDENTITY_LIMITS: jsonSetting(IdentityLimits).prefault("{}"),
  ACCESS_TOKEN_TTL: z.coerce.number().int().min(10).max(86_400).default(300),
});

/** Settings of the process. Times in seconds. */
export interface IdentitySettings {
  readonly port: number;
  readonly host: string;
  readonly issuer: string;
  readonly databaseUrl: string;
  readonly clients: readonly Client[];
  readonly keys: z.infer<typeof Environment>["IDENTITY_KEYS"];
  readonly cookieKeys: readonly string[];
  readonly demoAccount: z.infer<typeof DemoAccount> | undefined;
  readonly adminToken: string | undefined;
  readonly logLevel: z.infer<typeof LogLevel>;
  readonly metricsToken: string | undefined;
  readonly productName: string;
  readonly accessTokenTtl: number;
  readonly trustedProxies: ProxyTrustCheck;
  readonly limits: IdentityLimits;
}

/** @throws Error of one line that names every missing or invalid variable, without values. */
export function parseSettings(environment: Readonly<Record<string, string | undefined>>): IdentitySettings {
  const parsed = Environment.safeParse(environment);
  if (!parsed.success) {
    const problems = new Map(parsed.error.issues.map((issue) => [issue.path.join("."), issue.message]));
    throw new Error(
      `identity provider: wrong settings: ${[...problems].map(([name, message]) => `${name} (${message})`).join(", ")}`,
    );
  }
  const variables = parsed.data;
  return {
    port: variables.IDENTITY_PORT,
    host: variables.IDENTITY_HOST,
    issuer: variables.IDENTITY_ISSUER,
    databaseUrl: variables.IDENTITY_DATABASE_URL,
    clients: variables.IDENTITY_CLIENTS,
    keys: variables.IDENTITY_KEYS,
    cookieKeys: variables.COOKIE_KEYS,
    demoAccount: variables.DEMO_ACCOUNT,
    adminToken: variables.IDENTITY_ADMIN_TOKEN === "" ? undefined : variables.IDENTITY_ADMIN_TOKEN,
    logLevel: variables.LOG_LEVEL,
    metricsToken: variables.METRICS_TOKEN,
    productName: variables.PRODUCT_NAME,
    accessTokenTtl: variables.ACCESS_TOKEN_TTL,
    trustedProxies: variables.TRUSTED_PROXIES,
    limits: variables.IDENTITY_LIMITS,
  };
}

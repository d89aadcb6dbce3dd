import {
  maxFormerVersions,
  maxPartBytes,
  maxSealedBytes,
  minPartBytes,
  accountResetWaitDays,
  VendorId,
} from "@relicario/shared/api";
import { LogLevel, MetricsToken, TrustedProxies } from "@relicario/tooling/http";
import { isStoreAddress } from "@relicario/tooling/objects";
import { z } from "zod";

import { rateLimitNames } from "../http/rate-limits.ts";
import { jsonSetting } from "./json-setting.ts";
import { RecordKeys } from "./record-keys.ts";
import { ed25519PrivateJwk } from "./session-keys.ts";

const exactHttpUrl = z.url({ protocol: /^https?$/, error: "is not an http(s) address" });
const httpUrl = exactHttpUrl.transform((url) => url.replace(/\/+$/, ""));

const origin = httpUrl.refine((url) => URL.canParse(url) && new URL(url).origin === url, "is not an origin");

const ConfiguredVendor = z.strictObject({
  vendor_id: VendorId,
  name: z.string().min(1),
  enabled: z.boolean().default(true),
  quota_bytes: z.int().positive().optional(),
  content_bytes: z.int().positive().max(maxSealedBytes).optional(),
  part_bytes: z.int().min(minPartBytes).max(maxPartBytes).optional(),
  former_versions: z.int().positive().max(maxFormerVersions).optional(),
  share_days: z.int().positive().max(3_650).optional(),
  /** Origin of the vendor's own portal, for links in mails; PUBLIC_ORIGIN by default. */
  origin: origin.optional(),
});
export type ConfiguredVendor = z.infer<typeof ConfiguredVendor>;

const EmbeddedAdmin = z.strictObject({ kind: z.literal("embedded"), url: httpUrl, token: z.string().min(32) });
export type EmbeddedAdmin = z.infer<typeof EmbeddedAdmin>;

const KeycloakAdmin = z.strictObject({
  kind: z.literal("keycloak"),
  url: httpUrl,
  realm: z.string().min(1),
  client_id: z.string().min(1),
  client_secret: z.string().min(1),
});
export type KeycloakAdmin = z.infer<typeof KeycloakAdmin>;

const StoreAddress = z.string().min(1).refine(isStoreAddress, "is neither a folder nor s3://bucket/prefix");

const Environment = z.object({
  API_HOST: z.string().min(1).default("127.0.0.1"),
  /** 0: any free port; the ready line has it. */
  API_PORT: z.coerce.number("is not a port").int().min(0).max(65_535).default(0),
  /** With `?pooler=transaction` behind a pooler that shares connections between transactions. */
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: "is not a postgresql address" })
    .refine(
      (url) => !URL.canParse(url) || [null, "transaction"].includes(new URL(url).searchParams.get("pooler")),
      "names another pooler than transaction",
    ),
  /**
   * The same database with the right to change its schema, if not `DATABASE_URL`: another role, or
   * a connection without the pooler.
   */
  DATABASE_MIGRATION_URL: z.url({ protocol: /^postgres(ql)?$/, error: "is not a postgresql address" }).optional(),
  /** Timeout of a statement, in seconds. */
  DATABASE_SECONDS: z.coerce.number("is not a number").min(0.1).max(600).default(10),
  /**
   * Seconds for which the service still answers after readiness turned false, so that a load
   * balancer notices; 0 without one.
   */
  STOP_WAIT_SECONDS: z.coerce.number("is not a number").min(0).max(300).default(5),
  /** Seconds that calls in flight may take after that; then they are cut. */
  STOP_DRAIN_SECONDS: z.coerce.number("is not a number").min(0).max(3_600).default(20),
  /** A folder, or `s3://bucket/prefix?endpoint=…&region=…&style=path&profile=…`. */
  OBJECTS_URL: StoreAddress,
  /** Also read and deleted from, while objects move between two stores; empty or absent: none. */
  OBJECTS_SECOND_URL: z.union([z.literal("").transform(() => undefined), StoreAddress]).optional(),
  /** The issuer, exactly as in tokens, including a trailing slash. */
  IDP_AUTHORITY: exactHttpUrl,
  IDP_CLIENT_ID: z.string().min(1),
  IDP_AUDIENCE: z.string().min(1).default("relicario-api"),
  /**
   * Where this service fetches the provider's keys, if not from the address in its discovery
   * document.
   */
  IDP_JWKS_URL: httpUrl.optional(),
  /**
   * The provider's interface for passwords, as JSON; empty or absent: passwords are changed at the
   * provider.
   */
  IDP_ADMIN: z
    .union(
      [
        z.literal("").transform(() => undefined),
        jsonSetting(z.discriminatedUnion("kind", [EmbeddedAdmin, KeycloakAdmin])),
      ],
      "is not the interface of a provider",
    )
    .optional(),
  /**
   * Adopts the address that the provider has verified; empty or absent: people enter and confirm
   * one.
   */
  IDP_EMAIL: z.union([z.literal("").transform(() => undefined), z.literal("adopt")], "is not adopt").optional(),
  VENDORS: jsonSetting(z.array(ConfiguredVendor).min(1, "names no vendor")).default([
    { vendor_id: "relicario", name: "Relicario", enabled: true },
  ]),
  /** Origin of the portal, the only one allowed by CORS. */
  PUBLIC_ORIGIN: origin,
  /**
   * The address of this service in deployment documents, and issuer of session tokens; `/api` of
   * the origin by default.
   */
  API_BASE_URL: httpUrl.optional(),
  SESSION_TTL_SECONDS: z.coerce.number("is not a number").int().min(10).max(86_400).default(900),
  /** Seconds for which any device can object to an account reset; shorter only in tests. */
  START_ANEW_SECONDS: z.coerce
    .number("is not a number")
    .int()
    .min(1)
    .max(90 * 86_400)
    .default(accountResetWaitDays * 86_400),
  SESSION_KEYS: jsonSetting(z.object({ keys: z.array(ed25519PrivateJwk).min(1, "names no key") })),
  RECORD_KEY: RecordKeys,
  /**
   * A folder for `.eml` files, or `smtp://user:password@host:port`, `smtps://…`. With
   * `?tls=optional` a server without TLS is accepted.
   */
  MAIL_URL: z
    .string()
    .min(1)
    .refine(
      (text) => !/^[a-z0-9]+:\/\//i.test(text) || text.startsWith("file://") || isSmtpUrl(text),
      "is neither a folder nor smtp://",
    ),
  /** Sender of mails; by default `no-reply@` the portal's host. */
  MAIL_FROM: z.email("is no mail address").optional(),
  /** Gets mails about reported shares; empty or absent: reports are only stored and counted. */
  OPERATOR_EMAIL: z.union([z.literal("").transform(() => undefined), z.email()], "is no mail address").optional(),
  /**
   * The operator's billing system, or a folder of records for development; empty or absent: no
   * billing.
   */
  BILLING_URL: z
    .string()
    .refine(
      (text) => !/^[a-z0-9]+:\/\//i.test(text) || /^(file|https?):\/\//.test(text),
      "is neither a folder nor an http(s) address",
    )
    .transform((text) => (text === "" ? undefined : text))
    .optional(),
  /** Bearer token for BILLING_URL; empty is none. */
  BILLING_TOKEN: z
    .string()
    .transform((text) => (text === "" ? undefined : text))
    .optional(),
  /**
   * Overrides of limits by name (http/rate-limits.ts), such as `{"write":100000}` for a benchmark.
   */
  RATE_LIMITS: jsonSetting(z.partialRecord(z.enum(rateLimitNames), z.int().positive())).default({}),
  /**
   * Proxies whose `X-Forwarded-For` is trusted: `loopback`, addresses or networks, separated by
   * commas.
   */
  TRUSTED_PROXIES: TrustedProxies.prefault("loopback"),
  METRICS_TOKEN: MetricsToken.optional(),
  /**
   * The signed deployment documents that the gateway serves: measurements are counted by their
   * releases. Empty or absent: all count as "other".
   */
  DEPLOYMENTS_FOLDER: z
    .string()
    .transform((text) => (text === "" ? undefined : text))
    .optional(),
  ENVIRONMENT: z.string().min(1).default("test"),
  APP_VERSION: z.string().min(1).default("0.3.1"),
  LOG_LEVEL: LogLevel,
});

export type Env = z.infer<typeof Environment>;

function isSmtpUrl(text: string): boolean {
  if (!/^smtps?:\/\//.test(text) || !URL.canParse(text)) return false;
  const { search, pathname } = new URL(text);
  return ["", "/"].includes(pathname) && ["", "?tls=optional"].includes(search);
}

/** Missing or invalid variables: a message of one line that lists them all, without values. */
export class EnvironmentError extends Error {
  override readonly name = "EnvironmentError";
}

export function parseEnv(variables: Readonly<Record<string, string | undefined>>): Env {
  const parsed = Environment.safeParse(variables);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => {
    const name = String(path[0]);
    return variables[name] === undefined ? `${name} is missing` : `${name} ${message}`;
  });
  throw new EnvironmentError(`The service cannot start: ${[...new Set(problems)].join("; ")}`);
}

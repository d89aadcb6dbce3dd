import { isIP } from "node:net";

import {
  maxFormerVersions,
  maxPartBytes,
  maxSealedBytes,
  minPartBytes,
  accountResetWaitDays,
  VendorId,
} from "@relicario/shared/api";
import { z } from "zod";

import { rateLimitNames } from "../http/rate-limits.ts";
import { ed25519PrivateJwk } from "./session-keys.ts";

const json = <T extends z.ZodType>(schema: T) =>
  z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        context.addIssue({ code: "custom", message: "is not JSON" });
        return z.NEVER;
      }
    })
    .pipe(schema);

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
  /** Of its own portal, which mails of its accounts lead to; PUBLIC_ORIGIN without one. */
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

const Environment = z.object({
  API_HOST: z.string().min(1).default("127.0.0.1"),
  /** 0: any free one; the ready line says which. */
  API_PORT: z.coerce.number("is not a port").int().min(0).max(65_535).default(0),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: "is not a postgresql address" }),
  /**
   * The same database for who may change its schema, where that is not `DATABASE_URL`: another
   * role, or a way around a pooler.
   */
  DATABASE_MIGRATION_URL: z.url({ protocol: /^postgres(ql)?$/, error: "is not a postgresql address" }).optional(),
  /** How long the database may take over a statement. */
  DATABASE_SECONDS: z.coerce.number("is not a number").min(0.1).max(600).default(10),
  /**
   * How long the service answers on after it says that it is not ready, so that whoever sends calls
   * sees it; 0 where nobody does.
   */
  STOP_WAIT_SECONDS: z.coerce.number("is not a number").min(0).max(300).default(5),
  /** How long calls in flight may take after that; what is not answered then is cut. */
  STOP_DRAIN_SECONDS: z.coerce.number("is not a number").min(0).max(3_600).default(20),
  /** A folder. */
  OBJECTS_URL: z
    .string()
    .min(1)
    .refine((text) => !/^[a-z0-9]+:\/\//i.test(text) || text.startsWith("file://"), "is not a folder"),
  /** The issuer, exactly as it stands in tokens, with a slash at its end or without. */
  IDP_AUTHORITY: exactHttpUrl,
  IDP_CLIENT_ID: z.string().min(1),
  IDP_AUDIENCE: z.string().min(1).default("relicario-api"),
  /**
   * Where this service reaches the provider's keys, when that is not where its discovery document
   * says.
   */
  IDP_JWKS_URL: httpUrl.optional(),
  /**
   * The provider's own interface for passwords, as JSON; without one they are changed at the
   * provider. Empty is none.
   */
  IDP_ADMIN: z
    .union(
      [z.literal("").transform(() => undefined), json(z.discriminatedUnion("kind", [EmbeddedAdmin, KeycloakAdmin]))],
      "is not the interface of a provider",
    )
    .optional(),
  VENDORS: json(z.array(ConfiguredVendor).min(1, "names no vendor")).default([
    { vendor_id: "relicario", name: "Relicario", enabled: true },
  ]),
  /** Origin of the portal: the only one that may call from a browser. */
  PUBLIC_ORIGIN: origin,
  /**
   * Where the portal calls this service, as its deployment document says: the issuer of session
   * tokens. `/api` of the origin by default.
   */
  API_BASE_URL: httpUrl.optional(),
  SESSION_TTL_SECONDS: z.coerce.number("is not a number").int().min(10).max(86_400).default(900),
  /**
   * So long any device can object before an account is started anew; shorter ones are for tests.
   */
  START_ANEW_SECONDS: z.coerce
    .number("is not a number")
    .int()
    .min(1)
    .max(90 * 86_400)
    .default(accountResetWaitDays * 86_400),
  SESSION_KEYS: json(z.object({ keys: z.array(ed25519PrivateJwk).min(1, "names no key") })),
  RECORD_KEY: z
    .string()
    .regex(/^[A-Za-z0-9_-]{43}$/, "is not 32 bytes in base64url")
    .transform((text) => Buffer.from(text, "base64url")),
  /** A folder that gets `.eml` files, or `smtp://user:password@host:port`, `smtps://…`. */
  MAIL_URL: z
    .string()
    .min(1)
    .refine(
      (text) => !/^[a-z0-9]+:\/\//i.test(text) || /^(file|smtps?):\/\//.test(text),
      "is neither a folder nor smtp://",
    ),
  /** Sender of mails; `no-reply@` the portal's host by default. */
  MAIL_FROM: z.email("is no mail address").optional(),
  /**
   * Who is told of shares that somebody reported; without one they are kept and counted alone.
   * Empty is none.
   */
  OPERATOR_EMAIL: z.union([z.literal("").transform(() => undefined), z.email()], "is no mail address").optional(),
  /**
   * The operator's billing system, or for development a folder of records; without one nobody is
   * billed. Empty is none.
   */
  BILLING_URL: z
    .string()
    .refine(
      (text) => !/^[a-z0-9]+:\/\//i.test(text) || /^(file|https?):\/\//.test(text),
      "is neither a folder nor an http(s) address",
    )
    .transform((text) => (text === "" ? undefined : text))
    .optional(),
  /** What it is asked with. Empty is none. */
  BILLING_TOKEN: z
    .string()
    .transform((text) => (text === "" ? undefined : text))
    .optional(),
  /**
   * Other limits than the usual ones, by name (http/rate-limits.ts), such as `{"write":100000}` for
   * a benchmark.
   */
  RATE_LIMITS: json(z.partialRecord(z.enum(rateLimitNames), z.int().positive())).default({}),
  /**
   * Whose `X-Forwarded-For` is believed: `loopback`, addresses or networks, separated by commas.
   */
  TRUSTED_PROXIES: z
    .string()
    .refine(
      (text) => text.split(",").every((part) => isValidProxyEntry(part.trim())),
      "names something else than loopback, linklocal, uniquelocal, addresses and networks",
    )
    .default("loopback"),
  /** Whoever reads `/metrics` shows it; without one nobody can. Empty is none. */
  METRICS_TOKEN: z
    .string()
    .regex(/^([A-Za-z0-9._-]{32,256})?$/, "is not 32 to 256 letters, digits, dots, dashes or underscores")
    .transform((text) => (text === "" ? undefined : text))
    .optional(),
  /**
   * The signed deployment documents, as the gateway has them: measurements are kept by the releases
   * that they name. Without it, or empty, all are of "other".
   */
  DEPLOYMENTS_FOLDER: z
    .string()
    .transform((text) => (text === "" ? undefined : text))
    .optional(),
  ENVIRONMENT: z.string().min(1).default("test"),
  APP_VERSION: z.string().min(1).default("0.3.1"),
  LOG_LEVEL: z.enum(["debug", "info", "warn", "error", "silent"]).default("info"),
});

function isValidProxyEntry(text: string): boolean {
  if (["loopback", "linklocal", "uniquelocal"].includes(text)) return true;
  const [address = "", prefixLength, ...rest] = text.split("/");
  const ipVersion = isIP(address);
  return (
    ipVersion !== 0 &&
    rest.length === 0 &&
    (prefixLength === undefined ||
      (/^\d{1,3}$/.test(prefixLength) &&
        Number(prefixLength) >= 1 &&
        Number(prefixLength) <= (ipVersion === 4 ? 32 : 128)))
  );
}

export type Env = z.infer<typeof Environment>;

/**
 * A name is missing or wrong; the message is one line that lists them all, without their values.
 */
export class EnvironmentError extends Error {
  override readonly name = "EnvironmentError";
}

/** Parsed once, at start. */
export function parseEnv(variables: Readonly<Record<string, string | undefined>>): Env {
  const parsed = Environment.safeParse(variables);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => {
    const name = String(path[0]);
    return variables[name] === undefined ? `${name} is missing` : `${name} ${message}`;
  });
  throw new EnvironmentError(`The service cannot start: ${[...new Set(problems)].join("; ")}`);
}

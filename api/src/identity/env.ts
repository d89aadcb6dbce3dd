import { z } from "zod";

const json = <T extends z.ZodType>(schema: T) =>
  z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        context.issues.push({ code: "custom", message: "is not JSON", input: text });
        return z.NEVER;
      }
    })
    .pipe(schema);

const Client = z.strictObject({
  client_id: z.string().min(1),
  redirect_uris: z.array(z.url()).min(1),
  post_logout_redirect_uris: z.array(z.url()).min(1),
  /** Pages of these origins may call the token endpoint and frame the session check. */
  origins: z.array(z.url().refine((value) => new URL(value).origin === value, "is not an origin")).min(1),
});
export type Client = z.infer<typeof Client>;

/** A private signing key as {@link file://./keys.ts} makes it. */
const SigningKey = z.looseObject({
  kty: z.literal("RSA"),
  kid: z.string(),
  alg: z.literal("RS256"),
  use: z.literal("sig"),
  n: z.string(),
  e: z.string(),
  d: z.string(),
});

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
  IDENTITY_CLIENTS: json(z.array(Client).min(1)),
  IDENTITY_KEYS: json(z.object({ keys: z.array(SigningKey).min(1) })),
  COOKIE_KEYS: json(z.array(z.string().min(32)).min(1)),
  DEMO_ACCOUNT: json(DemoAccount).optional(),
  /**
   * Whoever shows it may change passwords by `/admin` (administration.ts); without one nobody can.
   * Empty is none.
   */
  IDENTITY_ADMIN_TOKEN: z
    .string()
    .regex(/^([A-Za-z0-9._-]{32,256})?$/, "is not 32 to 256 letters, digits, dots, dashes or underscores")
    .optional(),
  PRODUCT_NAME: z.string().min(1).default("Relicario"),
  ACCESS_TOKEN_TTL: z.coerce.number().int().min(10).max(86_400).default(300),
});

/** What the process is told, by its environment. Times in seconds. */
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
  readonly productName: string;
  readonly accessTokenTtl: number;
}

/** @throws Error with one line that names every missing or wrong variable, and no value. */
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
    productName: variables.PRODUCT_NAME,
    accessTokenTtl: variables.ACCESS_TOKEN_TTL,
  };
}

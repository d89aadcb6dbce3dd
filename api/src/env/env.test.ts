import { createServiceVariables } from "../testing/service.ts";
import { EnvironmentError, parseEnv } from "./env.ts";

const createVariables = () =>
  createServiceVariables(
    "http://localhost:3001/realms/relicario",
    "postgresql://user:hidden@127.0.0.1:5432/relicario",
    "/tmp/objects",
  );

const getErrorMessage = (environment: Record<string, string | undefined>): string => {
  try {
    parseEnv(environment);
  } catch (error) {
    if (error instanceof EnvironmentError) return error.message;
    throw error;
  }
  throw new Error("it was accepted");
};

describe("parseEnv", () => {
  it("fills in the specified defaults", async () => {
    const { VENDORS: _, ...rest } = await createVariables();
    expect(parseEnv(rest)).toMatchObject({
      API_HOST: "127.0.0.1",
      API_PORT: 0,
      SESSION_TTL_SECONDS: 900,
      START_ANEW_SECONDS: 604_800,
      ENVIRONMENT: "test",
      APP_VERSION: "0.3.1",
      IDP_AUDIENCE: "relicario-api",
      VENDORS: [{ vendor_id: "relicario", enabled: true }],
    });
  });

  it("treats an empty METRICS_TOKEN as absent, as containers pass it", async () => {
    expect(parseEnv({ ...(await createVariables()), METRICS_TOKEN: "" }).METRICS_TOKEN).toBeUndefined();
  });

  it("treats an empty optional variable as absent", async () => {
    const env = parseEnv({
      ...(await createVariables()),
      IDP_ADMIN: "",
      IDP_EMAIL: "",
      BILLING_URL: "",
      BILLING_TOKEN: "",
      OPERATOR_EMAIL: "",
    });
    expect([env.IDP_ADMIN, env.IDP_EMAIL, env.BILLING_URL, env.BILLING_TOKEN, env.OPERATOR_EMAIL]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("lists every missing and invalid variable in one line, without values", async () => {
    const { DATABASE_URL: _, ...rest } = await createVariables();
    const message = getErrorMessage({
      ...rest,
      RECORD_KEY: "tooshort",
      API_PORT: "99999",
      SESSION_KEYS: "{broken",
      PUBLIC_ORIGIN: "http://localhost:3000/path",
    });
    expect(message).not.toContain("\n");
    expect(message).toContain("DATABASE_URL is missing");
    for (const name of ["RECORD_KEY", "API_PORT", "SESSION_KEYS", "PUBLIC_ORIGIN"]) expect(message).toContain(name);
    for (const value of ["tooshort", "99999", "broken"]) expect(message).not.toContain(value);
  });

  it.each([
    ["DATABASE_URL", "mysql://127.0.0.1/x"],
    ["OBJECTS_URL", "s3://"],
    ["OBJECTS_URL", "s3://key:secret@bucket"],
    ["OBJECTS_URL", "s3://bucket?style=other"],
    ["OBJECTS_URL", "s3://bucket?secret=x"],
    ["OBJECTS_URL", "s3://bucket?endpoint=ftp://host"],
    ["OBJECTS_SECOND_URL", "gs://bucket"],
    ["IDP_AUTHORITY", "ftp://localhost"],
    ["VENDORS", "[]"],
    ["VENDORS", '[{"vendor_id":"Not Allowed","name":"x"}]'],
    ["SESSION_KEYS", '{"keys":[]}'],
    ["SESSION_KEYS", '{"keys":[{"kty":"RSA"}]}'],
    ["SESSION_TTL_SECONDS", "soon"],
    ["START_ANEW_SECONDS", "0"],
    ["SESSION_TTL_SECONDS", "9"],
    ["DATABASE_SECONDS", "0"],
    ["DATABASE_SECONDS", "soon"],
    ["STOP_WAIT_SECONDS", "-1"],
    ["STOP_DRAIN_SECONDS", "soon"],
    ["LOG_LEVEL", "loud"],
    ["MAIL_URL", "imap://localhost"],
    ["MAIL_URL", "smtp://localhost?tls=none"],
    ["MAIL_URL", "smtp://localhost/folder"],
    ["MAIL_FROM", "nobody"],
    ["TRUSTED_PROXIES", "loopback, gateway"],
    ["TRUSTED_PROXIES", "192.0.2.0/33"],
    ["OPERATOR_EMAIL", "nobody"],
    ["METRICS_TOKEN", "guessable"],
    ["IDP_EMAIL", "yes"],
    ["IDP_ADMIN", "{broken"],
    ["IDP_ADMIN", '{"kind":"another","url":"https://id.example.org"}'],
    ["IDP_ADMIN", '{"kind":"embedded","url":"http://localhost:3001/realms/x","token":"guessable"}'],
    ["IDP_ADMIN", '{"kind":"keycloak","url":"https://id.example.org","realm":"people","client_id":"c"}'],
    ["BILLING_URL", "ftp://billing.example.org"],
    ["RATE_LIMITS", '{"writes":5}'],
    ["RATE_LIMITS", '{"write":0}'],
    ["VENDORS", '[{"vendor_id":"x","name":"x","part_bytes":1000}]'],
  ])("refuses %s=%s", async (name, value) => {
    expect(getErrorMessage({ ...(await createVariables()), [name]: value })).toContain(name);
  });
});

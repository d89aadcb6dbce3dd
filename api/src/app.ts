import swagger from "@fastify/swagger";
import { API_VERSION } from "@relicario/shared/api";
import Fastify, { type FastifyInstance } from "fastify";
import { jsonSchemaTransform, serializerCompiler, validatorCompiler, type ZodTypeProvider } from "fastify-type-provider-zod";
import { randomUUID } from "node:crypto";

import { createIdentityProvider } from "./auth/identity-provider.ts";
import { authRoutes } from "./auth/routes.ts";
import { createSessionTokens } from "./auth/session-tokens.ts";
import { openDatabase } from "./db/database.ts";
import type { Env } from "./env.ts";
import { createAccountCalls } from "./http/account-calls.ts";
import { guardRoutes } from "./http/access.ts";
import { answerHeaders } from "./http/headers.ts";
import { parseShapedJson } from "./http/json-shape.ts";
import { factsOf, logAnswers, loggerOptions, type LogStream } from "./http/logging.ts";
import { answerErrors } from "./http/on-error.ts";
import { endSlowRequests, longestSeconds } from "./http/slow-requests.ts";
import { dropUnreadBodies } from "./http/unread-bodies.ts";
import { createTurns } from "./http/turns.ts";
import { createRateLimiter } from "./http/rate-limits.ts";
import { createRecordBox } from "./keyring/record-box.ts";
import { keyringRoutes } from "./keyring/routes.ts";
import { openFolderStore } from "./objects/folder-store.ts";
import { createMailer } from "./mail/mailer.ts";
import { openTransport } from "./mail/transport.ts";
import { measureAnswers } from "./operations/metrics.ts";
import { operationRoutes } from "./operations/routes.ts";
import { sweep } from "./operations/sweep.ts";
import { secretRoutes } from "./secrets/routes.ts";
import type { Services } from "./services.ts";
import { createPartsInFlight } from "./uploads/parts-in-flight.ts";
import { uploadRoutes } from "./uploads/routes.ts";
import { userRoutes } from "./users/routes.ts";
import { createVendors } from "./vendors/vendors.ts";
import { vendorRoutes } from "./vendors/routes.ts";

export interface App {
  readonly http: FastifyInstance;
  readonly services: Services;
  /** Removes what is due and sends the mails that are; false when another process is at it. */
  sweep(): Promise<boolean>;
  /** Readiness turns false, requests in flight are finished, then everything is closed. */
  stop(): Promise<void>;
}

export interface AppOptions {
  readonly logStream?: LogStream;
  /** The clock; a seam for tests. */
  readonly now?: () => Date;
}

/** The whole service, not yet listening. The database must be migrated. */
export async function buildApp(env: Env, { logStream, now = () => new Date() }: AppOptions = {}): Promise<App> {
  const http = Fastify({
    ...loggerOptions(env.LOG_LEVEL, logStream),
    genReqId: () => randomUUID(),
    trustProxy: env.TRUSTED_PROXIES,
    bodyLimit: 16 * 1024, // routes that take more say so
    requestTimeout: longestSeconds * 1_000, // each route has its own, see endSlowRequests
    keepAliveTimeout: 72_000,
    forceCloseConnections: "idle",
    return503OnClosing: true,
  });
  const database = openDatabase(env.DATABASE_URL, (error) => {
    http.log.warn({ failure: factsOf(error) }, "lost a database connection");
  });
  const { db } = database;
  const vendors = createVendors(env.VENDORS);
  const origin = env.PUBLIC_ORIGIN;
  const transport = await openTransport(env.MAIL_URL, env.MAIL_FROM ?? `no-reply@${new URL(origin).hostname}`);
  const services: Services = {
    env,
    db,
    vendors,
    objects: await openFolderStore(env.OBJECTS_URL),
    identityProvider: createIdentityProvider(env),
    sessionTokens: createSessionTokens({ keys: env.SESSION_KEYS.keys, issuer: env.API_BASE_URL ?? `${origin}/api`, audience: env.IDP_CLIENT_ID }, db, vendors),
    recordBox: createRecordBox(env.RECORD_KEY),
    limiter: createRateLimiter(db, env.RECORD_KEY, now, env.RATE_LIMITS),
    calls: createAccountCalls(),
    parts: createPartsInFlight(),
    digests: createTurns(),
    mailer: createMailer({ db, vendors, transport, origin, key: env.RECORD_KEY, log: http.log, now }),
    now,
  };

  let stopping = false;
  http.setValidatorCompiler(validatorCompiler);
  http.setSerializerCompiler(serializerCompiler);
  answerHeaders(http, origin);
  endSlowRequests(http);
  dropUnreadBodies(http);
  parseShapedJson(http);
  logAnswers(http);
  const metrics = measureAnswers(http);
  answerErrors(http);
  guardRoutes(http, services);
  await http.register(swagger, {
    openapi: { openapi: "3.1.0", info: { title: "Portal service", version: API_VERSION }, components: { securitySchemes: { session: { type: "http", scheme: "bearer" } } } },
    transform: (described) => {
      const { schema, url } = jsonSchemaTransform(described);
      const { route } = described;
      return { url, schema: route.config?.access === "signed_in" ? { ...schema, security: [{ session: [] }] } : schema };
    },
  });
  const typed = http.withTypeProvider<ZodTypeProvider>();
  for (const routes of [authRoutes, keyringRoutes, secretRoutes, uploadRoutes, userRoutes, vendorRoutes]) await typed.register(routes, { services });
  await typed.register(operationRoutes, { services, metrics, stopping: () => stopping });
  http.addHook("onResponse", async () => {
    services.mailer.kick();
  });
  await http.ready();

  return {
    http,
    services,
    sweep: () => sweep(services, database),
    async stop() {
      stopping = true;
      await http.close();
      await services.mailer.stop();
      await database.close();
    },
  };
}

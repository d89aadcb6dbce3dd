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
import { guardRoutes } from "./http/access.ts";
import { answerHeaders } from "./http/headers.ts";
import { factsOf, logAnswers, loggerOptions, type LogStream } from "./http/logging.ts";
import { answerErrors } from "./http/on-error.ts";
import { createRateLimiter } from "./http/rate-limits.ts";
import { createRecordBox } from "./keyring/record-box.ts";
import { keyringRoutes } from "./keyring/routes.ts";
import { openFolderStore } from "./objects/folder-store.ts";
import { collect } from "./objects/loose.ts";
import { measureAnswers } from "./operations/metrics.ts";
import { operationRoutes } from "./operations/routes.ts";
import { secretRoutes } from "./secrets/routes.ts";
import type { Services } from "./services.ts";
import { userRoutes } from "./users/routes.ts";
import { createVendors } from "./vendors/vendors.ts";
import { vendorRoutes } from "./vendors/routes.ts";

export interface App {
  readonly http: FastifyInstance;
  readonly services: Services;
  /** Removes what is due: loose objects, counters of windows that are over. */
  sweep(): Promise<void>;
  /** Readiness turns false, requests in flight are finished, then everything is closed. */
  stop(): Promise<void>;
}

/** The whole service, not yet listening. The database must be migrated. */
export async function buildApp(env: Env, { logStream }: { logStream?: LogStream } = {}): Promise<App> {
  const http = Fastify({
    ...loggerOptions(env.LOG_LEVEL, logStream),
    genReqId: () => randomUUID(),
    trustProxy: env.TRUSTED_PROXIES,
    bodyLimit: 16 * 1024, // routes that take more say so
    requestTimeout: 60_000, // 350 KB take half a minute on a slow phone
    keepAliveTimeout: 72_000,
    forceCloseConnections: "idle",
    return503OnClosing: true,
  });
  const { db, pool } = openDatabase(env.DATABASE_URL, (error) => {
    http.log.warn({ failure: factsOf(error) }, "lost a database connection");
  });
  const vendors = createVendors(env.VENDORS);
  const services: Services = {
    env,
    db,
    vendors,
    objects: await openFolderStore(env.OBJECTS_URL),
    identityProvider: createIdentityProvider(env),
    sessionTokens: createSessionTokens(env.SESSION_KEYS.keys, db, vendors),
    recordBox: createRecordBox(env.RECORD_KEY),
    limiter: createRateLimiter(db, env.RECORD_KEY),
  };

  let stopping = false;
  http.setValidatorCompiler(validatorCompiler);
  http.setSerializerCompiler(serializerCompiler);
  answerHeaders(http, env.PUBLIC_ORIGIN);
  logAnswers(http);
  const metrics = measureAnswers(http);
  answerErrors(http);
  guardRoutes(http, services.sessionTokens, services.limiter);
  await http.register(swagger, {
    openapi: { openapi: "3.1.0", info: { title: "Portal service", version: API_VERSION }, components: { securitySchemes: { session: { type: "http", scheme: "bearer" } } } },
    transform: (described) => {
      const { schema, url } = jsonSchemaTransform(described);
      const { route } = described;
      return { url, schema: route.config?.access === "signed_in" ? { ...schema, security: [{ session: [] }] } : schema };
    },
  });
  const typed = http.withTypeProvider<ZodTypeProvider>();
  for (const routes of [authRoutes, keyringRoutes, secretRoutes, userRoutes, vendorRoutes]) await typed.register(routes, { services });
  await typed.register(operationRoutes, { services, metrics, stopping: () => stopping });
  await http.ready();

  return {
    http,
    services,
    async sweep() {
      await collect(db, services.objects, new Date());
      await services.limiter.sweep();
    },
    async stop() {
      stopping = true;
      await http.close();
      await pool.end();
    },
  };
}

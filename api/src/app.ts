import swagger from "@fastify/swagger";
import { API_VERSION } from "@relicario/shared/api";
import Fastify, { type FastifyContextConfig, type FastifyInstance } from "fastify";
import {
  jsonSchemaTransform,
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from "fastify-type-provider-zod";
import { randomUUID } from "node:crypto";
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

import { guardRoutes } from "./auth/access.ts";
import { createGrants } from "./auth/grants.ts";
import { createIdentityProvider } from "./auth/identity-provider.ts";
import { createSessionTokens } from "./auth/session-tokens.ts";
import { openDatabase } from "./db/database.ts";
import { createRecordBox } from "./db/record-box.ts";
import type { Env } from "./env/env.ts";
import { createAccountConcurrency } from "./http/account-concurrency.ts";
import { enforceBodyTimeout, maxBodyTimeoutSeconds } from "./http/body-timeout.ts";
import { setResponseHeaders } from "./http/headers.ts";
import { limitJsonShape } from "./http/json-shape.ts";
import { createKeyedLock } from "./http/keyed-lock.ts";
import { describeError, logResponses, createLoggerOptions, type LogStream } from "./http/logging.ts";
import { handleErrors } from "./http/on-error.ts";
import { createPartLock } from "./http/part-lock.ts";
import { createRateLimiter } from "./http/rate-limits.ts";
import { enforceResponseTimeout } from "./http/response-timeout.ts";
import { retryIdempotentCalls } from "./http/retry-idempotent.ts";
import { drainUnreadBodies } from "./http/unread-bodies.ts";
import { createSweepFailureCounter, sweep } from "./jobs/sweep.ts";
import { createMailer } from "./mail/mailer.ts";
import { openMailTransport } from "./mail/transport.ts";
import { createUnsubscribeLinks } from "./mail/unsubscribe.ts";
import { createDamageReporter } from "./objects/damage.ts";
import { openFolderStore } from "./objects/folder-store.ts";
import { measureResponses } from "./operations/metrics.ts";
import { operationRoutes } from "./operations/routes.ts";
import { resources } from "./resources.ts";
import type { Services } from "./services/services.ts";
import { createVendors } from "./vendors/vendors.ts";

export interface App {
  readonly http: FastifyInstance;
  readonly services: Services;
  /** Removes what is due and sends the mails that are; false when another process is at it. */
  sweep(): Promise<boolean>;
  /**
   * Readiness turns false; after STOP_WAIT_SECONDS no call is taken any more, those in flight have
   * STOP_DRAIN_SECONDS, then everything is closed.
   */
  stop(): Promise<void>;
}

export interface AppOptions {
  readonly logStream?: LogStream;
  /** The clock; a seam for tests. */
  readonly now?: () => Date;
  /** Waits, or is told that it need not any longer; a seam for tests. */
  readonly wait?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** Hears the text of every statement of the database; a seam for tests. */
  readonly onStatement?: (text: string) => void;
}

// Fastify compares a plugin without a display name with every module that is loaded.
for (const routes of [...resources.flatMap(({ routes = [] }) => routes), operationRoutes])
  Object.assign(routes, { [Symbol.for("fastify.display-name")]: routes.name });

/** The whole service, not yet listening. The database must be migrated. */
export async function buildApp(
  env: Env,
  { logStream, now = () => new Date(), wait = delayUnlessAborted, onStatement }: AppOptions = {},
): Promise<App> {
  const http = Fastify({
    ...createLoggerOptions(env.LOG_LEVEL, logStream),
    genReqId: () => randomUUID(),
    trustProxy: env.TRUSTED_PROXIES,
    bodyLimit: 16 * 1024, // routes that take more say so
    requestTimeout: maxBodyTimeoutSeconds * 1_000, // each route has its own, see enforceBodyTimeout
    keepAliveTimeout: 72_000,
    forceCloseConnections: "idle",
    return503OnClosing: true,
  });
  const database = openDatabase(
    { url: env.DATABASE_URL, timeoutSeconds: env.DATABASE_SECONDS },
    (error) => {
      http.log.warn({ failure: describeError(error) }, "lost a database connection");
    },
    onStatement,
  );
  const { db } = database;
  const vendors = createVendors(env.VENDORS);
  const origin = env.PUBLIC_ORIGIN;
  const transport = await openMailTransport(env.MAIL_URL, env.MAIL_FROM ?? `no-reply@${new URL(origin).hostname}`);
  const metrics = measureResponses(http);
  const apiBase = env.API_BASE_URL ?? `${origin}/api`;
  const grants = createGrants(env.RECORD_KEY, now);
  const services: Services = {
    env,
    db,
    vendors,
    reportDamage: createDamageReporter(db, http.log, metrics),
    objects: await openFolderStore(env.OBJECTS_URL),
    identityProvider: createIdentityProvider(env),
    sessionTokens: createSessionTokens(
      { keys: env.SESSION_KEYS.keys, issuer: apiBase, audience: env.IDP_CLIENT_ID },
      db,
      vendors,
    ),
    grants,
    recordBox: createRecordBox(env.RECORD_KEY),
    limiter: createRateLimiter(db, env.RECORD_KEY, now, env.RATE_LIMITS),
    concurrency: createAccountConcurrency(),
    partLock: createPartLock(),
    digestLock: createKeyedLock(),
    mailer: createMailer({
      db,
      vendors,
      transport,
      origin,
      key: env.RECORD_KEY,
      unsubscribeLink: createUnsubscribeLinks(grants, apiBase, now),
      log: http.log,
      now,
    }),
    metrics,
    now,
    async onKeyringChange(tx, written) {
      let freedBytes = 0;
      for (const { onKeyringChange } of resources) freedBytes += (await onKeyringChange?.(services, tx, written)) ?? 0;
      return freedBytes;
    },
    async onContentsEnd(tx, accountId, ended, at) {
      let freedBytes = 0;
      for (const { onContentsEnd } of resources) freedBytes += (await onContentsEnd?.(tx, accountId, ended, at)) ?? 0;
      return freedBytes;
    },
  };

  const stopController = new AbortController();
  let stopPromise: Promise<void> | null = null;
  http.setValidatorCompiler(validatorCompiler);
  http.setSerializerCompiler(serializerCompiler);
  setResponseHeaders(http, origin);
  enforceBodyTimeout(http);
  enforceResponseTimeout(http);
  drainUnreadBodies(http);
  limitJsonShape(http);
  logResponses(http);
  const sweepFailures = createSweepFailureCounter(metrics);
  handleErrors(http);
  retryIdempotentCalls(http);
  guardRoutes(http, services);
  await http.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Portal service", version: API_VERSION },
      components: { securitySchemes: { session: { type: "http", scheme: "bearer" } } },
    },
    transform: (definition) => {
      const { schema, url } = jsonSchemaTransform(definition);
      const { route } = definition;
      const security = getSecurityRequirements(route.config?.access);
      return { url, schema: security === null ? schema : { ...schema, security } };
    },
  });
  const typedHttp = http.withTypeProvider<ZodTypeProvider>();
  for (const { routes } of resources) if (routes !== undefined) await typedHttp.register(routes, { services });
  await typedHttp.register(operationRoutes, { services, database, isStopping: () => stopController.signal.aborted });
  // A connection that is kept after its answer would keep the process, once it stops, until it is
  // cut.
  const getUnusedConnections = trackUnusedConnections(http.server);
  http.addHook("onSend", (_request, reply, payload, done) => {
    if (stopController.signal.aborted) void reply.header("connection", "close");
    done(null, payload);
  });
  http.addHook("onResponse", async () => {
    services.mailer.notify();
  });
  await http.ready();

  return {
    http,
    services,
    sweep: () =>
      sweep({ resources, services, database, failures: sweepFailures, log: http.log, stopping: stopController.signal }),
    stop: () => (stopPromise ??= stop()),
  };

  async function stop(): Promise<void> {
    stopController.abort();
    await wait(env.STOP_WAIT_SECONDS * 1_000, new AbortController().signal);
    const drainController = new AbortController();
    const forcedClose = wait(env.STOP_DRAIN_SECONDS * 1_000, drainController.signal).then(() => {
      http.server.closeAllConnections();
    });
    const gracefulClose = http.close();
    for (const connection of getUnusedConnections()) connection.destroy();
    await gracefulClose;
    drainController.abort();
    await forcedClose;
    await services.mailer.stop();
    await database.close();
  }
}

/**
 * Connections that were opened ahead and have sent nothing: Node counts them as busy, so that
 * closing would wait for them.
 */
function trackUnusedConnections(server: Server): () => readonly Socket[] {
  const connections = new Set<Socket>();
  server.on("connection", (connection) => {
    connections.add(connection);
    connection.once("close", () => connections.delete(connection));
  });
  return () => [...connections].filter(({ bytesRead }) => bytesRead === 0);
}

/** As OpenAPI says it: any one of these will do. */
function getSecurityRequirements(access: FastifyContextConfig["access"]): { session?: [] }[] | null {
  if (access === "signed_in") return [{ session: [] }];
  return access === "optional_session" ? [{ session: [] }, {}] : null;
}

/** Resolves in either case. */
function delayUnlessAborted(milliseconds: number, signal: AbortSignal): Promise<unknown> {
  return pause(milliseconds, undefined, { signal }).catch(() => undefined); // it need not wait any longer
}

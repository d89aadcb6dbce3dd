import swagger from "@fastify/swagger";
import { API_VERSION } from "@relicario/shared/api";
import {
  ConnectionLimiter,
  ConnectionLimits,
  createLoggerOptions,
  createTraceAdopter,
  describeError,
  logResponses,
  type LogStream,
  measureResponses,
  sendStatus,
} from "@relicario/tooling/http";
import { combineStores, openObjectStore } from "@relicario/tooling/objects";
import Fastify, { type FastifyContextConfig, type FastifyInstance } from "fastify";
import {
  jsonSchemaTransform,
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from "fastify-type-provider-zod";
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

import { guardRoutes } from "./auth/access.ts";
import { createGrants } from "./auth/grants.ts";
import { createIdentityProvider } from "./auth/identity-provider.ts";
import { createKeycloakAdmin, isUserEnabled } from "./auth/keycloak-admin.ts";
import { createSessionTokens, type PersonCheck } from "./auth/session-tokens.ts";
import { isTransactionPooled, openDatabase } from "./db/database.ts";
import { measurePool } from "./db/measure-pool.ts";
import { createRecordBox } from "./db/record-box.ts";
import type { Env } from "./env/env.ts";
import { createAccountConcurrency } from "./http/account-concurrency.ts";
import { createClockSkews } from "./http/clock-skew.ts";
import { enforceBodyTimeout, maxBodyTimeoutSeconds } from "./http/body-timeout.ts";
import { buildCommonHeaders, setResponseHeaders } from "./http/headers.ts";
import { limitJsonShape } from "./http/json-shape.ts";
import { createKeyedLock } from "./http/keyed-lock.ts";
import { handleErrors } from "./http/on-error.ts";
import { createPartLock } from "./http/part-lock.ts";
import { createRateLimiter } from "./http/rate-limits.ts";
import { rememberTraces } from "./http/request-trace.ts";
import { enforceResponseTimeout } from "./http/response-timeout.ts";
import { retryIdempotentCalls } from "./http/retry-idempotent.ts";
import { drainUnreadBodies } from "./http/unread-bodies.ts";
import { createSweepMetrics, sweep } from "./jobs/sweep.ts";
import { createMailer } from "./mail/mailer.ts";
import { openMailTransport } from "./mail/transport.ts";
import { createUnsubscribeLinks } from "./mail/unsubscribe.ts";
import { createDamageReporter } from "./objects/damage.ts";
import { measureDependencies, measureMailQueue } from "./monitoring/metrics.ts";
import { monitoringRoutes } from "./monitoring/routes.ts";
import { resources } from "./resources.ts";
import type { Services } from "./services/services.ts";
import { createPersonCheck, personCheckTimeoutSeconds } from "./sessions/person-check.ts";
import { createVendors } from "./vendors/vendors.ts";

export interface App {
  readonly http: FastifyInstance;
  readonly services: Services;
  /** Deletes due data and sends due mails. @returns false when another process is sweeping */
  sweep(): Promise<boolean>;
  /**
   * Turns readiness false, stops accepting calls after STOP_WAIT_SECONDS, gives calls in flight
   * STOP_DRAIN_SECONDS, then closes everything.
   */
  stop(): Promise<void>;
}

export interface AppOptions {
  readonly logStream?: LogStream;
  /** Overridden in tests. */
  readonly now?: () => Date;
  /** Resolves after the time, or when `signal` is aborted; overridden in tests. */
  readonly wait?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** Called with the text of every SQL statement; for tests. */
  readonly onStatement?: (text: string) => void;
}

// Without a display name, Fastify searches all loaded modules for the plugin's name.
for (const routes of [...resources.flatMap(({ routes = [] }) => routes), monitoringRoutes])
  Object.assign(routes, { [Symbol.for("fastify.display-name")]: routes.name });

/** Builds the service without listening. The database must be migrated. */
export async function buildApp(
  env: Env,
  { logStream, now = () => new Date(), wait = delayUnlessAborted, onStatement }: AppOptions = {},
): Promise<App> {
  const longestRequestMilliseconds = maxBodyTimeoutSeconds * 1_000; // routes have their own: enforceBodyTimeout
  const connections = new ConnectionLimiter({
    // A download makes no progress here while a slow reader empties the gateway's buffers.
    limits: ConnectionLimits.parse({ idleMs: longestRequestMilliseconds }),
    isTrusted: env.TRUSTED_PROXIES,
    requestMs: longestRequestMilliseconds,
    sendError: (request, reply, status) => sendStatus(reply.headers(buildCommonHeaders(request)), status),
  });
  const http = Fastify({
    ...connections.serverOptions,
    ...createLoggerOptions(env.LOG_LEVEL, logStream),
    genReqId: createTraceAdopter(({ socket }) => env.TRUSTED_PROXIES(socket.remoteAddress ?? "", 0)),
    trustProxy: env.TRUSTED_PROXIES,
    bodyLimit: 16 * 1024, // routes override it
    return503OnClosing: true,
  });
  const database = openDatabase(
    { url: env.DATABASE_URL, timeoutSeconds: env.DATABASE_SECONDS },
    (error) => {
      http.log.warn({ failure: describeError(error) }, "lost a database connection");
    },
    onStatement,
  );
  if (isTransactionPooled(env.DATABASE_URL)) await database.ping(); // refuses a pooler that cannot serve calls
  const { db } = database;
  const vendors = createVendors(env.VENDORS);
  const origin = env.PUBLIC_ORIGIN;
  const transport = await openMailTransport(env.MAIL_URL, env.MAIL_FROM ?? `no-reply@${new URL(origin).hostname}`);
  const metrics = measureResponses(http);
  measurePool(metrics, () => database.countConnections());
  measureMailQueue(metrics, { db, now });
  const clockSkews = createClockSkews(metrics, http.log);
  const apiBase = env.API_BASE_URL ?? `${origin}/api`;
  const grants = createGrants(env.RECORD_KEY, now);
  const services: Services = {
    env,
    db,
    vendors,
    reportDamage: createDamageReporter(db, http.log, metrics),
    objects:
      env.OBJECTS_SECOND_URL === undefined
        ? await openObjectStore(env.OBJECTS_URL)
        : combineStores(await openObjectStore(env.OBJECTS_URL), await openObjectStore(env.OBJECTS_SECOND_URL)),
    identityProvider: createIdentityProvider(env, clockSkews),
    clockSkews,
    sessionTokens: createSessionTokens(
      { keys: env.SESSION_KEYS.keys, issuer: apiBase, audience: env.IDP_CLIENT_ID },
      db,
      vendors,
      openPersonCheck(),
    ),
    grants,
    recordBox: createRecordBox(env.RECORD_KEY),
    limiter: createRateLimiter(db, env.RECORD_KEY[0], now, env.RATE_LIMITS),
    concurrency: createAccountConcurrency(),
    partLock: createPartLock(),
    digestLock: createKeyedLock(),
    mailer: createMailer({
      db,
      vendors,
      transport,
      publicOrigin: origin,
      recordKey: env.RECORD_KEY[0],
      createUnsubscribeLink: createUnsubscribeLinks(grants, apiBase, now),
      log: http.log,
      now,
    }),
    metrics,
    now,
    async onKeyringChange(tx, writtenChange) {
      let freedBytes = 0;
      for (const { onKeyringChange } of resources)
        freedBytes += (await onKeyringChange?.(services, tx, writtenChange)) ?? 0;
      return freedBytes;
    },
    async onContentsRemoved(tx, accountId, removedContents, at) {
      let freedBytes = 0;
      for (const { onContentsRemoved } of resources)
        freedBytes += (await onContentsRemoved?.(tx, accountId, removedContents, at)) ?? 0;
      return freedBytes;
    },
  };

  measureDependencies(metrics, {
    database: () => database.ping(),
    object_store: () => services.objects.check(),
    identity_provider: () => services.identityProvider.check(),
  });

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
  rememberTraces(http);
  const sweepMetrics = createSweepMetrics(metrics);
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
  await typedHttp.register(monitoringRoutes, { services, database, isStopping: () => stopController.signal.aborted });
  // A connection kept alive after its response would delay the shutdown until it is cut.
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
      sweep({
        resources,
        services,
        database,
        metrics: sweepMetrics,
        log: http.log,
        stopSignal: stopController.signal,
      }),
    stop: () => (stopPromise ??= stop()),
  };

  /** Null without the provider's interface: sessions then live until their tokens expire. */
  function openPersonCheck(): PersonCheck | null {
    if (env.IDP_ADMIN?.kind !== "keycloak") return null;
    const admin = createKeycloakAdmin(env.IDP_ADMIN, personCheckTimeoutSeconds);
    return createPersonCheck({
      db,
      vendorIds: vendors.ids,
      issuer: env.IDP_AUTHORITY,
      isPersonEnabled: (subject) => isUserEnabled(admin, subject),
      log: http.log,
    });
  }

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
 * Lists connections that were opened but sent nothing: Node counts them as busy, so that closing
 * would wait for them.
 */
function trackUnusedConnections(server: Server): () => readonly Socket[] {
  const connections = new Set<Socket>();
  server.on("connection", (connection) => {
    connections.add(connection);
    connection.once("close", () => connections.delete(connection));
  });
  return () => [...connections].filter(({ bytesRead }) => bytesRead === 0);
}

/** Returns the route's security requirements; OpenAPI accepts any of the list. */
function getSecurityRequirements(access: FastifyContextConfig["access"]): { session?: [] }[] | null {
  if (access === "signed_in") return [{ session: [] }];
  return access === "optional_session" ? [{ session: [] }, {}] : null;
}

/** Resolves after the time, or when the signal is aborted. */
function delayUnlessAborted(milliseconds: number, signal: AbortSignal): Promise<unknown> {
  return pause(milliseconds, undefined, { signal }).catch(() => undefined); // aborted
}

import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { Counter } from "prom-client";

import { findAccountIds } from "../accounts/identities.ts";
import { withLockedAccount } from "../accounts/lock-account.ts";
import { requireActor } from "../auth/access.ts";
import { getProblemCode } from "../http/on-error.ts";
import { Problem, statusByCode } from "../http/problem.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { getRequestContext } from "../language/language.ts";
import type { Services } from "../services/services.ts";
import { readCallerInfo } from "./caller.ts";
import { createSession, isRenewal, revokeSession } from "./exchange.ts";
import { authorizeExchange } from "./policy.ts";
import { presentSignIn } from "./present.ts";
import { sessionSchemas } from "./schema.ts";
import {
  findSignedInAccountIds,
  readSignIns,
  revokeOtherSignIns,
  revokeProviderSignIns,
  revokeSignIn,
} from "./sign-ins.ts";

export const sessionRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, env, identityProvider, limiter, metrics, now, sessionTokens, vendors } = services;
  const exchangeFailures = new Counter({
    name: "relicario_exchange_failures_total",
    help: "Exchanges of a provider's token that gave no session, by the problem's code",
    labelNames: ["code"],
    registers: [metrics],
  });
  const writeConfig = { access: "signed_in", rateLimits: [rateLimitRules.write] } as const;

  app.post(
    "/auth/token",
    {
      schema: sessionSchemas.exchange,
      bodyLimit: 20 * 1024,
      config: { access: "public", idempotent: true }, // its limits depend on the token
    },
    (request) =>
      countFailures(async () => {
        const { body, query, ip: address } = request;
        const { vendor, identity } = await countRefusals(address, async () => ({
          vendor: authorizeExchange(vendors, query.app_vendor_id),
          identity: await identityProvider.verify(body.token),
        }));
        await limiter.consume(rateLimitRules.exchangePerPerson, {
          subject: `${identity.issuer}\n${identity.subject}`,
        });
        // Renewals are not counted: the open tabs of a whole office renew from one IP address.
        if (!(await isRenewal(db, vendor.id, identity))) {
          await limiter.consume(rateLimitRules.signIn, { address });
          await limiter.consume(rateLimitRules.signInGlobal, {});
        }
        const exchange = {
          vendorId: vendor.id,
          lifetimeSeconds: env.SESSION_TTL_SECONDS,
          adoptsEmail: env.IDP_EMAIL === "adopt",
          caller: readCallerInfo(request),
          ...getRequestContext(request, now()),
        };
        const { id: sessionId, ...session } = await db.transaction((tx) =>
          createSession(tx, identity, exchange, services.mailer),
        );
        return {
          token: await sessionTokens.sign({
            ...session,
            vendorId: vendor.id,
            sessionId,
            authTime: identity.authTime,
          }),
        };
      }),
  );

  async function countFailures<T>(exchange: () => Promise<T>): Promise<T> {
    try {
      return await exchange();
    } catch (error) {
      exchangeFailures.inc({ code: getProblemCode(error) });
      throw error;
    }
  }

  /**
   * Counts an unverified call only for its IP address: otherwise anyone could use up everyone's
   * limit.
   */
  async function countRefusals<T>(address: string, verify: () => Promise<T>): Promise<T> {
    try {
      return await verify();
    } catch (error) {
      if (error instanceof Problem && statusByCode[error.code] < 500)
        await limiter.consume(rateLimitRules.exchange, { address });
      throw error;
    }
  }

  app.delete(
    "/auth/token",
    { schema: sessionSchemas.signOut, config: { access: "signed_in", idempotent: true } },
    async (request, reply) => {
      const scope = requireActor(request);
      await db.transaction((tx) => revokeSession(tx, scope));
      sessionTokens.invalidate(scope.accountId);
      return reply.code(204).send(null);
    },
  );

  await app.register(providerSignOutRoute);

  app.get("/user/sessions", { schema: sessionSchemas.list, config: { access: "signed_in" } }, async (request) => ({
    sessions: (await readSignIns(db, requireActor(request), now())).map(presentSignIn),
  }));

  app.delete("/user/sessions/:id", { schema: sessionSchemas.revoke, config: writeConfig }, async (request, reply) => {
    const scope = requireActor(request);
    await withLockedAccount(services, scope.accountId, (tx) => revokeSignIn(tx, scope, request.params.id, now()));
    sessionTokens.invalidate(scope.accountId);
    return reply.code(204).send();
  });

  app.delete(
    "/user/sessions",
    { schema: sessionSchemas.revokeOthers, config: { ...writeConfig, idempotent: true } },
    async (request, reply) => {
      const scope = requireActor(request);
      await withLockedAccount(services, scope.accountId, (tx) => revokeOtherSignIns(tx, scope, now()));
      sessionTokens.invalidate(scope.accountId);
      return reply.code(204).send();
    },
  );

  /** Apart, since a form is its only body. */
  async function providerSignOutRoute(forms: typeof app): Promise<void> {
    forms.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string" }, (_request, body, done) => {
      done(null, Object.fromEntries(new URLSearchParams(String(body))));
    });
    forms.post(
      "/auth/backchannel-logout",
      {
        schema: sessionSchemas.providerSignOut,
        bodyLimit: 20 * 1024,
        config: { access: "public", idempotent: true }, // only refusals are limited
      },
      async ({ body, ip: address }) => {
        const logout = await countRefusals(address, () => identityProvider.verifyLogout(body.logout_token)).catch(
          (cause: unknown) => {
            const isRefused = cause instanceof Problem && statusByCode[cause.code] === 401;
            throw isRefused ? new Problem("bad_request", { cause }) : cause; // Back-Channel Logout 1.0, 2.8
          },
        );
        const { issuer, subject, providerSessionId } = logout;
        const accountIds =
          subject !== null
            ? await findAccountIds(db, vendors.ids, { issuer, subject })
            : providerSessionId === null
              ? []
              : await findSignedInAccountIds(db, providerSessionId);
        for (const accountId of accountIds) {
          await withLockedAccount(services, accountId, (tx) => revokeProviderSignIns(tx, accountId, logout, now()));
          sessionTokens.invalidate(accountId);
        }
        return {};
      },
    );
  }
};

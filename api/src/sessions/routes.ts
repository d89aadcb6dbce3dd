import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { requireActor } from "../http/access.ts";
import { rateRules } from "../http/rate-limits.ts";
import { withLockedAccount } from "../keyring/queries.ts";
import type { Services } from "../services.ts";
import { authorizeSessions } from "./policy.ts";
import { presentSignIn } from "./present.ts";
import { closeOtherSignIns, closeSignIn, readSignIns } from "./queries.ts";
import { sessionSchemas } from "./schema.ts";

export const sessionRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, now, sessionTokens } = services;
  const write = { access: "signed_in", rates: [rateRules.write] } as const;

  app.get("/user/sessions", { schema: sessionSchemas.list, config: { access: "signed_in" } }, async (request) => ({
    sessions: (await readSignIns(db, authorizeSessions(requireActor(request)), now())).map(presentSignIn),
  }));

  app.delete("/user/sessions/:id", { schema: sessionSchemas.end, config: write }, async (request, reply) => {
    const scope = authorizeSessions(requireActor(request));
    await withLockedAccount(services, scope.accountId, (tx) => closeSignIn(tx, scope, request.params.id, now()));
    sessionTokens.invalidate(scope.accountId);
    return reply.code(204).send();
  });

  app.delete(
    "/user/sessions",
    { schema: sessionSchemas.endOthers, config: { ...write, idempotent: true } },
    async (request, reply) => {
      const scope = authorizeSessions(requireActor(request));
      await withLockedAccount(services, scope.accountId, (tx) => closeOtherSignIns(tx, scope, now()));
      sessionTokens.invalidate(scope.accountId);
      return reply.code(204).send();
    },
  );
};

import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { actorOf } from "../http/access.ts";
import { rateRules } from "../http/rate-limits.ts";
import { changeAccount } from "../keyring/queries.ts";
import { languageOf } from "../mail/language.ts";
import type { Services } from "../services.ts";
import { freshSignInPolicy, startAnewPolicy } from "./policy.ts";
import { presentStartAnew } from "./present.ts";
import { askStartAnew, endStartAnew, findStartAnew } from "./queries.ts";
import { startAnewSchemas } from "./schema.ts";

/** What does it after the wait is a keyring change: begin.ts. */
export const startAnewRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, now } = services;

  app.get("/user/start-anew", { schema: startAnewSchemas.get, config: { access: "signed_in" } }, async (request) =>
    presentStartAnew(await findStartAnew(db, startAnewPolicy(actorOf(request))), now()),
  );

  app.post(
    "/user/start-anew",
    { schema: startAnewSchemas.ask, config: { access: "signed_in", rates: [rateRules.startAnew], idempotent: true } },
    async (request) => {
      const when = { now: now(), language: languageOf(request) };
      const own = freshSignInPolicy(actorOf(request), when.now);
      return changeAccount(services, own.accountId, async (tx) => {
        await askStartAnew(tx, own, services, when);
        return presentStartAnew(await findStartAnew(tx, own), when.now);
      });
    },
  );

  app.delete(
    "/user/start-anew",
    { schema: startAnewSchemas.end, config: { access: "signed_in", rates: [rateRules.write], idempotent: true } },
    async (request) => {
      const when = { now: now(), language: languageOf(request) };
      const own = startAnewPolicy(actorOf(request));
      return changeAccount(services, own.accountId, async (tx) => {
        await endStartAnew(tx, own, request.query.reason, services, when);
        return presentStartAnew(await findStartAnew(tx, own), when.now);
      });
    },
  );
};

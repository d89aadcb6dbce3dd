import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { actorOf } from "../http/access.ts";
import { Problem } from "../http/problem.ts";
import { rateRules } from "../http/rate-limits.ts";
import { changeAccount } from "../keyring/queries.ts";
import { languageOf } from "../mail/language.ts";
import type { Services } from "../services.ts";
import { countLive } from "../shares/queries.ts";
import { answerAddress, askAddress } from "./contact-address.ts";
import { accountPolicy, type OwnAccount } from "./policy.ts";
import { presentMe } from "./present.ts";
import { readAccount, updateAccount } from "./queries.ts";
import { userSchemas } from "./schema.ts";

export const userRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, env, limiter, mailer, vendors, now } = services;

  async function me(own: OwnAccount) {
    const vendor = vendors.find(own.vendorId);
    if (vendor === null) throw new Problem("token_invalid");
    const { account, secrets } = await readAccount(db, own);
    return presentMe(account, { secrets, shares: await countLive(db, own.accountId, now()) }, vendor);
  }

  app.get("/user/me", { schema: userSchemas.me, config: { access: "signed_in" } }, (request) => me(accountPolicy(actorOf(request))));

  app.post("/user/me", { schema: userSchemas.update, config: { access: "signed_in", rates: [rateRules.write] } }, async (request) => {
    const own = accountPolicy(actorOf(request));
    if (request.body.user_name !== undefined) await limiter.count(rateRules.rename, { accountId: own.accountId });
    await changeAccount(services, own.accountId, (tx) => updateAccount(tx, own, request.body, mailer, { now: now(), language: languageOf(request) }));
    return me(own);
  });

  app.post(
    "/user/send-validate-email",
    { schema: userSchemas.askAddress, config: { access: "signed_in", rates: [rateRules.askAddress, rateRules.askAddressOfAll] } },
    async (request, reply) => {
      const own = accountPolicy(actorOf(request));
      await changeAccount(services, own.accountId, (tx) => askAddress(tx, own, services, { now: now(), language: languageOf(request) }));
      return reply.code(204).send();
    },
  );

  app.get(
    "/user/validate-contact-email",
    { schema: userSchemas.answerAddress, config: { access: "signed_in", rates: [rateRules.answerAddress], idempotent: false } }, // a nonce counts once
    async (request) => {
      const own = accountPolicy(actorOf(request));
      await changeAccount(services, own.accountId, (tx) => answerAddress(tx, own, env.RECORD_KEY, request.query, now()));
      return { valid: true as const };
    },
  );
};

import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { actorOf } from "../http/access.ts";
import { Problem } from "../http/problem.ts";
import { rateRules } from "../http/rate-limits.ts";
import { changeAccount } from "../keyring/queries.ts";
import { languageOf } from "../mail/language.ts";
import type { Services } from "../services.ts";
import { answerAddress, askAddress } from "./contact-address.ts";
import { accountPolicy, type OwnAccount } from "./policy.ts";
import { presentMe } from "./present.ts";
import { createAccountReader, updateAccount } from "./queries.ts";
import { userSchemas } from "./schema.ts";
import { requireFreeName } from "./user-name.ts";

export const userRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, env, limiter, mailer, vendors, now } = services;
  const readCounted = createAccountReader(db);

  async function me(own: OwnAccount) {
    const vendor = vendors.find(own.vendorId);
    if (vendor === null) throw new Problem("token_invalid");
    const { account, ...counted } = await readCounted(own, now());
    return presentMe(account, counted, vendor);
  }

  app.get("/user/me", { schema: userSchemas.me, config: { access: "signed_in" } }, (request) =>
    me(accountPolicy(actorOf(request))),
  );

  app.post(
    "/user/me",
    { schema: userSchemas.update, config: { access: "signed_in", rates: [rateRules.write] } },
    async (request) => {
      const own = accountPolicy(actorOf(request));
      if (request.body.user_name !== undefined) await limiter.count(rateRules.rename, { accountId: own.accountId });
      await changeAccount(services, own.accountId, (tx) =>
        updateAccount(tx, own, request.body, mailer, { now: now(), language: languageOf(request) }),
      );
      return me(own);
    },
  );

  app.post(
    "/user/validate-username",
    {
      schema: userSchemas.validateName,
      config: { access: "signed_in", rates: [rateRules.validateName], idempotent: true },
    },
    async (request) => {
      await requireFreeName(db, accountPolicy(actorOf(request)), request.query.username, now());
      return { valid: true as const };
    },
  );

  app.post(
    "/user/send-validate-email",
    {
      schema: userSchemas.askAddress,
      config: { access: "signed_in", rates: [rateRules.askAddress, rateRules.askAddressOfAll] },
    },
    async (request, reply) => {
      const own = accountPolicy(actorOf(request));
      await changeAccount(services, own.accountId, (tx) =>
        askAddress(tx, own, services, { now: now(), language: languageOf(request) }),
      );
      return reply.code(204).send();
    },
  );

  app.get(
    "/user/validate-contact-email",
    {
      schema: userSchemas.answerAddress,
      config: { access: "signed_in", rates: [rateRules.answerAddress], idempotent: false },
    }, // a nonce counts once
    async (request) => {
      const own = accountPolicy(actorOf(request));
      await changeAccount(services, own.accountId, (tx) =>
        answerAddress(tx, own, env.RECORD_KEY, request.query, now()),
      );
      return { valid: true as const };
    },
  );
};

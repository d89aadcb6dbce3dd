import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { actorOf } from "../http/access.ts";
import { rateRules } from "../http/rate-limits.ts";
import { languageOf } from "../mail/language.ts";
import type { Services } from "../services.ts";
import { answerLink, fillLink } from "./exchange.ts";
import { deviceLinksPolicy, requireFirst, requireOther } from "./policy.ts";
import { presentAnswer, presentLink } from "./present.ts";
import { requireLink } from "./queries.ts";
import { deviceLinkSchemas } from "./schema.ts";

const mailbox = "/device-links/:id";
const answerOf = `${mailbox}/answer`;

export const deviceLinkRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, now } = services;
  const read = { access: "signed_in", rates: [rateRules.readDeviceLink] } as const;

  app.put(
    mailbox,
    {
      schema: deviceLinkSchemas.fill,
      config: { access: "signed_in", rates: [rateRules.fillDeviceLink], idempotent: true },
    },
    async (request) => {
      const expiresAt = await fillLink(
        services,
        deviceLinksPolicy(actorOf(request)),
        request.params.id,
        request.body.message,
      );
      return { expires_at: expiresAt.toISOString() };
    },
  );

  app.get(mailbox, { schema: deviceLinkSchemas.read, config: read }, async (request) => {
    const { link, filledBy, caller } = await requireLink(
      db,
      deviceLinksPolicy(actorOf(request)),
      request.params.id,
      now(),
    );
    requireOther(filledBy, caller);
    return presentLink(link);
  });

  app.put(
    answerOf,
    { schema: deviceLinkSchemas.answer, config: { access: "signed_in", rates: [rateRules.write], idempotent: true } },
    async (request) => {
      const expiresAt = await answerLink(
        services,
        deviceLinksPolicy(actorOf(request)),
        request.params.id,
        request.body.answer,
        languageOf(request),
      );
      return { expires_at: expiresAt.toISOString() };
    },
  );

  app.get(answerOf, { schema: deviceLinkSchemas.readAnswer, config: read }, async (request) => {
    const { link, filledBy, caller } = await requireLink(
      db,
      deviceLinksPolicy(actorOf(request)),
      request.params.id,
      now(),
    );
    requireFirst(filledBy, caller);
    return presentAnswer(link);
  });
};

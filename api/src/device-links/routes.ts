import { maxDeviceLinkLength } from "@relicario/shared/api";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { requireActor } from "../auth/access.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { getPreferredLanguage } from "../language/language.ts";
import type { Services } from "../services/services.ts";
import { answerLink, fillLink } from "./mailbox.ts";
import { requireSameSignIn, requireOtherSignIn } from "./policy.ts";
import { presentAnswer, presentLink } from "./present.ts";
import { requireLink } from "./queries.ts";
import { deviceLinkSchemas } from "./schema.ts";

/** The longest message as JSON. */
const maxMessageBodyBytes = maxDeviceLinkLength + 1_024;

const linkPath = "/device-links/:id";
const answerPath = `${linkPath}/answer`;

export const deviceLinkRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, now } = services;
  const readConfig = { access: "signed_in", rateLimits: [rateLimitRules.readDeviceLink] } as const;

  app.put(
    linkPath,
    {
      schema: deviceLinkSchemas.fill,
      bodyLimit: maxMessageBodyBytes,
      config: { access: "signed_in", rateLimits: [rateLimitRules.fillDeviceLink], idempotent: true },
    },
    async (request) => {
      const expiresAt = await fillLink(services, requireActor(request), request.params.id, request.body.message);
      return { expires_at: expiresAt.toISOString() };
    },
  );

  app.get(linkPath, { schema: deviceLinkSchemas.read, config: readConfig }, async (request) => {
    const { link, filledBy, caller } = await requireLink(db, requireActor(request), request.params.id, now());
    requireOtherSignIn(filledBy, caller);
    return presentLink(link);
  });

  app.put(
    answerPath,
    {
      schema: deviceLinkSchemas.answer,
      bodyLimit: maxMessageBodyBytes,
      config: { access: "signed_in", rateLimits: [rateLimitRules.write], idempotent: true },
    },
    async (request) => {
      const expiresAt = await answerLink(
        services,
        requireActor(request),
        request.params.id,
        request.body.answer,
        getPreferredLanguage(request),
      );
      return { expires_at: expiresAt.toISOString() };
    },
  );

  app.get(answerPath, { schema: deviceLinkSchemas.readAnswer, config: readConfig }, async (request) => {
    const { link, filledBy, caller } = await requireLink(db, requireActor(request), request.params.id, now());
    requireSameSignIn(filledBy, caller);
    return presentAnswer(link);
  });
};

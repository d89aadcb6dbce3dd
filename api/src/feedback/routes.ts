import { maxFeedbackLength } from "@relicario/shared/api";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { withLockedAccount } from "../accounts/lock-account.ts";
import { requireActor } from "../auth/access.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import type { Services } from "../services/services.ts";
import { saveFeedback } from "./queries.ts";
import { feedbackSchemas } from "./schema.ts";

/** JSON writes a control character in six bytes. */
const maxFeedbackBodyBytes = 6 * maxFeedbackLength + 1_024;

export const feedbackRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { env, limiter, mailer, now } = services;

  app.post(
    "/user/feedback",
    {
      schema: feedbackSchemas.send,
      bodyLimit: maxFeedbackBodyBytes,
      config: { access: "signed_in", rateLimits: [rateLimitRules.feedback] },
    },
    async (request, reply) => {
      const { accountId } = requireActor(request);
      const operatorEmail = env.OPERATOR_EMAIL;
      await withLockedAccount(services, accountId, async (tx) => {
        await saveFeedback(tx, accountId, request.body, now());
        if (
          operatorEmail === undefined ||
          !(await limiter.tryConsume(rateLimitRules.feedbackMail, { subject: "operator" }, tx))
        )
          return;
        await mailer.queue(tx, accountId, "feedback", { now: now(), address: operatorEmail });
      });
      return reply.code(204).send();
    },
  );
};

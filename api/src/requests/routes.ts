import multipart from "@fastify/multipart";
import { answerTokenHeader, maxJsonBodyBytes } from "@relicario/shared/api";
import type { FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { requireActor } from "../auth/access.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { getPreferredLanguage } from "../language/language.ts";
import type { Services } from "../services/services.ts";
import { validateAllButBody } from "../uploads/form.ts";
import { readParts } from "../uploads/queries.ts";
import { partTimeoutSeconds, receivePart } from "../uploads/receive-part.ts";
import { collectAnswer } from "./answer-content.ts";
import {
  authorizeAnswerToken,
  finishAnswer,
  readRequestOffer,
  openAnswerForParts,
  requireAnswer,
  startAnswer,
} from "./answer.ts";
import { dropRequest, createRequest, markCollected } from "./manage-requests.ts";
import type { AnswerScope } from "./policy.ts";
import { presentAnswer, presentRequest } from "./present.ts";
import { listRequests } from "./queries.ts";
import { requestSchemas } from "./schema.ts";

const answerRoute = "/requests/answer/:answer_id";
/** A ticket and two digests. */
const maxTicketBodyBytes = 128 * 1024;

export const requestRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, now } = services;
  const writeConfig = { access: "signed_in", rates: [rateLimitRules.write], idempotent: true } as const;
  const answerConfig = { access: "public", rates: [rateLimitRules.answerPart] } as const;

  const createRequestContext = (request: FastifyRequest) => ({ now: now(), language: getPreferredLanguage(request) });

  app.post(
    "/requests",
    {
      schema: requestSchemas.create,
      bodyLimit: maxJsonBodyBytes,
      config: { ...writeConfig, rates: [rateLimitRules.write, rateLimitRules.createRequest] },
    },
    (request) => createRequest(services, requireActor(request), request.body, createRequestContext(request)),
  );

  app.get("/requests", { schema: requestSchemas.list, config: { access: "signed_in" } }, async (request) => {
    const at = now();
    const rows = await listRequests(db, requireActor(request), {
      ended: request.query.get_expired,
      now: at,
    });
    return { requests: rows.map((row) => presentRequest(row.request, row.size, at)) };
  });

  app.patch(
    "/requests/:request_id",
    { schema: requestSchemas.collected, bodyLimit: maxJsonBodyBytes, config: writeConfig },
    (request) =>
      markCollected(
        services,
        requireActor(request),
        request.params.request_id,
        request.body.keyring,
        createRequestContext(request),
      ),
  );

  app.delete(
    "/requests/:request_id",
    { schema: requestSchemas.drop, bodyLimit: maxJsonBodyBytes, config: writeConfig },
    (request) =>
      dropRequest(
        services,
        requireActor(request),
        request.params.request_id,
        request.body.keyring,
        createRequestContext(request),
      ),
  );

  app.post(
    "/requests/collect",
    { schema: requestSchemas.collect, config: { access: "signed_in", idempotent: true } },
    (request) => collectAnswer(services, requireActor(request), request.body.request_id),
  );

  app.post(
    "/requests/get",
    { schema: requestSchemas.get, config: { access: "public", rates: [rateLimitRules.visit], idempotent: true } },
    (request) => readRequestOffer(services, request.body),
  );

  app.post(
    "/requests/answer",
    { schema: requestSchemas.start, config: { access: "public", rates: [rateLimitRules.startAnswer] } },
    (request) => startAnswer(services, request.body),
  );

  // Forms are read by the handler: a part as it arrives, never whole.
  await app.register(multipart, { throwFileSizeLimit: false });
  app.post(
    answerRoute,
    {
      schema: requestSchemas.part,
      validatorCompiler: validateAllButBody(requestSchemas.part.params),
      config: { ...answerConfig, bodyTimeoutSeconds: partTimeoutSeconds },
    },
    async (request) =>
      receivePart(
        services,
        await openAnswerForParts(services, await authorizeAnswerCall(request, request.params.answer_id)),
        request,
      ),
  );

  app.get(answerRoute, { schema: requestSchemas.state, config: answerConfig }, async (request) => {
    const scope = await authorizeAnswerCall(request, request.params.answer_id);
    return presentAnswer(await requireAnswer(services, db, scope), await readParts(db, scope, scope.answerId), now());
  });

  app.put(
    answerRoute,
    { schema: requestSchemas.finish, bodyLimit: maxTicketBodyBytes, config: { ...answerConfig, idempotent: true } },
    async (request) =>
      finishAnswer(services, await authorizeAnswerCall(request, request.params.answer_id), request.body),
  );

  function authorizeAnswerCall({ headers }: FastifyRequest, answerId: string): Promise<AnswerScope> {
    const token = headers[answerTokenHeader];
    return authorizeAnswerToken(services, answerId, typeof token === "string" ? token : undefined);
  }
};

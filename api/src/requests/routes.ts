import multipart from "@fastify/multipart";
import { answerTokenHeader, maxJsonBodyBytes } from "@relicario/shared/api";
import type { FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { actorOf } from "../http/access.ts";
import { rateRules } from "../http/rate-limits.ts";
import { languageOf } from "../mail/language.ts";
import type { Services } from "../services.ts";
import { checkingAllButTheForm } from "../uploads/form.ts";
import { readParts } from "../uploads/queries.ts";
import { partSeconds, receivePart } from "../uploads/receive-part.ts";
import { answerOf, finishAnswer, lookAtRequest, openAnswerForParts, requireAnswer, startAnswer } from "./answer.ts";
import { dropRequest, makeRequest, markCollected } from "./ask.ts";
import { collectAnswer } from "./content.ts";
import { requestsPolicy, type OwnAnswer } from "./policy.ts";
import { presentAnswer, presentRequest } from "./present.ts";
import { listRequests } from "./queries.ts";
import { requestSchemas } from "./schema.ts";

const ofAnswer = "/requests/answer/:answer_id";
/** A ticket and two digests. */
const maxTicketBodyBytes = 128 * 1024;

export const requestRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, now } = services;
  const write = { access: "signed_in", rates: [rateRules.write], idempotent: true } as const;
  const answering = { access: "anybody", rates: [rateRules.answerPart] } as const;

  const circumstances = (request: FastifyRequest) => ({ now: now(), language: languageOf(request) });

  app.post(
    "/requests",
    {
      schema: requestSchemas.create,
      bodyLimit: maxJsonBodyBytes,
      config: { ...write, rates: [rateRules.write, rateRules.makeRequest] },
    },
    (request) => makeRequest(services, requestsPolicy(actorOf(request)), request.body, circumstances(request)),
  );

  app.get("/requests", { schema: requestSchemas.list, config: { access: "signed_in" } }, async (request) => {
    const at = now();
    const rows = await listRequests(db, requestsPolicy(actorOf(request)), {
      ended: request.query.get_expired,
      now: at,
    });
    return { requests: rows.map((row) => presentRequest(row.request, row.size, at)) };
  });

  app.patch(
    "/requests/:request_id",
    { schema: requestSchemas.collected, bodyLimit: maxJsonBodyBytes, config: write },
    (request) =>
      markCollected(
        services,
        requestsPolicy(actorOf(request)),
        request.params.request_id,
        request.body.keyring,
        circumstances(request),
      ),
  );

  app.delete(
    "/requests/:request_id",
    { schema: requestSchemas.drop, bodyLimit: maxJsonBodyBytes, config: write },
    (request) =>
      dropRequest(
        services,
        requestsPolicy(actorOf(request)),
        request.params.request_id,
        request.body.keyring,
        circumstances(request),
      ),
  );

  app.post(
    "/requests/collect",
    { schema: requestSchemas.collect, config: { access: "signed_in", idempotent: true } },
    (request) => collectAnswer(services, requestsPolicy(actorOf(request)), request.body.request_id),
  );

  app.post(
    "/requests/get",
    { schema: requestSchemas.get, config: { access: "anybody", rates: [rateRules.visit], idempotent: true } },
    (request) => lookAtRequest(services, request.body),
  );

  app.post(
    "/requests/answer",
    { schema: requestSchemas.start, config: { access: "anybody", rates: [rateRules.startAnswer] } },
    (request) => startAnswer(services, request.body),
  );

  // Forms are read by the handler: a part as it arrives, never whole.
  await app.register(multipart, { throwFileSizeLimit: false });
  app.post(
    ofAnswer,
    {
      schema: requestSchemas.part,
      validatorCompiler: checkingAllButTheForm(requestSchemas.part.params),
      config: { ...answering, bodySeconds: partSeconds },
    },
    async (request) =>
      receivePart(
        services,
        await openAnswerForParts(services, await ownAnswer(request, request.params.answer_id)),
        request,
      ),
  );

  app.get(ofAnswer, { schema: requestSchemas.state, config: answering }, async (request) => {
    const own = await ownAnswer(request, request.params.answer_id);
    return presentAnswer(await requireAnswer(services, db, own), await readParts(db, own, own.answerId), now());
  });

  app.put(
    ofAnswer,
    { schema: requestSchemas.finish, bodyLimit: maxTicketBodyBytes, config: { ...answering, idempotent: true } },
    async (request) => finishAnswer(services, await ownAnswer(request, request.params.answer_id), request.body),
  );

  function ownAnswer({ headers }: FastifyRequest, answerId: string): Promise<OwnAnswer> {
    const token = headers[answerTokenHeader];
    return answerOf(services, answerId, typeof token === "string" ? token : undefined);
  }
};

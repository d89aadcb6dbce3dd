import multipart from "@fastify/multipart";
import { answerTokenHeader, maxJsonBodyBytes } from "@relicario/shared/api";
import type { FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { requireActor } from "../auth/access.ts";
import { toPage } from "../db/page.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { withStateRev } from "../keyring/with-state-rev.ts";
import { getRequestContext } from "../language/language.ts";
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
  const { concurrency, db, now } = services;
  const writeConfig = { access: "signed_in", rateLimits: [rateLimitRules.write], idempotent: true } as const;
  const answerConfig = { access: "public", rateLimits: [rateLimitRules.answerPart] } as const;

  app.post(
    "/requests",
    {
      schema: requestSchemas.create,
      bodyLimit: maxJsonBodyBytes,
      config: { ...writeConfig, rateLimits: [rateLimitRules.write, rateLimitRules.createRequest] },
    },
    (request) => createRequest(services, requireActor(request), request.body, getRequestContext(request, now())),
  );

  app.get("/requests", { schema: requestSchemas.list, config: { access: "signed_in" } }, async (request) => {
    const { get_expired: includeEnded, limit, cursor } = request.query;
    const scope = requireActor(request);
    const options = { includeEnded, limit, cursor, now: now() };
    return concurrency.runListReadExclusive(scope.accountId, async () => {
      const { page, stateRev } = await withStateRev(db, scope, (tx) => listRequests(tx, scope, options));
      const { rows, nextCursor } = toPage(page, limit, (row) => ({
        at: row.request.createdAt,
        id: row.request.requestId,
      }));
      return {
        requests: rows.map((row) => presentRequest(row.request, row.size, options.now)),
        next_cursor: nextCursor,
        state_rev: stateRev,
      };
    });
  });

  app.patch(
    "/requests/:request_id",
    { schema: requestSchemas.markCollected, bodyLimit: maxJsonBodyBytes, config: writeConfig },
    (request) =>
      markCollected(
        services,
        requireActor(request),
        request.params.request_id,
        request.body.keyring,
        getRequestContext(request, now()),
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
        getRequestContext(request, now()),
      ),
  );

  app.post(
    "/requests/collect",
    { schema: requestSchemas.collectAnswer, config: { access: "signed_in", idempotent: true } },
    (request) => collectAnswer(services, requireActor(request), request.body.request_id),
  );

  app.post(
    "/requests/get",
    {
      schema: requestSchemas.readOffer,
      config: { access: "public", rateLimits: [rateLimitRules.visit], idempotent: true },
    },
    (request) => readRequestOffer(services, request.body),
  );

  app.post(
    "/requests/answer",
    { schema: requestSchemas.startAnswer, config: { access: "public", rateLimits: [rateLimitRules.startAnswer] } },
    (request) => startAnswer(services, request.body),
  );

  // The handler reads the form: a part is streamed, never buffered.
  await app.register(multipart, { throwFileSizeLimit: false });
  app.post(
    answerRoute,
    {
      schema: requestSchemas.receivePart,
      validatorCompiler: validateAllButBody(requestSchemas.receivePart.params),
      config: { ...answerConfig, bodyTimeoutSeconds: partTimeoutSeconds },
    },
    async (request) =>
      receivePart(
        services,
        await openAnswerForParts(services, await authorizeAnswerCall(request, request.params.answer_id)),
        request,
      ),
  );

  app.get(answerRoute, { schema: requestSchemas.readAnswerState, config: answerConfig }, async (request) => {
    const scope = await authorizeAnswerCall(request, request.params.answer_id);
    return presentAnswer(await requireAnswer(services, db, scope), await readParts(db, scope, scope.answerId), now());
  });

  app.put(
    answerRoute,
    {
      schema: requestSchemas.finishAnswer,
      bodyLimit: maxTicketBodyBytes,
      config: { ...answerConfig, idempotent: true },
    },
    async (request) =>
      finishAnswer(services, await authorizeAnswerCall(request, request.params.answer_id), request.body),
  );

  function authorizeAnswerCall({ headers }: FastifyRequest, answerId: string): Promise<AnswerScope> {
    const token = headers[answerTokenHeader];
    return authorizeAnswerToken(services, answerId, typeof token === "string" ? token : undefined);
  }
};

import multipart from "@fastify/multipart";
import { maxJsonBodyBytes, StartUpload } from "@relicario/shared/api";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { actorOf } from "../http/access.ts";
import { Problem } from "../http/problem.ts";
import { rateRules } from "../http/rate-limits.ts";
import { languageOf } from "../mail/language.ts";
import type { Services } from "../services.ts";
import { finishUpload } from "./finish.ts";
import { checkingAllButTheForm, readFields } from "./form.ts";
import { openUpload } from "./open-upload.ts";
import { uploadsPolicy } from "./policy.ts";
import { presentStarted, presentState } from "./present.ts";
import { findUpload, readParts } from "./queries.ts";
import { partSeconds, receivePart } from "./receive-part.ts";
import { cancelUpload } from "./remove.ts";
import { uploadSchemas } from "./schema.ts";
import { startUpload } from "./start.ts";

const path = "/v2/secrets/secret/upload/:upload_id";
const write = { access: "signed_in", rates: [rateRules.write] } as const;

const validatorCompiler = checkingAllButTheForm(uploadSchemas.part.params);

export const uploadRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, now } = services;

  // Forms are read by the handlers: a part as it arrives, never whole.
  await app.register(multipart, { throwFileSizeLimit: false });
  app.post("/v2/secrets/secret", { schema: uploadSchemas.start, validatorCompiler, config: write }, async (request) => {
    const wish = await readFields(request, StartUpload, 4);
    return presentStarted(await startUpload(services, uploadsPolicy(actorOf(request)), wish));
  });

  app.post(
    path,
    { schema: uploadSchemas.part, validatorCompiler, config: { ...write, bodySeconds: partSeconds } },
    async (request) =>
      receivePart(
        services,
        await openUpload(services, uploadsPolicy(actorOf(request)), request.params.upload_id),
        request,
      ),
  );

  app.get(path, { schema: uploadSchemas.state, config: { access: "signed_in" } }, async (request) => {
    const own = uploadsPolicy(actorOf(request));
    const upload = await findUpload(db, own, request.params.upload_id, now());
    if (upload === null) throw new Problem("not_found");
    return presentState(upload, await readParts(db, own, upload.id));
  });

  app.put(
    path,
    { schema: uploadSchemas.finish, bodyLimit: maxJsonBodyBytes, config: { ...write, idempotent: true } },
    (request) =>
      finishUpload(services, uploadsPolicy(actorOf(request)), request.params.upload_id, request.body, {
        now: now(),
        language: languageOf(request),
      }),
  );

  app.delete(path, { schema: uploadSchemas.cancel, config: write }, async (request, reply) => {
    await cancelUpload(services, uploadsPolicy(actorOf(request)), request.params.upload_id);
    return reply.code(204).send();
  });
};

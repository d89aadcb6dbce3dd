import multipart from "@fastify/multipart";
import { maxJsonBodyBytes, StartUploadFields } from "@relicario/shared/api";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { requireActor } from "../auth/access.ts";
import { Problem } from "../http/problem.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { getRequestContext } from "../language/language.ts";
import type { Services } from "../services/services.ts";
import { cancelUpload } from "./cancel.ts";
import { finishUpload } from "./finish.ts";
import { validateAllButBody, readFields } from "./form.ts";
import { openUpload } from "./open-upload.ts";
import { presentStartedUpload, presentUploadState } from "./present.ts";
import { findUpload, readParts } from "./queries.ts";
import { partTimeoutSeconds, receivePart } from "./receive-part.ts";
import { uploadSchemas } from "./schema.ts";
import { startUpload } from "./start.ts";

const uploadRoute = "/v2/secrets/secret/upload/:upload_id";
const writeConfig = { access: "signed_in", rateLimits: [rateLimitRules.write] } as const;

const validatorCompiler = validateAllButBody(uploadSchemas.receivePart.params);

export const uploadRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, now } = services;

  // The handlers read forms: a part is streamed, never buffered.
  await app.register(multipart, { throwFileSizeLimit: false });
  app.post(
    "/v2/secrets/secret",
    { schema: uploadSchemas.start, validatorCompiler, config: writeConfig },
    async (request) => {
      const fields = await readFields(request, StartUploadFields, 4);
      return presentStartedUpload(await startUpload(services, requireActor(request), fields));
    },
  );

  app.post(
    uploadRoute,
    {
      schema: uploadSchemas.receivePart,
      validatorCompiler,
      config: { ...writeConfig, bodyTimeoutSeconds: partTimeoutSeconds },
    },
    async (request) =>
      receivePart(services, await openUpload(services, requireActor(request), request.params.upload_id), request),
  );

  app.get(uploadRoute, { schema: uploadSchemas.readState, config: { access: "signed_in" } }, async (request) => {
    const scope = requireActor(request);
    const upload = await findUpload(db, scope, request.params.upload_id, now());
    if (upload === null) throw new Problem("not_found");
    return presentUploadState(upload, await readParts(db, scope, upload.id));
  });

  app.put(
    uploadRoute,
    { schema: uploadSchemas.finish, bodyLimit: maxJsonBodyBytes, config: { ...writeConfig, idempotent: true } },
    (request) =>
      finishUpload(
        services,
        requireActor(request),
        request.params.upload_id,
        request.body,
        getRequestContext(request, now()),
      ),
  );

  app.delete(uploadRoute, { schema: uploadSchemas.cancel, config: writeConfig }, async (request, reply) => {
    await cancelUpload(services, requireActor(request), request.params.upload_id);
    return reply.code(204).send();
  });
};

import { maxJsonBodyBytes, sharedDownloadPath } from "@relicario/shared/api";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { withLockedAccount } from "../accounts/lock-account.ts";
import { adjustStorageUsed } from "../accounts/storage-used.ts";
import type { TimedActivityEvent } from "../activity/record-activity.ts";
import { requireActor } from "../auth/access.ts";
import { getAddressGroup } from "../http/address-group.ts";
import { Problem } from "../http/problem.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { getPreferredLanguage } from "../language/language.ts";
import { readRangeRequest, sendContent } from "../secrets/stream.ts";
import type { Services } from "../services/services.ts";
import { changeShare, createShare } from "./create-share.ts";
import { openDownload } from "./download.ts";
import { revokeShare } from "./end-shares.ts";
import { readShareInfo, openShare } from "./open-share.ts";
import { authorizePublicVisitor, authorizeSignedInVisitor } from "./policy.ts";
import { presentOwnShare, presentReceived } from "./present.ts";
import { findShare, listReceived, listShares } from "./queries.ts";
import { shareSchemas } from "./schema.ts";

export const shareRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { concurrency, db, now } = services;
  const writeConfig = { access: "signed_in", rates: [rateLimitRules.write], idempotent: true } as const;
  /**
   * A claim is the same view for the same `claim_id`; a wrong password may be counted twice where a
   * connection was lost.
   */
  const visitConfig = { rates: [rateLimitRules.visit], idempotent: true } as const;

  app.post(
    "/share",
    {
      schema: shareSchemas.create,
      bodyLimit: maxJsonBodyBytes,
      config: { ...writeConfig, rates: [rateLimitRules.write, rateLimitRules.createShare] },
    },
    (request) =>
      createShare(services, requireActor(request), request.body, {
        now: now(),
        language: getPreferredLanguage(request),
      }),
  );

  app.get("/sharelist/:secret_id", { schema: shareSchemas.list, config: { access: "signed_in" } }, async (request) => {
    const at = now();
    const rows = await listShares(db, requireActor(request), request.params.secret_id, {
      ended: request.query.get_expired,
      now: at,
    });
    return { shares: rows.map(({ share, recipientName }) => presentOwnShare(share, recipientName, at)) };
  });

  app.patch(
    "/share/:share_id",
    { schema: shareSchemas.change, bodyLimit: maxJsonBodyBytes, config: writeConfig },
    (request) =>
      changeShare(services, requireActor(request), request.params.share_id, request.body, {
        now: now(),
        language: getPreferredLanguage(request),
      }),
  );

  // The first is the path of the specification; both mean the same.
  for (const path of ["/share:share_id(^[A-Za-z0-9_-]{22}$)", "/share/:share_id"]) {
    app.delete(path, { schema: shareSchemas.revoke, config: writeConfig }, async (request, reply) => {
      const scope = requireActor(request);
      const { share_id: shareId } = request.params;
      await withLockedAccount(services, scope.accountId, async (tx) => {
        const share = await findShare(tx, scope.accountId, shareId);
        if (share === null) throw new Problem("not_found");
        const at = now();
        const isEnded = share.revokedAt !== null || share.endedAt !== null;
        const event: TimedActivityEvent | undefined = isEnded
          ? undefined
          : { event: { kind: "share_revoked", secretId: share.secretId }, now: at };
        await adjustStorageUsed(tx, scope.accountId, -(await revokeShare(tx, scope.accountId, shareId, at)), event);
      });
      return reply.code(204).send();
    });
  }

  app.post(
    "/share/get-public-secret/:share_id",
    { schema: shareSchemas.look, config: { ...visitConfig, access: "optional_session" } },
    (request) => readShareInfo(services, authorizePublicVisitor(request.actor), request.params.share_id),
  );
  app.post(
    "/share/get-public-secret",
    { schema: shareSchemas.open, config: { ...visitConfig, access: "optional_session" } },
    (request) => openShare(services, authorizePublicVisitor(request.actor), request.body),
  );
  app.post(
    "/share/get-secret/:share_id",
    { schema: shareSchemas.look, config: { ...visitConfig, access: "signed_in" } },
    (request) => readShareInfo(services, authorizeSignedInVisitor(requireActor(request)), request.params.share_id),
  );
  app.post(
    "/share/get-secret",
    { schema: shareSchemas.open, config: { ...visitConfig, access: "signed_in" } },
    (request) => openShare(services, authorizeSignedInVisitor(requireActor(request)), request.body),
  );

  // Counted before the handler, which may be run again for one and the same download.
  const admitDownload = async ({ actor, ip }: FastifyRequest, { raw }: FastifyReply): Promise<void> => {
    concurrency.trackDownload(actor?.accountId ?? getAddressGroup(ip), raw);
  };
  const downloadOptions = {
    config: { access: "optional_session", rates: [rateLimitRules.downloadShared], idempotent: true },
    preHandler: admitDownload,
  } as const;
  app.post(sharedDownloadPath, { schema: shareSchemas.content, ...downloadOptions }, async (request, reply) =>
    sendContent(reply, await openDownload(services, request.actor, request.body.token, readRangeRequest(request))),
  );

  app.get(
    "/user/share-with-me",
    { schema: shareSchemas.received, config: { access: "signed_in" } },
    async (request) => {
      const at = now();
      const rows = await listReceived(db, requireActor(request), {
        ended: request.query.get_expired,
        now: at,
      });
      return { shares: rows.map((row) => presentReceived(row, at)) };
    },
  );
};

import { maxJsonBodyBytes, sharedDownloadPath } from "@relicario/shared/api";
import { getClientNetwork } from "@relicario/tooling/http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { withLockedAccount } from "../accounts/lock-account.ts";
import { adjustStorageUsed } from "../accounts/storage-used.ts";
import type { TimedActivityEvent } from "../activity/record-activity.ts";
import { requireActor } from "../auth/access.ts";
import { toPage } from "../db/page.ts";
import { Problem } from "../http/problem.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { withStateRev } from "../keyring/with-state-rev.ts";
import { getRequestContext } from "../language/language.ts";
import { readRangeRequest, sendContent } from "../secrets/stream.ts";
import type { Services } from "../services/services.ts";
import { changeShare, createShare } from "./manage-shares.ts";
import { openDownload } from "./download.ts";
import { revokeShare } from "./end-shares.ts";
import { readShareInfo, openShare } from "./open-share.ts";
import { authorizePublicVisitor, authorizeSignedInVisitor } from "./policy.ts";
import { presentOwnShare, presentReceived } from "./present.ts";
import { findShare, listReceived, listShares } from "./queries.ts";
import { shareSchemas } from "./schema.ts";

export const shareRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { concurrency, db, now } = services;
  const writeConfig = { access: "signed_in", rateLimits: [rateLimitRules.write], idempotent: true } as const;
  /**
   * Repeating a claim gives the same view; a retry after a lost connection may count a wrong
   * password twice.
   */
  const visitConfig = { rateLimits: [rateLimitRules.visit], idempotent: true } as const;

  app.post(
    "/share",
    {
      schema: shareSchemas.create,
      bodyLimit: maxJsonBodyBytes,
      config: { ...writeConfig, rateLimits: [rateLimitRules.write, rateLimitRules.createShare] },
    },
    (request) => createShare(services, requireActor(request), request.body, getRequestContext(request, now())),
  );

  app.get("/sharelist/:secret_id", { schema: shareSchemas.list, config: { access: "signed_in" } }, async (request) => {
    const { get_expired: includeEnded, limit, cursor } = request.query;
    const scope = requireActor(request);
    const options = { includeEnded, limit, cursor, now: now() };
    return concurrency.runListReadExclusive(scope.accountId, async () => {
      const { page, stateRev } = await withStateRev(db, scope, (tx) =>
        listShares(tx, scope, request.params.secret_id, options),
      );
      const { rows, nextCursor } = toPage(page, limit, ({ share }) => ({ at: share.createdAt, id: share.shareId }));
      return {
        shares: rows.map(({ share, recipientName }) => presentOwnShare(share, recipientName, options.now)),
        next_cursor: nextCursor,
        state_rev: stateRev,
      };
    });
  });

  app.patch(
    "/share/:share_id",
    { schema: shareSchemas.change, bodyLimit: maxJsonBodyBytes, config: writeConfig },
    (request) =>
      changeShare(
        services,
        requireActor(request),
        request.params.share_id,
        request.body,
        getRequestContext(request, now()),
      ),
  );

  // The first path is the specification's; both do the same.
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
    { schema: shareSchemas.readInfo, config: { ...visitConfig, access: "optional_session" } },
    (request) => readShareInfo(services, authorizePublicVisitor(request.actor), request.params.share_id),
  );
  app.post(
    "/share/get-public-secret",
    { schema: shareSchemas.open, config: { ...visitConfig, access: "optional_session" } },
    (request) => openShare(services, authorizePublicVisitor(request.actor), request.body),
  );
  app.post(
    "/share/get-secret/:share_id",
    { schema: shareSchemas.readInfo, config: { ...visitConfig, access: "signed_in" } },
    (request) => readShareInfo(services, authorizeSignedInVisitor(requireActor(request)), request.params.share_id),
  );
  app.post(
    "/share/get-secret",
    { schema: shareSchemas.open, config: { ...visitConfig, access: "signed_in" } },
    (request) => openShare(services, authorizeSignedInVisitor(requireActor(request)), request.body),
  );

  // Before the handler, which may run again for the same download.
  const admitDownload = async ({ actor, ip }: FastifyRequest, { raw }: FastifyReply): Promise<void> => {
    concurrency.admitDownload(actor?.accountId ?? getClientNetwork(ip), raw);
  };
  const downloadOptions = {
    config: { access: "optional_session", rateLimits: [rateLimitRules.downloadShared], idempotent: true },
    preHandler: admitDownload,
  } as const;
  app.post(sharedDownloadPath, { schema: shareSchemas.downloadContent, ...downloadOptions }, async (request, reply) =>
    sendContent(reply, await openDownload(services, request.actor, request.body.token, readRangeRequest(request))),
  );

  app.get(
    "/user/share-with-me",
    { schema: shareSchemas.listReceived, config: { access: "signed_in" } },
    async (request) => {
      const { get_expired: includeEnded, limit, cursor } = request.query;
      const scope = requireActor(request);
      const options = { includeEnded, limit, cursor, now: now() };
      return concurrency.runListReadExclusive(scope.accountId, async () => {
        const { page, stateRev } = await withStateRev(db, scope, (tx) => listReceived(tx, scope, options));
        const { rows, nextCursor } = toPage(page, limit, ({ share, addedAt }) => ({ at: addedAt, id: share.shareId }));
        return {
          shares: rows.map((row) => presentReceived(row, options.now)),
          next_cursor: nextCursor,
          state_rev: stateRev,
        };
      });
    },
  );
};

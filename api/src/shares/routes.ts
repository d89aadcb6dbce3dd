import { maxJsonBodyBytes, sharedDownloadPath } from "@relicario/shared/api";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import type { Happened } from "../activity/note.ts";
import { actorOf } from "../http/access.ts";
import { addressGroup } from "../http/address-group.ts";
import { Problem } from "../http/problem.ts";
import { rateRules } from "../http/rate-limits.ts";
import { changeAccount } from "../keyring/queries.ts";
import { languageOf } from "../mail/language.ts";
import { addStorage } from "../secrets/queries.ts";
import { rangeRequestOf, sendContent } from "../secrets/stream.ts";
import type { Services } from "../services.ts";
import { openDownload } from "./download.ts";
import { revokeShare } from "./end.ts";
import { changeShare, makeShare } from "./make.ts";
import { lookAt, openShare } from "./open.ts";
import { publicPolicy, sharesPolicy, signedInPolicy } from "./policy.ts";
import { presentOwnShare, presentReceived } from "./present.ts";
import { findShare, listReceived, listShares } from "./queries.ts";
import { shareSchemas } from "./schema.ts";

export const shareRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { calls, db, now } = services;
  const write = { access: "signed_in", rates: [rateRules.write], idempotent: true } as const;
  /**
   * A claim is the same view for the same `claim_id`; a wrong password may be counted twice where a
   * connection was lost.
   */
  const visit = { rates: [rateRules.visit], idempotent: true } as const;

  app.post(
    "/share",
    {
      schema: shareSchemas.create,
      bodyLimit: maxJsonBodyBytes,
      config: { ...write, rates: [rateRules.write, rateRules.makeShare] },
    },
    (request) =>
      makeShare(services, sharesPolicy(actorOf(request)), request.body, { now: now(), language: languageOf(request) }),
  );

  app.get("/sharelist/:secret_id", { schema: shareSchemas.list, config: { access: "signed_in" } }, async (request) => {
    const at = now();
    const rows = await listShares(db, sharesPolicy(actorOf(request)), request.params.secret_id, {
      ended: request.query.get_expired,
      now: at,
    });
    return { shares: rows.map(({ share, recipientName }) => presentOwnShare(share, recipientName, at)) };
  });

  app.patch(
    "/share/:share_id",
    { schema: shareSchemas.change, bodyLimit: maxJsonBodyBytes, config: write },
    (request) =>
      changeShare(services, sharesPolicy(actorOf(request)), request.params.share_id, request.body, {
        now: now(),
        language: languageOf(request),
      }),
  );

  // The first is the path of the specification; both mean the same.
  for (const path of ["/share:share_id(^[A-Za-z0-9_-]{22}$)", "/share/:share_id"]) {
    app.delete(path, { schema: shareSchemas.revoke, config: write }, async (request, reply) => {
      const own = sharesPolicy(actorOf(request));
      const { share_id: shareId } = request.params;
      await changeAccount(services, own.accountId, async (tx) => {
        const share = await findShare(tx, own.accountId, shareId);
        if (share === null) throw new Problem("not_found");
        const at = now();
        const isOver = share.revokedAt !== null || share.endedAt !== null;
        const happened: Happened | undefined = isOver
          ? undefined
          : { noted: { kind: "share_revoked", secretId: share.secretId }, now: at };
        await addStorage(tx, own.accountId, -(await revokeShare(tx, own.accountId, shareId, at)), happened);
      });
      return reply.code(204).send();
    });
  }

  app.post(
    "/share/get-public-secret/:share_id",
    { schema: shareSchemas.look, config: { ...visit, access: "anyone" } },
    (request) => lookAt(services, publicPolicy(request.actor), request.params.share_id),
  );
  app.post(
    "/share/get-public-secret",
    { schema: shareSchemas.open, config: { ...visit, access: "anyone" } },
    (request) => openShare(services, publicPolicy(request.actor), request.body),
  );
  app.post(
    "/share/get-secret/:share_id",
    { schema: shareSchemas.look, config: { ...visit, access: "signed_in" } },
    (request) => lookAt(services, signedInPolicy(actorOf(request)), request.params.share_id),
  );
  app.post("/share/get-secret", { schema: shareSchemas.open, config: { ...visit, access: "signed_in" } }, (request) =>
    openShare(services, signedInPolicy(actorOf(request)), request.body),
  );

  // Counted before the handler, which may be run again for one and the same download.
  const countDownload = async ({ actor, ip }: FastifyRequest, { raw }: FastifyReply): Promise<void> => {
    calls.enterDownload(actor?.accountId ?? addressGroup(ip), raw);
  };
  const download = {
    config: { access: "anyone", rates: [rateRules.downloadShared], idempotent: true },
    preHandler: countDownload,
  } as const;
  app.post(sharedDownloadPath, { schema: shareSchemas.content, ...download }, async (request, reply) =>
    sendContent(reply, await openDownload(services, request.actor, request.body.token, rangeRequestOf(request))),
  );

  app.get(
    "/user/share-with-me",
    { schema: shareSchemas.received, config: { access: "signed_in" } },
    async (request) => {
      const at = now();
      const rows = await listReceived(db, sharesPolicy(actorOf(request)), {
        ended: request.query.get_expired,
        now: at,
      });
      return { shares: rows.map((row) => presentReceived(row, at)) };
    },
  );
};

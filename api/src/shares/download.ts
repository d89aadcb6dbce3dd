import { createAccountScope, type Actor } from "../auth/actor.ts";
import { Problem } from "../http/problem.ts";
import { openAnswerContent } from "../requests/answer-content.ts";
import { openContent, type RangeRequest, type StreamedContent } from "../secrets/stream.ts";
import type { Services } from "../services/services.ts";
import { isServedPublicly } from "../vendors/policy.ts";
import { throwUnavailableIfMissing, extendClaim } from "./open-share.ts";
import { getEndReason, findShareAndOwner } from "./queries.ts";

/**
 * Opens the content of a claimed view, repeatedly as long as pauses are below ten minutes; or the
 * answer to a request. Refuses once the share is revoked or expired, its owner is locked, or the
 * vendor is disabled.
 *
 * @throws Problem `share_unavailable`, `range_not_satisfiable`
 */
export async function openDownload(
  services: Services,
  actor: Actor | null,
  token: string,
  rangeRequest: RangeRequest,
): Promise<StreamedContent> {
  const { db, grants, vendors, now } = services;
  const grant = await grants.verify(token, "share", "request");
  if (grant === null) throw new Problem("share_unavailable");
  if (grant.for === "request") {
    if (actor?.accountId !== grant.account) throw new Problem("share_unavailable");
    return openAnswerContent(services, grant, rangeRequest).catch(throwUnavailableIfMissing);
  }
  const shareAndOwner = await findShareAndOwner(db, grant.account, grant.share);
  const endReason = shareAndOwner === null ? "ended" : getEndReason(shareAndOwner.share, now());
  const isEnded = endReason === "revoked" || endReason === "ended" || endReason === "expired";
  if (
    shareAndOwner === null ||
    isEnded ||
    !isServedPublicly(vendors, shareAndOwner.owner) ||
    (grant.opened_by !== null && grant.opened_by !== actor?.accountId)
  )
    throw new Problem("share_unavailable");
  if (!(await extendClaim(db, { accountId: grant.account, shareId: grant.share, claimId: grant.claim }, now())))
    throw new Problem("share_unavailable");
  const { share, owner } = shareAndOwner;
  return openContent(services, createAccountScope(owner.id, owner.vendorId), {
    id: share.secretId,
    version: grant.version,
    ...rangeRequest,
  }).catch(throwUnavailableIfMissing);
}

import type { Actor } from "../auth/session-tokens.ts";
import { Problem } from "../http/problem.ts";
import { openAnswer } from "../requests/content.ts";
import { openContent, type RangeRequest, type StreamedContent } from "../secrets/stream.ts";
import type { Services } from "../services.ts";
import { servesStrangers } from "../vendors/policy.ts";
import { hidden, prolongClaim } from "./open.ts";
import { endOf, findShareAndOwner } from "./queries.ts";

/**
 * The content that a view was claimed for, as often as it is asked for without a pause of ten
 * minutes; or the answer to a request. A share that was revoked or that expired meanwhile gives
 * nothing any more, nor does one whose owner or vendor was closed.
 *
 * @throws Problem `share_unavailable`, `range_not_satisfiable`
 */
export async function openDownload(
  services: Services,
  actor: Actor | null,
  token: string,
  range: RangeRequest,
): Promise<StreamedContent> {
  const { db, grants, vendors, now } = services;
  const grant = await grants.read(token, "share", "request");
  if (grant === null) throw new Problem("share_unavailable");
  if (grant.for === "request") {
    if (actor?.accountId !== grant.account) throw new Problem("share_unavailable");
    return openAnswer(services, grant, range).catch(hidden);
  }
  const found = await findShareAndOwner(db, grant.account, grant.share);
  const end = found === null ? "ended" : endOf(found.share, now());
  const isOver = end === "revoked" || end === "ended" || end === "expired";
  if (
    found === null ||
    isOver ||
    !servesStrangers(vendors, found.owner) ||
    (grant.opened_by !== null && grant.opened_by !== actor?.accountId)
  )
    throw new Problem("share_unavailable");
  if (!(await prolongClaim(db, { accountId: grant.account, shareId: grant.share, claimId: grant.claim }, now())))
    throw new Problem("share_unavailable");
  const { share, owner } = found;
  return openContent(
    services,
    { accountId: owner.id, vendorId: owner.vendorId },
    { id: share.secretId, version: grant.version, ...range },
  ).catch(hidden);
}

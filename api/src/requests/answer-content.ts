import type { CollectAnswerResponse } from "@relicario/shared/api";
import type { z } from "zod";

import type { AccountScope } from "../auth/actor.ts";
import { maxDownloadHours, type GrantOf } from "../auth/grants.ts";
import { Problem } from "../http/problem.ts";
import { openStoredContent, type RangeRequest, type StreamedContent } from "../secrets/stream.ts";
import type { Services } from "../services/services.ts";
import { getPartSize, readParts } from "../uploads/queries.ts";
import { findAnswer, findRequest } from "./queries.ts";

/**
 * Returns the answer's ticket and a download token; changes nothing. @throws Problem `not_found`,
 * also before there is an answer; `content_gone` after the answer was dropped
 */
export async function collectAnswer(
  { db, grants, now }: Services,
  { accountId }: AccountScope,
  requestId: string,
): Promise<z.infer<typeof CollectAnswerResponse>> {
  const request = await findRequest(db, accountId, requestId);
  if (request?.providedAt == null) throw new Problem("not_found");
  const { answerId, ticket, providedAt } = request;
  const answer = answerId === null ? null : await findAnswer(db, { accountId, requestId, answerId }, now());
  if (answer === null || ticket === null) throw new Problem("content_gone");
  const expiresAt = new Date(now().getTime() + maxDownloadHours * 3_600_000);
  const token = await grants.issue(
    { for: "request", account: accountId, request: requestId, answer: answer.id },
    expiresAt,
  );
  return {
    ticket: ticket.toString("base64url"),
    provided_at: providedAt.toISOString(),
    download: { token, size: answer.size, expires_at: expiresAt.toISOString() },
  };
}

/** @throws Problem `content_gone`, `range_not_satisfiable` */
export function openAnswerContent(
  services: Services,
  { account: accountId, request: requestId, answer: answerId }: GrantOf<"request">,
  range: RangeRequest,
): Promise<StreamedContent> {
  return openStoredContent(services, range, async (tx) => {
    const answer = await findAnswer(tx, { accountId, requestId, answerId }, services.now());
    if (answer?.contentSha256 == null || answer.finishSha256 === null) throw new Problem("content_gone");
    const { size, partSize, contentSha256 } = answer;
    const readObjects = async (from: number, to: number) =>
      (await readParts(tx, { accountId }, answerId))
        .slice(from - 1, to)
        .map(({ part, objectKey, sha256 }) => ({ key: objectKey, size: getPartSize(answer, part), sha256 }));
    return { size, partSize, contentSha256, readObjects };
  });
}

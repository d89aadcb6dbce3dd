import type { AnswerState, RequestList } from "@relicario/shared/api";
import type { z } from "zod";

import { countParts, getPartSize, type PartRow } from "../uploads/queries.ts";
import { getUploadExpiry } from "../uploads/start.ts";
import { getRequestState, type AnswerRow, type RequestRow } from "./queries.ts";

export function presentRequest(request: RequestRow, size: number | null, now: Date): RequestList["requests"][number] {
  return {
    request_id: request.requestId,
    state: getRequestState(request, now),
    created_at: request.createdAt.toISOString(),
    expires_at: request.expiresAt.toISOString(),
    max_size: request.maxSize,
    size,
    provided_at: request.providedAt?.toISOString() ?? null,
    collected_at: request.collectedAt?.toISOString() ?? null,
  };
}

export function presentAnswer(answer: AnswerRow, parts: readonly PartRow[], now: Date): z.infer<typeof AnswerState> {
  const { id, size, partSize, expiresAt, finishSha256 } = answer;
  const received = parts.map(({ part, sha256 }) => ({
    part,
    size: getPartSize(answer, part),
    sha256: sha256.toString("base64url"),
  }));
  return {
    answer_id: id,
    size,
    part_size: partSize,
    parts: countParts(answer),
    received,
    expires_at: (expiresAt ?? getUploadExpiry(now)).toISOString(),
    finished: finishSha256 !== null,
  };
}

import { ActivityKind, type ActivityResponse } from "@relicario/shared/api";

import type { ActivityRow } from "./queries.ts";

/** @param limit maximum rows of a page; only a page with that many rows has a next page */
export function presentActivity(rows: readonly ActivityRow[], limit: number): ActivityResponse {
  const entries = rows.map(({ id, at, kind, count, secretIdSuffix: secret, device, address }) => ({
    id,
    at: at.toISOString(),
    kind: ActivityKind.parse(kind),
    count,
    secret,
    device,
    address,
  }));
  return { entries, next_cursor: rows.length < limit ? null : (entries.at(-1)?.id ?? null) };
}

import type { SecretContent, SecretPage, StoredSecret } from "@relicario/shared/api";

import type { ListedPage, SecretRow, VersionRow } from "./queries.ts";

export function presentSecret(row: SecretRow): StoredSecret {
  return {
    secret_db_id: row.id,
    version: row.version,
    favorite: row.favorite,
    label: row.label,
    size: row.size,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    ...(row.deletedAt === null ? {} : { deleted_at: row.deletedAt.toISOString() }),
    ...(row.droppedAt === null ? {} : { dropped_at: row.droppedAt.toISOString() }),
  };
}

export function presentPage({ rows, total, nextCursor, stateRev, changes, purged }: ListedPage): SecretPage {
  return {
    secrets: rows.map(presentSecret),
    total,
    next_cursor: nextCursor,
    state_rev: stateRev,
    changes,
    ...(purged === null ? {} : { purged: [...purged] }),
  };
}

/** @param content null when it is too large for one answer */
export function presentContent(row: SecretRow, wanted: VersionRow, versions: readonly VersionRow[], content: Buffer | null): SecretContent {
  return {
    version: wanted.version,
    ticket: wanted.ticket.toString("base64url"),
    content: content === null ? null : content.toString("base64url"),
    label: row.label,
    versions: versions.map(({ version, size, createdAt }) => ({ version, size, created_at: createdAt.toISOString() })),
  };
}

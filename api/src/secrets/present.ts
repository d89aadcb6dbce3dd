import type { SecretContent, SecretVersions, StoredSecret, VersionRecord } from "@relicario/shared/api";

import type { ListedPage } from "./listing.ts";
import type { VersionWithTicket, SecretRow, VersionRow } from "./queries.ts";

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
    ...(row.trashConfirmedAt === null ? {} : { trash_confirmed_at: row.trashConfirmedAt.toISOString() }),
    ...(row.droppedAt === null ? {} : { dropped_at: row.droppedAt.toISOString() }),
  };
}

/** Returns a `SecretPage` as JSON; the database has serialized its rows. */
export function serializePage({ rowsJson, total, nextCursor, stateRev, changes, purged }: ListedPage): string {
  const rest = JSON.stringify({
    total,
    next_cursor: nextCursor,
    state_rev: stateRev,
    changes,
    ...(purged === null ? {} : { purged }),
  });
  return `{"secrets":${rowsJson},${rest.slice(1)}`;
}

/** @param content null when it is too large for one response */
export function presentContent(
  row: SecretRow,
  storedVersion: VersionWithTicket,
  content: Buffer | null,
): Omit<SecretContent, keyof VersionPage> {
  return {
    version: storedVersion.version,
    ticket: storedVersion.ticket.toString("base64url"),
    content: content === null ? null : content.toString("base64url"),
    label: row.label,
  };
}

type VersionPage = Pick<SecretVersions, "versions" | "next_cursor">;

/** @param rows one more than `limit` where another page follows */
export function presentVersions(rows: readonly VersionRow[], limit: number): VersionPage {
  const versions = rows.slice(0, limit).map(presentVersion);
  const last = rows.length > limit ? versions.at(-1) : undefined;
  return { versions, next_cursor: last === undefined ? null : String(last.version) };
}

function presentVersion({ version, ticketSha256, size, createdAt, droppedAt }: VersionRow): VersionRecord {
  return {
    version,
    ticket_sha256: ticketSha256.toString("base64url"),
    size,
    created_at: createdAt.toISOString(),
    dropped: droppedAt !== null,
  };
}

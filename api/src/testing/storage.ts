import { sql } from "drizzle-orm";

import type { Person } from "./person.ts";
import type { TestService } from "./service.ts";

/**
 * A query of what the tables hold of everything sealed of one account: `contents` and `records`, in
 * bytes.
 */
export function storedQuery(accountId: string): string {
  const of = (value: string, table: string, more = "true"): string =>
    `(select coalesce(sum(${value}), 0) from ${table} where account_id = '${accountId}' and ${more})::int`;
  const contents = [
    of("size", "secret_versions", "dropped_at is null"),
    of("size", "uploads", "published_version is null"),
    of("size", "answers"),
    of("size", "staged_rows"),
  ];
  const records = [
    of("octet_length(ticket)", "secret_versions", "dropped_at is null"),
    of("octet_length(label)", "secrets"),
    of(
      "octet_length(state) + octet_length(book) + octet_length(shares) + coalesce(octet_length(requests), 0) + octet_length(key_statement)",
      "keyrings",
    ),
    of("octet_length(state)", "keyring_states"),
    of("octet_length(value)", "keyring_former"),
    of("octet_length(slot)", "slots"),
    of("coalesce(octet_length(label), 0) + coalesce(octet_length(ticket), 0)", "staged_rows"),
    of("octet_length(sealed_helper)", "image_records"),
    of("coalesce(octet_length(ticket), 0) + coalesce(octet_length(share_helper), 0)", "shares"),
    of("coalesce(octet_length(document), 0) + coalesce(octet_length(ticket), 0)", "requests"),
  ];
  return `select ${contents.join(" + ")} as contents, ${records.join(" + ")} as records`;
}

/**
 * Bytes of contents that this person keeps, after the service's own count of everything was found
 * to be what the tables hold.
 */
export async function contentsOf({ app, call }: Pick<TestService, "app" | "call">, person: Person): Promise<number> {
  const { rows } = await app.services.db.execute<{ contents: number; records: number }>(
    sql.raw(storedQuery(person.userId)),
  );
  const [{ contents, records } = { contents: NaN, records: NaN }] = rows;
  const { licence } = (await call("GET", "/user/me", person.token)).body as unknown as {
    licence: { storage_used: number };
  };
  expect(licence.storage_used).toBe(contents + records);
  return contents;
}

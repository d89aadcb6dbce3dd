import { sql } from "drizzle-orm";

import type { Person } from "./person.ts";
import type { TestService } from "./service.ts";

/** A query for an account's sealed bytes in all tables: `contents` and `records`. */
export function buildStorageQuery(accountId: string): string {
  const buildSum = (value: string, table: string, condition = "true"): string =>
    `(select coalesce(sum(${value}), 0) from ${table} where account_id = '${accountId}' and ${condition})::int`;
  const contents = [
    buildSum("size", "secret_versions", "dropped_at is null"),
    buildSum("size", "uploads", "published_version is null"),
    // what came of them
    buildSum(
      "least(answers.part_size, answers.size - (part - 1) * answers.part_size)",
      "upload_parts join answers using (account_id)",
      "answers.id = upload_id",
    ),
    buildSum("size", "staged_rows"),
  ];
  const records = [
    buildSum("octet_length(ticket)", "secret_versions", "dropped_at is null"),
    buildSum("octet_length(label)", "secrets"),
    buildSum(
      "octet_length(state) + octet_length(book) + octet_length(shares) + coalesce(octet_length(requests), 0) + octet_length(key_statement)",
      "keyrings",
    ),
    buildSum("octet_length(state)", "keyring_states"),
    buildSum("octet_length(value)", "keyring_former"),
    buildSum("octet_length(slot)", "slots"),
    buildSum("coalesce(octet_length(label), 0) + coalesce(octet_length(ticket), 0)", "staged_rows"),
    buildSum("octet_length(sealed_helper)", "image_records"),
    buildSum("coalesce(octet_length(ticket), 0) + coalesce(octet_length(share_helper), 0)", "shares"),
    buildSum("coalesce(octet_length(document), 0) + coalesce(octet_length(ticket), 0)", "requests"),
  ];
  return `select ${contents.join(" + ")} as contents, ${records.join(" + ")} as records`;
}

/**
 * Bytes of the person's contents, after checking that the service's count equals the tables' bytes.
 */
export async function checkStoredContents(
  { app, call }: Pick<TestService, "app" | "call">,
  person: Person,
): Promise<number> {
  const { rows } = await app.services.db.execute<{ contents: number; records: number }>(
    sql.raw(buildStorageQuery(person.userId)),
  );
  const [{ contents, records } = { contents: NaN, records: NaN }] = rows;
  const { licence } = (await call("GET", "/user/me", person.token)).body as unknown as {
    licence: { storage_used: number };
  };
  expect(licence.storage_used).toBe(contents + records);
  return contents;
}

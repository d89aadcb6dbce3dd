import { eq, lte } from "drizzle-orm";

import { mails, secrets } from "../db/schema.ts";
import { findTablesWithoutAccount } from "./account-scoping.ts";
import { startService } from "./service.ts";

describe("a statement", () => {
  it.each<[string, string, string[]]>([
    [
      "a lock of whatever is due",
      'select "id" from "mails" where "mails"."due_at" <= $1 limit $2 for update skip locked',
      ["mails"],
    ],
    ["a share lock", 'select "id" from "secrets" where "id" = $1 for share', ["secrets"]],
    [
      "a lock of a joined table",
      'select 1 from "shares" inner join "accounts" on "accounts"."id" = "shares"."account_id" where "shares"."account_id" = $1 for update',
      ["accounts"],
    ],
    ["a write by another key", 'update "sessions" set "revoked_at" = $1 where "sessions"."id" = $2', ["sessions"]],
    [
      "a write of several accounts",
      'delete from "email_validations" where "email_validations"."account_id" in (select "account_id" from "email_validations")',
      ["email_validations"],
    ],
    [
      "a part of one statement",
      'with "c" as (update "accounts" set "changes" = "changes" + 1 where "accounts"."id" = $1) update "secrets" set "favorite" = $2 where "secrets"."id" = $3',
      ["secrets"],
    ],
    ["an insert without its account", 'insert into "secrets" ("id") values ($1)', ["secrets"]],
  ])("is found when it is %s", (_, text, tables) => {
    expect(findTablesWithoutAccount(text)).toEqual(tables);
  });

  it.each<[string, string]>([
    ["reads", 'select "id" from "mails" where "mails"."due_at" <= $1'],
    ["locks one account", 'select "id" from "accounts" where "accounts"."id" = $1 for update'],
    [
      "writes rows of one account",
      'update "mails" set "due_at" = $1 where ("mails"."account_id" = $2 and "mails"."id" = $3)',
    ],
    ["inserts with its account", 'insert into "mails" ("account_id", "id") values ($1, $2) on conflict do nothing'],
    ["writes a directory", 'delete from "rate_limits" where "rate_limits"."window_start" < $1'],
  ])("passes when it %s", (_, text) => {
    expect(findTablesWithoutAccount(text)).toEqual([]);
  });
});

describe("every test of the service", () => {
  it("fails when the service locks rows without their account, or writes some", async () => {
    const lockingService = await startService();
    await lockingService.app.services.db.transaction((tx) =>
      tx.select().from(mails).where(lte(mails.dueAt, new Date())).for("update"),
    );
    await expect(lockingService.stop()).rejects.toThrow(/"mails"/);
    const writingService = await startService();
    await writingService.app.services.db.update(secrets).set({ favorite: true }).where(eq(secrets.favorite, false));
    await expect(writingService.stop()).rejects.toThrow(/update "secrets"/);
  });
});

import { eq, lte } from "drizzle-orm";

import { mails, secrets } from "../db/schema.ts";
import { findAccountReads } from "./account-reads.ts";
import { findTablesWithoutAccount } from "./account-scoping.ts";
import { startService } from "./service.ts";

describe("findTablesWithoutAccount", () => {
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
  ])("finds tables in a statement that is %s", (_, text, tables) => {
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
  ])("finds none in one that %s", (_, text) => {
    expect(findTablesWithoutAccount(text)).toEqual([]);
  });
});

describe("findAccountReads", () => {
  it.each<[string, string, string[]]>([
    [
      "another account's name",
      'select 1 from "shares" left join "accounts" on "accounts"."id" = "shares"."recipient_id" where "shares"."account_id" = $1',
      ["accounts"],
    ],
    [
      "rows by another key",
      'select 1 from "share_recipients" "given" inner join "shares" on ("shares"."account_id" = "given"."owner_id" and "shares"."share_id" = "given"."share_id") where "given"."account_id" = $1',
      ["shares"],
    ],
    [
      "an alternative",
      'select 1 from "secrets" s, "uploads" u where s.account_id = u.account_id or s.id = $1',
      ["uploads"],
    ],
    [
      "a column of the statement around",
      'select 1 from "share_recipients" where "added_at" < $1 and not exists (select 1 from "shares" where "shares"."account_id" = "share_recipients"."owner_id")',
      ["shares"],
    ],
    [
      "an update",
      'update "secrets" set "label" = "staged_rows"."label" from "staged_rows" where "secrets"."id" = "staged_rows"."id" and "secrets"."account_id" = $1',
      ["staged_rows"],
    ],
    [
      "a part of one statement",
      'with "c" as (select 1 from "secrets", "uploads") select 1 from "c" cross join "accounts"',
      ["uploads"],
    ],
  ])("finds a join by %s", async (_, text, tables) => {
    expect((await findAccountReads(text)).joined).toEqual(tables);
  });

  it.each<[string, string]>([
    [
      "the account itself",
      'select 1 from "shares" inner join "accounts" on "accounts"."id" = "shares"."account_id" where "shares"."share_id" = any($1)',
    ],
    ["one value", 'select 1 from "secrets" s, "uploads" u where s.account_id = $1 and $1 = u.account_id'],
    ["a directory", 'select 1 from "identities" i join "accounts" a on a.id = i.account_id'],
    [
      "a part of its own statement",
      'with "page" as (select 1 from "secrets") select 1 from "accounts" cross join "page"',
    ],
  ])("finds none in a join by %s", async (_, text) => {
    expect((await findAccountReads(text)).joined).toEqual([]);
  });

  it.each<[string, string, string[], number[]]>([
    ["rows of all accounts", 'select 1 from "mails" where "due_at" < $1', ["mails"], []],
    ["one account", 'select 1 from "mails" where "id" = $1 and "account_id" = $2', [], [2]],
    ["some accounts", 'select 1 from "accounts" where "accounts"."id" in ($1, $2)', [], [1, 2]],
    ["a new row", 'insert into "mails" ("id", "account_id") values ($1, $2), ($3, $4)', [], [2, 4]],
    ["a directory", 'select 1 from "identities" where "subject" = $1', [], []],
  ])("finds the accounts of %s", async (_, text, ofAllAccounts, accountParameters) => {
    expect(await findAccountReads(text)).toEqual({ joined: [], ofAllAccounts, accountParameters });
  });
});

describe("every test of the service", () => {
  it("fails when the service locks or writes rows without their account, or joins two accounts", async () => {
    const lockingService = await startService();
    await lockingService.app.services.db.transaction((tx) =>
      tx.select().from(mails).where(lte(mails.dueAt, new Date())).for("update"),
    );
    await expect(lockingService.stop()).rejects.toThrow(/"mails"/);
    const writingService = await startService();
    await writingService.app.services.db.update(secrets).set({ favorite: true }).where(eq(secrets.favorite, false));
    await expect(writingService.stop()).rejects.toThrow(/update "secrets"/);
    const joiningService = await startService();
    await joiningService.app.services.db.select().from(mails).leftJoin(secrets, eq(mails.id, secrets.id));
    await expect(joiningService.stop()).rejects.toThrow("joins rows of two accounts");
  });
});

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { is } from "drizzle-orm";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";

import { directoryTables } from "../testing/account-scoping.ts";
import * as schema from "./schema.ts";

/** The tables of the schema, with the columns of their primary keys. */
const primaryKeysByTable = new Map(
  Object.values(schema)
    .filter((exportedValue) => is(exportedValue, PgTable))
    .map((table) => {
      const { name, columns, primaryKeys } = getTableConfig(table);
      const key = primaryKeys.flatMap((primary) => primary.columns.map((column) => column.name));
      return [
        name,
        key.length > 0 ? key : columns.filter(({ primary }) => primary).map((column) => column.name),
      ] as const;
    }),
);

const operationsDoc = readFileSync(join(__dirname, "../../../docs/operations.md"), "utf8");
const placements = [
  ...operationsDoc.matchAll(/^select create_distributed_table\('(\w+)', '(\w+)', colocate_with => '(\w+)'\);$/gm),
].map(([, table = "", column = "", colocatedWith = ""]) => ({ table, column, colocatedWith }));

describe("the statements of docs/operations.md that distribute the database", () => {
  it("name every table of the schema once, accounts first", () => {
    expect(primaryKeysByTable.size).toBeGreaterThan(20);
    expect(placements.map(({ table }) => table).toSorted()).toEqual([...primaryKeysByTable.keys()].toSorted());
    expect(placements[0]?.table).toBe("accounts");
  });

  it("place each by a column of its primary key: an account's rows with the account, a directory by its own key", () => {
    for (const { table, column, colocatedWith } of placements) {
      expect(primaryKeysByTable.get(table)).toContain(column);
      if (directoryTables.includes(table) || table === "accounts")
        expect([table, colocatedWith]).toEqual([table, "none"]);
      else expect([table, column, colocatedWith]).toEqual([table, "account_id", "accounts"]);
    }
  });
});

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { is } from "drizzle-orm";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";

import { directoryTables } from "../testing/account-scoping.ts";
import * as schema from "./schema.ts";

/** Primary key columns by table. */
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
const referenceTables = [...operationsDoc.matchAll(/^select create_reference_table\('(\w+)'\);$/gm)].map(
  ([, table = ""]) => table,
);
const placements = [
  ...operationsDoc.matchAll(/^select create_distributed_table\('(\w+)', '(\w+)', colocate_with => '(\w+)'\);$/gm),
].map(([, table = "", column = "", colocatedWith = ""]) => ({ table, column, colocatedWith }));

describe("the statements of docs/operations.md that distribute the database", () => {
  it("names every table of the schema once, accounts first", () => {
    expect(primaryKeysByTable.size).toBeGreaterThan(20);
    expect([...placements.map(({ table }) => table), ...referenceTables].toSorted()).toEqual(
      [...primaryKeysByTable.keys()].toSorted(),
    );
    expect(placements[0]?.table).toBe("accounts");
  });

  it("copies only directories to every machine, among them what each sign-in reads", () => {
    expect(referenceTables).toContain("identities");
    for (const table of referenceTables) expect(directoryTables).toContain(table);
  });

  it("distributes each table by a column of its primary key: account tables by account, directories by their own key", () => {
    for (const { table, column, colocatedWith } of placements) {
      expect(primaryKeysByTable.get(table)).toContain(column);
      if (directoryTables.includes(table) || table === "accounts")
        expect([table, colocatedWith]).toEqual([table, "none"]);
      else expect([table, column, colocatedWith]).toEqual([table, "account_id", "accounts"]);
    }
  });
});

import { parse } from "libpg-query";
import { z } from "zod";

import { directoryTables, getAccountColumn } from "./account-scoping.ts";

type Node = Readonly<Record<string, unknown>>;
const Node = z.record(z.string(), z.unknown());
const Nodes = z.array(z.unknown()).default([]);
const Name = z.object({ String: z.object({ sval: z.string() }) });
const RangeVar = z.object({
  relname: z.string(),
  schemaname: z.string().optional(),
  alias: z.object({ aliasname: z.string() }).optional(),
});

export interface AccountReads {
  /**
   * Tables whose rows a part of the statement joins with another account's: a distributed database
   * may have the two on two machines, and refuses to join them.
   */
  readonly joined: readonly string[];
  /** Tables of which a part of the statement reads rows of all accounts: it asks every machine. */
  readonly ofAllAccounts: readonly string[];
  /** Numbers of the parameters that name accounts, such as 1 for `$1`. */
  readonly accountParameters: readonly number[];
}

/**
 * Finds what a statement reads beyond one account, or a list of accounts, and directories. Uses
 * PostgreSQL's own parser.
 *
 * @throws Error for text that PostgreSQL cannot parse
 */
export async function findAccountReads(text: string): Promise<AccountReads> {
  const tree = Node.parse(await parse(text));
  const ownNames = new Set(findAll(tree, "ctename").map(String));
  const reads = listParts(tree).map((part) => judgePart(part, ownNames));
  return {
    joined: reads.flatMap(({ joined }) => joined),
    ofAllAccounts: reads.flatMap(({ ofAllAccounts }) => ofAllAccounts),
    accountParameters: [
      ...reads.flatMap(({ accountParameters }) => accountParameters),
      ...findAll(tree, "InsertStmt").flatMap((insert) => listInsertedAccounts(Node.parse(insert))),
    ],
  };
}

/** What one select, update or delete reads at its own level. */
interface Part {
  readonly from: readonly unknown[];
  readonly where: unknown;
}

function listParts(tree: Node): Part[] {
  const selects = findAll(tree, "SelectStmt").flatMap((select) => splitUnion(Node.parse(select)));
  return [
    ...selects.map((select) => ({ from: Nodes.parse(select["fromClause"]), where: select["whereClause"] })),
    ...["UpdateStmt", "DeleteStmt"].flatMap((name) =>
      findAll(tree, name).map((value) => {
        const { relation, fromClause, usingClause, whereClause } = Node.parse(value);
        const others = Nodes.parse(fromClause ?? usingClause);
        return { from: [{ RangeVar: relation }, ...others], where: whereClause };
      }),
    ),
  ];
}

function splitUnion(select: Node): Node[] {
  const { larg, rarg } = select;
  return larg === undefined ? [select] : [larg, rarg].flatMap((side) => splitUnion(Node.parse(side)));
}

function judgePart({ from, where }: Part, ownNames: ReadonlySet<string>): AccountReads {
  /** All names at this level; null for those that are no table of accounts. */
  const tables = new Map<string, string | null>();
  const conditions: unknown[] = [where];
  const commonColumns: string[] = [];
  const collect = (item: unknown): void => {
    const { RangeVar: table, JoinExpr: join, RangeSubselect: subselect } = Node.parse(item);
    if (table !== undefined) {
      const { relname, schemaname, alias } = RangeVar.parse(table);
      const isOfAccount =
        schemaname === undefined &&
        !relname.startsWith("pg_") &&
        !ownNames.has(relname) &&
        !directoryTables.includes(relname);
      tables.set(alias?.aliasname ?? relname, isOfAccount ? relname : null);
    }
    if (subselect !== undefined)
      tables.set(z.object({ alias: z.object({ aliasname: z.string() }) }).parse(subselect).alias.aliasname, null);
    if (join === undefined) return;
    const { larg, rarg, quals, usingClause } = Node.parse(join);
    conditions.push(quals);
    commonColumns.push(...Nodes.parse(usingClause).map((column) => Name.parse(column).String.sval));
    for (const side of [larg, rarg]) collect(side);
  };
  for (const item of from) collect(item);
  const accountTables = [...tables].flatMap(([alias, table]) => (table === null ? [] : [{ alias, table }]));
  const [first, ...others] = accountTables;
  if (first === undefined) return { joined: [], ofAllAccounts: [], accountParameters: [] };
  const onlyName = tables.size === 1 ? first.alias : null;
  const equalities = [
    ...conditions.flatMap((condition) => readEqualities(condition, onlyName)),
    ...commonColumns.flatMap((column) =>
      others.map(({ alias }): [string, string] => [`${first.alias}.${column}`, `${alias}.${column}`]),
    ),
  ];
  const format = ({ alias, table }: typeof first): string => `${alias}.${getAccountColumn(table)}`;
  const tied = findTied(format(first), equalities);
  const foreignOperands = [...tied].filter((operand) => !tables.has(operand.split(".")[0] ?? ""));
  // of the statement around
  const foreignColumns = foreignOperands.filter((operand) => /^\w+\.\w+$/.test(operand));
  const isJoinedOutside = foreignColumns.some((column) => !/^accounts\.id$|\.account_id$/.test(column));
  return {
    joined: [
      ...(isJoinedOutside ? [first.table] : []),
      ...others.filter((other) => !tied.has(format(other))).map(({ table }) => table),
    ],
    ofAllAccounts: foreignOperands.length > 0 ? [] : [first.table],
    accountParameters: [...tied].flatMap(readParameters),
  };
}

/** Parameters in the text of an operand that is no column. */
function readParameters(operand: string): number[] {
  return [...operand.matchAll(/"ParamRef":\{"number":(\d+)/g)].map(([, number]) => Number(number));
}

function listInsertedAccounts(insert: Node): number[] {
  const { relname } = RangeVar.parse(insert["relation"]);
  if (directoryTables.includes(relname)) return [];
  const names = Nodes.parse(insert["cols"]).map((column) => findAll(column, "name")[0]);
  const index = names.indexOf(getAccountColumn(relname));
  return findAll(insert, "valuesLists")
    .flatMap((lists) => findAll(lists, "items"))
    .flatMap((items) => readParameters(JSON.stringify(Nodes.parse(items)[index] ?? null)));
}

function findTied(column: string, equalities: readonly (readonly [string, string])[]): ReadonlySet<string> {
  const tied = new Set([column]);
  for (let size = 0; size !== tied.size;) {
    size = tied.size;
    for (const [left, right] of equalities) if (tied.has(left) || tied.has(right)) tied.add(left).add(right);
  }
  return tied;
}

/** Pairs that hold for every row: equalities at the top, and below `and`. */
function readEqualities(condition: unknown, onlyName: string | null): [string, string][] {
  if (condition === undefined) return [];
  const { BoolExpr: combined, A_Expr: comparison } = Node.parse(condition);
  if (combined !== undefined) {
    const { boolop, args } = Node.parse(combined);
    return boolop === "AND_EXPR" ? Nodes.parse(args).flatMap((part) => readEqualities(part, onlyName)) : [];
  }
  const { kind, name, lexpr, rexpr } = Node.parse(comparison ?? {});
  if (z.tuple([Name]).safeParse(name).data?.[0].String.sval !== "=") return [];
  const left = formatOperand(lexpr, onlyName);
  if (kind === "AEXPR_OP") return [[left, formatOperand(rexpr, onlyName)]];
  // Equal to one of a list: what else is in that list may be another account's.
  return kind === "AEXPR_IN" || kind === "AEXPR_OP_ANY" ? [[left, `list ${JSON.stringify(rexpr)}`]] : [];
}

/** A column with its table, or the text of anything else. */
function formatOperand(operand: unknown, onlyName: string | null): string {
  const { ColumnRef: column } = Node.parse(operand);
  const names = z
    .object({ fields: z.array(Name) })
    .safeParse(column)
    .data?.fields.map(({ String: { sval } }) => sval);
  if (names === undefined) return JSON.stringify(removeLocations(operand));
  return names.length === 1 && onlyName !== null ? `${onlyName}.${names.join("")}` : names.join(".");
}

function removeLocations(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(removeLocations);
  const node = Node.safeParse(value).data;
  return node === undefined
    ? value
    : Object.fromEntries(
        Object.entries(node).flatMap(([key, part]) => (key === "location" ? [] : [[key, removeLocations(part)]])),
      );
}

function findAll(value: unknown, name: string): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown) => findAll(item, name));
  const node = Node.safeParse(value).data ?? {};
  return Object.entries(node).flatMap(([key, part]) => [...(key === name ? [part] : []), ...findAll(part, name)]);
}

import fc from "fast-check";

import { concatBytes } from "../src/seal/bytes.ts";
import type { ImportSample } from "../src/testing/import-samples.ts";

/** A change to the structure of a file. `position` counts places, modulo their number. */
export interface Mutation {
  readonly kind: "drop" | "repeat" | "retype" | "rename" | "wrap" | "deepen" | "shuffle";
  readonly position: number;
  readonly value: (typeof otherValues)[number];
}

/** Values that a program might write instead; `~` stands for a value of the person. */
const otherValues = [null, 0, -1.5, true, "~", "", [], {}, ["~", null], { inner: "~" }, [["~"]], [null]] as const;

export const mutationArbitrary: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.constantFrom("drop", "repeat", "retype", "rename", "wrap", "deepen", "shuffle"),
  position: fc.nat(1000),
  value: fc.constantFrom(...otherValues),
});

/** Changes the structure of a sample. Values replace each `~` later. */
export function mutateSample(sample: ImportSample, mutations: readonly Mutation[]): ImportSample {
  switch (sample.kind) {
    case "csv":
      return { ...sample, columns: mutations.reduce(mutateColumns, sample.columns) };
    case "json":
      return { ...sample, root: mutations.reduce(mutateJson, structuredClone(sample.root)) };
    case "xml":
      return { ...sample, text: mutations.reduce(mutateXml, sample.text) };
  }
}

type Columns = Extract<ImportSample, { kind: "csv" }>["columns"];

function mutateColumns(columns: Columns, { kind, position, value }: Mutation): Columns {
  const index = position % columns.length;
  const column = columns[index];
  if (column === undefined) return columns;
  const [name] = column;
  const others = columns.toSpliced(index, 1);
  switch (kind) {
    case "drop":
      return others.length > 2 ? others : columns;
    case "repeat":
      return [...columns, [name, "~"]];
    case "retype":
      return columns.with(index, [name, typeof value === "string" ? value : JSON.stringify(value)]);
    case "rename":
      return columns.with(index, [` ${name.toUpperCase()} `, column[1]]);
    case "wrap":
      return columns.with(index, [name, `line one\r\n"~", ~;\n~`]);
    case "deepen":
      return [...columns, ["", "~"]];
    case "shuffle":
      return [...others, column];
  }
}

/** Every place in a JSON file: the object or list that contains it, and its name there. */
function listPlaces(root: unknown): { readonly parent: Record<string, unknown>; readonly name: string }[] {
  const places: { readonly parent: Record<string, unknown>; readonly name: string }[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const name of Object.keys(value)) {
      places.push({ parent: value as Record<string, unknown>, name });
      visit((value as Record<string, unknown>)[name]);
    }
  };
  visit(root);
  return places;
}

function mutateJson(root: unknown, { kind, position, value }: Mutation): unknown {
  const places = listPlaces(root);
  const { parent, name } = places[position % Math.max(1, places.length)] ?? { parent: {}, name: "" };
  const current = parent[name];
  switch (kind) {
    case "drop":
      if (Array.isArray(parent)) parent.splice(Number(name), 1);
      else Reflect.deleteProperty(parent, name);
      break;
    case "repeat":
      if (Array.isArray(parent)) parent.push(structuredClone(current));
      else parent[`${name}2`] = structuredClone(current);
      break;
    case "retype":
      parent[name] = structuredClone(value);
      break;
    case "rename":
      if (Array.isArray(parent)) break;
      Reflect.deleteProperty(parent, name);
      parent[`${name}_`] = current;
      break;
    case "wrap":
      parent[name] = [current];
      break;
    case "deepen":
      parent[name] = Array.from({ length: position % 200 }).reduce<unknown>((inner) => ({ inner }), "~");
      break;
    case "shuffle":
      if (Array.isArray(parent)) parent.reverse();
      else {
        Reflect.deleteProperty(parent, name);
        parent[name] = current;
      }
  }
  return root;
}

function mutateXml(text: string, { kind, position }: Mutation): string {
  const elements = [...text.matchAll(/<(\w+)>([^<]*)<\/\1>/g)];
  const element = elements[position % Math.max(1, elements.length)];
  if (element === undefined) return text;
  const [whole, name = "", inner = ""] = element;
  const replacement = {
    drop: "",
    repeat: whole + whole,
    retype: `<${name}/>`,
    rename: `<${name}2>${inner}</${name}2>`,
    wrap: `<Outer>${whole}</Outer>`,
    deepen: `<${name}><!-- no > value --><![CDATA[${inner}<b>]]>&#x1B;&amp;&nope;~</${name}>`,
    shuffle: `${whole}<Other a="1">~</Other>`,
  }[kind];
  return text.slice(0, element.index) + replacement + text.slice(element.index + whole.length);
}

/** How a table is written. No style may change its content. */
export interface TableStyle {
  readonly delimiter: "," | ";" | "\t";
  readonly lineEnds: readonly ("\n" | "\r\n" | "\r")[];
  readonly quotes: "all" | "needed";
  readonly start: "" | "\uFEFF" | "\n\r\n" | "sep";
}

export const tableStyleArbitrary: fc.Arbitrary<TableStyle> = fc.record({
  delimiter: fc.constantFrom(",", ";", "\t"),
  lineEnds: fc.array(fc.constantFrom("\n", "\r\n", "\r"), { minLength: 1, maxLength: 3 }),
  quotes: fc.constantFrom("all", "needed"),
  start: fc.constantFrom("", "\uFEFF", "\n\r\n", "sep"),
});

/** Writes a table like another program. */
export function writeTable(rows: readonly (readonly string[])[], style: TableStyle): string {
  const { delimiter, lineEnds, quotes, start } = style;
  const lines = rows.map((cells, index) => {
    const written = cells.map((cell) =>
      quotes === "all" || /[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell,
    );
    return written.join(delimiter) + (lineEnds[index % lineEnds.length] ?? "\n");
  });
  return (start === "sep" ? `sep=${delimiter}\n` : start) + lines.join("");
}

/** A change to bytes. `position` counts bytes, modulo their number. */
interface Damage {
  readonly kind: "replace" | "insert" | "remove" | "cut" | "repeat";
  readonly position: number;
  readonly length: number;
  readonly byte: number;
}

/** Prefers bytes that have a meaning in the formats. */
export const damageArbitrary: fc.Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom("replace", "insert", "remove", "cut", "repeat"),
  position: fc.nat(100_000),
  length: fc.oneof(fc.constant(1), fc.nat(40)),
  byte: fc.oneof(
    fc.constantFrom(...Array.from('",;\r\n<>&{}[]:/\\', (character) => character.charCodeAt(0))),
    fc.nat(255),
  ),
});

export function applyDamage(
  bytes: Uint8Array<ArrayBuffer>,
  { kind, position, length, byte }: Damage,
): Uint8Array<ArrayBuffer> {
  const at = position % Math.max(1, bytes.length);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  const parts = {
    replace: [before, Uint8Array.of(byte), after.subarray(1)],
    insert: [before, Uint8Array.of(byte), after],
    remove: [before, after.subarray(length)],
    cut: [before],
    repeat: [before, after.subarray(0, length), after],
  }[kind];
  return concatBytes(...parts);
}

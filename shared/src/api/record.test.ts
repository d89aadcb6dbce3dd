import { maxRecordFields, maxRecordValueLength } from "./limits.ts";
import { formatRecordText, isDay, parseRecord, stringifyRecord, type RecordField } from "./record.ts";

const field = (value: string): RecordField => ({ label: "Password", value, kind: "secret" });

describe("parseRecord", () => {
  it("accepts numbers of fields and lengths of values up to the limits, and no more", () => {
    const parse = (...fields: readonly RecordField[]) => parseRecord(stringifyRecord(fields));
    expect(parse(...Array.from({ length: maxRecordFields }, () => field("x")))).toHaveLength(maxRecordFields);
    expect(parse(...Array.from({ length: maxRecordFields + 1 }, () => field("x")))).toBeNull();
    expect(parse(field("x".repeat(maxRecordValueLength)))).toHaveLength(1);
    expect(parse(field("x".repeat(maxRecordValueLength + 1)))).toBeNull();
  });

  it("refuses deeply nested JSON, and JSON larger than a content in one call", () => {
    expect(parseRecord("[".repeat(200_000))).toBeNull();
    expect(parseRecord(`${"[".repeat(100_000)}${"]".repeat(100_000)}`)).toBeNull();
    expect(parseRecord(`${stringifyRecord([field("x")])}${" ".repeat(300_000)}`)).toBeNull();
  });
});

it("stringifyRecord omits members that a field does not have", () => {
  const draft = { ...field("pw"), id: "1" };
  expect(parseRecord(stringifyRecord([draft]))).toEqual([field("pw")]);
});

it("formatRecordText writes a line per field, and an empty line before a note", () => {
  const note: RecordField = { label: "Note", value: "one\ntwo", kind: "note" };
  expect(formatRecordText([field("pw"), note])).toBe("Password: pw\n\nNote:\none\ntwo");
});

it.each([
  ["2024-02-29", true],
  ["2023-02-29", false],
  ["2023-13-01", false],
  ["2023-1-1", false],
  ["0000-00-00", false],
])("isDay checks whether the day %s exists", (text, exists) => {
  expect(isDay(text)).toBe(exists);
});

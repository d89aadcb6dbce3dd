import { readFileSync } from "node:fs";
import { join } from "node:path";

import {
  computeOneTimeCode,
  countPeriods,
  parseOneTimeCode,
  parseRecord,
  stringifyRecord,
} from "@relicario/shared/api";

/** Made by remote-recovery/vault/vectors/make_record_vectors.py. */
interface Vectors {
  records: { name: string; text: string; fields: { label: string; value: string; kind: string }[] | null }[];
  codes: { text: string; time?: number; counter?: number; code: string }[];
  no_codes: string[];
}
const vectors = JSON.parse(
  readFileSync(join(process.cwd(), "remote-recovery/vault/vectors/records.json"), "utf8"),
) as Vectors;

describe("vectors, made by another tool, of records", () => {
  it.each(vectors.records)("reads or refuses a record with $name", ({ text, fields }) => {
    const parsed = parseRecord(text);
    expect(parsed).toEqual(fields);
    if (parsed !== null) expect(parseRecord(stringifyRecord(parsed))).toEqual(fields);
  });

  it.each(vectors.codes)("makes $code of $text", async ({ text, time, counter, code }) => {
    const settings = parseOneTimeCode(text);
    if (settings === null) throw new Error("it is not read");
    expect(await computeOneTimeCode(settings, counter ?? countPeriods(settings, (time ?? 0) * 1000))).toBe(code);
    if (counter !== undefined) expect(settings).toMatchObject({ kind: "hotp", counter });
  });

  it.each(vectors.no_codes)("makes no code of %s", (text) => {
    expect(parseOneTimeCode(text)).toBeNull();
  });
});

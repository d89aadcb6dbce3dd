import { z } from "zod";

import * as api from "./index.ts";

type Schema = z.core.$ZodType;

/** Members of zod's definitions that contain further schemas. */
const Wrapper = z.looseObject({ shape: z.record(z.string(), z.unknown()), options: z.array(z.unknown()) }).partial();

/** Returns every text schema inside a schema, with its path. */
function findTexts(schema: unknown, path: string): (readonly [string, Schema])[] {
  if (!(schema instanceof z.ZodType)) return [];
  const { def } = schema;
  if (def.type === "string" || def.type === "pipe") return [[path, schema]];
  const { shape = {}, options = [], element, innerType } = Wrapper.parse({ ...def });
  return [
    ...Object.entries(shape).flatMap(([name, member]) => findTexts(member, `${path}.${name}`)),
    ...[...options, element, innerType].flatMap((child) => findTexts(child, path)),
  ];
}

const requestTexts = Object.entries(api).flatMap(([name, schema]) =>
  /(Body|Query|Fields|Change)$/.test(name) && schema instanceof z.ZodType ? findTexts(schema, name) : [],
);
const accepts = (schema: Schema, text: string): boolean => z.safeParse(schema, text).success;

describe("each text in a request", () => {
  it("is found by this test", () => {
    const paths = requestTexts.map(([path]) => path);
    expect(paths.length).toBeGreaterThan(60);
    expect(paths).toEqual(
      expect.arrayContaining(["FeedbackBody.message", "KeyringChange.slots.set.slot", "UpdateMeBody.rehearsal_due_at"]),
    );
  });

  it.each(requestTexts)("%s has a limit, and refuses characters that a database cannot store", (_path, schema) => {
    expect(accepts(schema, "a".repeat(3_000_000))).toBe(false);
    for (const text of ["\0", "a\0", "a\0b", "ana\0@example.org", "\ud800", "a\udc00", "/a\0"])
      expect([text, accepts(schema, text)]).toEqual([text, false]);
  });
});

import { v7 as uuidv7 } from "uuid";
import { z } from "zod";

/** The part of JSON Schema that the served OpenAPI document uses. */
export interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly format?: string;
}

const Parameter = z.looseObject({
  in: z.enum(["path", "query", "header"]),
  name: z.string(),
  schema: z.custom<JsonSchema>(),
});
const Operation = z.looseObject({
  parameters: z.array(Parameter).default([]),
  requestBody: z
    .looseObject({ content: z.record(z.string(), z.looseObject({ schema: z.custom<JsonSchema>() })) })
    .optional(),
});
const OpenApi = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), Operation)) });

export interface OperationInput {
  /** Method and path, such as `PUT /share/{share_id}`. */
  readonly call: string;
  readonly parameters: readonly z.infer<typeof Parameter>[];
  readonly body: JsonSchema | null;
}

/** All operations that take a body or parameters. */
export function listOperationInputs(openApi: unknown): OperationInput[] {
  return Object.entries(OpenApi.parse(openApi).paths)
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { parameters, requestBody }]) => ({
        call: `${method.toUpperCase()} ${path}`,
        parameters,
        body: Object.values(requestBody?.content ?? {})[0]?.schema ?? null,
      })),
    )
    .filter(({ parameters, body }) => parameters.length > 0 || body !== null);
}

/** `value` undefined: the member is left out. */
export interface Extreme {
  readonly path: readonly (string | number)[];
  readonly value: unknown;
}

/** Each end of each part of the schema, as replacements in a body that it accepts. */
export function listExtremes(schema: JsonSchema, body: unknown, path: Extreme["path"] = []): Extreme[] {
  if (schema.anyOf !== undefined) {
    const extremes = schema.anyOf
      .filter((option) => acceptsMembers(option, body))
      .flatMap((option) => listExtremes(option, body, path));
    return schema.anyOf.some(({ type }) => type === "null") ? [...extremes, { path, value: null }] : extremes;
  }
  if (isObject(body) && schema.properties !== undefined)
    return Object.entries(schema.properties).flatMap(([name, member]) => {
      const memberPath = [...path, name];
      const omission = schema.required?.includes(name) === true ? [] : [{ path: memberPath, value: undefined }];
      return name in body ? [...listExtremes(member, body[name], memberPath), ...omission] : [];
    });
  if (Array.isArray(body)) {
    const [first] = body as unknown[];
    const { items = {}, minItems = 0, maxItems = 0 } = schema;
    if (first === undefined) return [];
    return [
      ...listExtremes(items, first, [...path, 0]),
      ...[minItems, maxItems].map((length) => ({ path, value: Array.from({ length }, () => copyWithNewIds(first)) })),
    ];
  }
  return listScalarExtremes(schema, body).map((value) => ({ path, value }));
}

/** The ends of a text, number or boolean near a value that the schema accepts. */
export function listScalarExtremes(schema: JsonSchema, value: unknown = ""): unknown[] {
  if (schema.enum !== undefined) return [...schema.enum];
  if (schema.type === "boolean") return [true, false];
  if (schema.type === "integer" || schema.type === "number")
    return [schema.minimum, schema.maximum].filter((bound) => bound !== undefined);
  return schema.type === "string" && typeof value === "string" ? listTexts(schema, value) : [];
}

const fills = ["A", "q", "\u{1f600}", "\uffff"];
const fixedTexts = [
  ...["", "/", "0", "1970-01-01T00:00:00.000Z", "2999-12-31T23:59:59.999Z", "2000-02-29T23:59:59.999Z"],
  ...["00000000-0000-7000-8000-000000000000", "ffffffff-ffff-7fff-bfff-ffffffffffff"],
  `${"a".repeat(64)}@${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(57)}.io`,
  ...["0000000000000.A", `9999999999999.${"_".repeat(36)}`],
];

function listTexts(schema: JsonSchema, value: string): string[] {
  const { minLength = 0, maxLength = 300 } = schema;
  const patterns = [schema, ...(schema.allOf ?? [])].flatMap(({ pattern }) =>
    pattern === undefined ? [] : [new RegExp(pattern)],
  );
  const lengths = [Math.max(minLength, 1), 2, 3, 32, 39, 40, maxLength];
  const texts = [
    ...fixedTexts,
    ...fills.flatMap((fill) => lengths.map((length) => fill.repeat(Math.floor(length / fill.length)))),
    lengthenJwe(value, maxLength),
    `/${"a".repeat(maxLength - 1)}`,
    `${value.split(".")[0] ?? ""}${"q".repeat(maxLength)}`.slice(0, maxLength),
  ].filter(
    (text) => text.length >= minLength && text.length <= maxLength && patterns.every((pattern) => pattern.test(text)),
  );
  const longest = Math.max(...texts.map(({ length }) => length));
  return [...new Set(texts)].filter(
    (text) => text !== value && (text.length <= Math.max(minLength, 3) || text.length === longest),
  );
}

/** Gives a compact JWE the longest ciphertext; base64url has no length of 4n + 1. */
function lengthenJwe(jwe: string, maxLength: number): string {
  const parts = jwe.split(".");
  const ciphertext = parts[3] ?? "";
  const length = ciphertext.length + maxLength - jwe.length;
  return parts.length === 5
    ? parts.with(3, ciphertext.padEnd(length % 4 === 1 ? length - 1 : length, "A")).join(".")
    : jwe;
}

/** A copy of the body with these replacements, as far as their places are still there. */
export function applyExtremes(body: object, extremes: readonly Extreme[]): object {
  const copy = structuredClone(body) as Record<string | number, unknown>;
  for (const { path, value } of extremes) {
    let parent: unknown = copy;
    for (const name of path.slice(0, -1))
      parent =
        isObject(parent) || Array.isArray(parent) ? (parent as Record<string | number, unknown>)[name] : undefined;
    const name = path.at(-1);
    if (name === undefined || typeof parent !== "object" || parent === null || !(name in parent)) continue;
    if (value === undefined) Reflect.deleteProperty(parent, name);
    else Reflect.set(parent, name, value);
  }
  return copy;
}

function acceptsMembers({ properties }: JsonSchema, body: unknown): boolean {
  return !isObject(body) || properties === undefined || Object.keys(body).every((name) => name in properties);
}

function copyWithNewIds(value: unknown): unknown {
  const text = JSON.stringify(value);
  return JSON.parse(text.replaceAll(/"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}"/g, () => `"${uuidv7()}"`)) as unknown;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

import type { Multipart } from "@fastify/multipart";
import type { FastifyRequest, FastifySchemaCompiler } from "fastify";
import { validatorCompiler } from "fastify-type-provider-zod";
import type { z } from "zod";

import { Problem } from "../http/problem.ts";

export interface FormLimits {
  /** How many fields that are no files. */
  readonly fields: number;
  readonly files: 0 | 1;
  readonly fileBytes: number;
}

const maxFieldBytes = 100;

/**
 * For routes whose form is read by their handler, as it arrives: the schema of its body is for the
 * description alone.
 */
export function validateAllButBody(params: z.ZodType): FastifySchemaCompiler<unknown> {
  return (route) =>
    route.httpPart === "body" ? (body: unknown) => ({ value: body }) : validatorCompiler({ ...route, schema: params });
}

/**
 * Fields and files of a form as they arrive.
 *
 * @throws Problem `unsupported_media_type` for what is no form, `bad_request` for one that is
 *   broken or cut off.
 */
export async function* readForm(
  request: FastifyRequest,
  { fields, files, fileBytes }: FormLimits,
): AsyncGenerator<Multipart> {
  if (!request.isMultipart()) throw new Problem("unsupported_media_type");
  try {
    yield* request.parts({
      limits: { fields, files, parts: fields + files, fieldSize: maxFieldBytes, fileSize: fileBytes },
    });
  } catch (cause) {
    throw toFormProblem(cause);
  }
}

/** What fails while a form is read is the caller's, or the network's. */
export function toFormProblem(cause: unknown): Problem {
  return cause instanceof Problem
    ? cause
    : new Problem("bad_request", { cause, detail: "the form is broken or not whole" });
}

/** A form without files. */
export async function readFields<T extends z.ZodType>(
  request: FastifyRequest,
  schema: T,
  maxFields: number,
): Promise<z.output<T>> {
  const values: Record<string, unknown> = {};
  for await (const item of readForm(request, { fields: maxFields, files: 0, fileBytes: 0 }))
    if (item.type === "field") values[item.fieldname] = item.value;
  return parseFields(schema, values);
}

/** @throws Problem `validation_error`, without what was sent. */
export function parseFields<T extends z.ZodType>(schema: T, values: Readonly<Record<string, unknown>>): z.output<T> {
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.map(({ path, code }) => ({ path: `/${path.join("/")}`, reason: code }));
  throw new Problem("validation_error", { cause: parsed.error, members: { errors } });
}

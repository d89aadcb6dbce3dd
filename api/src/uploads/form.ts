import type { Multipart } from "@fastify/multipart";
import type { FastifyRequest, FastifySchemaCompiler } from "fastify";
import { validatorCompiler } from "fastify-type-provider-zod";
import type { z } from "zod";

import { Problem } from "../http/problem.ts";

export interface FormLimits {
  /** Maximum number of fields that are not files. */
  readonly maxFields: number;
  readonly maxFiles: 0 | 1;
  readonly maxFileBytes: number;
}

const maxFieldBytes = 100;

/** For routes whose handler streams the form: the body's schema only documents it. */
export function validateAllButBody(params: z.ZodType): FastifySchemaCompiler<unknown> {
  return (route) =>
    route.httpPart === "body" ? (body: unknown) => ({ value: body }) : validatorCompiler({ ...route, schema: params });
}

/**
 * Yields fields and files as they arrive.
 *
 * @throws Problem `unsupported_media_type` for anything but a form, `bad_request` for a broken or
 *   incomplete one.
 */
export async function* readForm(
  request: FastifyRequest,
  { maxFields, maxFiles, maxFileBytes }: FormLimits,
): AsyncGenerator<Multipart> {
  if (!request.isMultipart()) throw new Problem("unsupported_media_type");
  try {
    yield* request.parts({
      limits: {
        fields: maxFields,
        files: maxFiles,
        parts: maxFields + maxFiles,
        fieldSize: maxFieldBytes,
        fileSize: maxFileBytes,
      },
    });
  } catch (cause) {
    throw toFormProblem(cause);
  }
}

/** A failure while reading a form is the client's or the network's. */
export function toFormProblem(cause: unknown): Problem {
  return cause instanceof Problem
    ? cause
    : new Problem("bad_request", { cause, detail: "the form is broken or incomplete" });
}

/** Reads a form without files. */
export async function readFields<T extends z.ZodType>(
  request: FastifyRequest,
  schema: T,
  maxFields: number,
): Promise<z.output<T>> {
  const values: Record<string, unknown> = {};
  for await (const item of readForm(request, { maxFields, maxFiles: 0, maxFileBytes: 0 }))
    if (item.type === "field") values[item.fieldname] = item.value;
  return parseFields(schema, values);
}

/** @throws Problem `validation_error`, without the values. */
export function parseFields<T extends z.ZodType>(schema: T, values: Readonly<Record<string, unknown>>): z.output<T> {
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.map(({ path, code }) => ({ path: `/${path.join("/")}`, reason: code }));
  throw new Problem("validation_error", { cause: parsed.error, members: { errors } });
}

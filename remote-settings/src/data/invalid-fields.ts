import { HttpError, isPortalError } from "@relicario/shared/errors";
import { z } from "zod";

/**
 * Element of `errors` in a `validation_error`: the path of the member or parameter, and the reason.
 */
const InvalidField = z.looseObject({ path: z.string(), reason: z.string() });
export type InvalidField = z.infer<typeof InvalidField>;
const InvalidFields = z.array(InvalidField);

/** Fields that the service rejected; empty for any other failure. */
export function getInvalidFields(error: unknown): readonly InvalidField[] {
  if (!isPortalError(error, "validation_error") || !(error.cause instanceof HttpError)) return [];
  return InvalidFields.safeParse(error.cause.problem?.["errors"]).data ?? [];
}

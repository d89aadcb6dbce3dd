import { HttpError, isPortalError } from "@relicario/shared/errors";
import { z } from "zod";

/** One of `errors` of a `validation_error`: which member or parameter of the call, and why. */
const Refusal = z.looseObject({ path: z.string(), reason: z.string() });
export type Refusal = z.infer<typeof Refusal>;
const RefusalList = z.array(Refusal);

/** What the service refused of a call; empty for any other failure. */
export function getRefusals(error: unknown): readonly Refusal[] {
  if (!isPortalError(error, "validation_error") || !(error.cause instanceof HttpError)) return [];
  return RefusalList.safeParse(error.cause.problem?.["errors"]).data ?? [];
}

import { Counter, Id, maxFileNameLength, maxTagLength, maxTags, maxTitleLength } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { text } from "../seal/text.ts";
import type { ProtectRequest, SecretChange } from "../shown-image.ts";

const Named = { title: text(maxTitleLength), tags: z.array(text(maxTagLength)).max(maxTags) };
const Content = {
  contentKind: z.enum(["text", "seed", "file"]),
  name: text(maxFileNameLength),
  mime: text(maxFileNameLength),
};
const Protection = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("picture"),
    name: text(maxFileNameLength),
    shown: z.object({
      passphrase: z
        .string()
        .refine((typed) => typed.isWellFormed())
        .nullable(),
    }),
  }),
  z.object({ kind: z.literal("openers"), openers: z.array(Id) }),
]);

const Request = z.object({ ...Named, ...Content, protection: Protection });

const Change = z
  .object({
    baseVersion: Counter,
    baseRev: Counter.optional(),
    title: Named.title.optional(),
    tags: Named.tags.optional(),
    content: z.object(Content).optional(),
    protection: Protection.optional(),
  })
  .refine(({ content, protection }) => content !== undefined || protection === undefined, { path: ["protection"] });

/**
 * Refuses what cannot be sealed, before anything is made.
 *
 * @throws PortalError `validation_error` with the names of the members in `details.fields`.
 */
export function checkRequest(request: ProtectRequest): void {
  check(Request, request);
}

/** As {@link checkRequest}; a protection without content is refused too. */
export function checkChange(change: SecretChange): void {
  check(Change, change);
}

/** @throws PortalError `validation_error` with the names of the members in `details.fields`. */
export function check(schema: z.ZodType, given: unknown): void {
  const parsed = schema.safeParse(given);
  if (parsed.success) return;
  const fields = [...new Set(parsed.error.issues.map((issue) => String(issue.path[0] ?? "request")))];
  throw new PortalError("validation_error", { details: { fields } });
}

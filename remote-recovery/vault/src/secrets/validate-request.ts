import {
  contentKinds,
  PositiveInt,
  Id,
  maxFileNameLength,
  maxTagLength,
  maxTags,
  maxTitleLength,
} from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { nonEmptyText } from "../seal/text.ts";
import type { ProtectRequest, SecretChange } from "../rpc/presented-opener.ts";

const NameFields = { title: nonEmptyText(maxTitleLength), tags: z.array(nonEmptyText(maxTagLength)).max(maxTags) };
const ContentFields = {
  contentKind: z.enum(contentKinds),
  name: nonEmptyText(maxFileNameLength),
  mime: nonEmptyText(maxFileNameLength),
};
const ProtectionSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("picture"),
    name: nonEmptyText(maxFileNameLength),
    picture: z.object({
      passphrase: z
        .string()
        .refine((value) => value.isWellFormed())
        .nullable(),
    }),
  }),
  z.object({ kind: z.literal("openers"), openerIds: z.array(Id) }),
]);

const RequestSchema = z.object({ ...NameFields, ...ContentFields, protection: ProtectionSchema });

const ChangeSchema = z
  .object({
    baseVersion: PositiveInt,
    baseRev: PositiveInt.optional(),
    title: NameFields.title.optional(),
    tags: NameFields.tags.optional(),
    content: z.object(ContentFields).optional(),
    protection: ProtectionSchema.optional(),
  })
  .refine(({ content, protection }) => content !== undefined || protection === undefined, { path: ["protection"] });

/**
 * Refuses a request that cannot be sealed, before any work is done.
 *
 * @throws PortalError `validation_error` with the names of the members in `details.fields`
 */
export function validateProtectRequest(request: ProtectRequest): void {
  validate(RequestSchema, request);
}

/** Like {@link validateProtectRequest}; also refuses protection without content. */
export function validateSecretChange(change: SecretChange): void {
  validate(ChangeSchema, change);
}

/** @throws PortalError `validation_error` with the names of the members in `details.fields` */
export function validate(schema: z.ZodType, input: unknown): void {
  const parsed = schema.safeParse(input);
  if (parsed.success) return;
  const fields = [...new Set(parsed.error.issues.map((issue) => String(issue.path[0] ?? "request")))];
  throw new PortalError("validation_error", { details: { fields } });
}

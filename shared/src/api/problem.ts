import { z } from "zod";

/** RFC 9457 problem document: every error of the service. `code` is one of `shared/errors`. */
export const ProblemDocument = z.looseObject({
  type: z.string().optional(),
  title: z.string(),
  status: z.int(),
  detail: z.string().optional(),
  code: z.string(),
  request_id: z.string().optional(),
});
export type ProblemDocument = z.infer<typeof ProblemDocument>;

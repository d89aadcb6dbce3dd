import { z } from "zod";

import { maxFeedbackLength } from "./limits.ts";

/** Body of `POST /user/feedback`. Nothing of a secret belongs into it. */
export const FeedbackBody = z.strictObject({
  rating: z.int().min(1).max(5).optional(),
  message: z.string().trim().min(1).max(maxFeedbackLength),
  /**
   * The screen that it is about, as a pattern: `/edit-secret/:secretId`, never with the id itself.
   */
  page: z
    .string()
    .max(200)
    .regex(/^\/([a-z0-9_-]+|:[a-zA-Z]+|\*)?(\/([a-z0-9_-]+|:[a-zA-Z]+|\*))*$/),
  app_version: z.string().regex(/^[0-9A-Za-z.+-]{1,40}$/),
});
export type FeedbackBody = z.infer<typeof FeedbackBody>;

import { z } from "zod";

import { maxFeedbackLength } from "./limits.ts";
import { plainText } from "./wire.ts";

/** Body of `POST /user/feedback`. It contains no data of a secret. */
export const FeedbackBody = z.strictObject({
  rating: z.int().min(1).max(5).optional(),
  message: plainText(maxFeedbackLength).trim().min(1),
  /** Path pattern of the screen, such as `/edit-secret/:secretId`; never a path with an id. */
  page: z
    .string()
    .max(200)
    .regex(/^\/([a-z0-9_-]+|:[a-zA-Z]+|\*)?(\/([a-z0-9_-]+|:[a-zA-Z]+|\*))*$/),
  app_version: z.string().regex(/^[0-9A-Za-z.+-]{1,40}$/),
});
export type FeedbackBody = z.infer<typeof FeedbackBody>;

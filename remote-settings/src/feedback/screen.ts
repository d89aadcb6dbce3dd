import { FeedbackBody } from "@relicario/shared/api";
import { z } from "zod";

/**
 * History state of a link to the feedback page: path pattern of the screen that links to it, such
 * as `/edit-secret/:secretId`.
 */
const FeedbackLocationState = z.looseObject({ screen: FeedbackBody.shape.page });

/** Returns the path of the screen. Returns the feedback page's own path if the state has none. */
export function parseScreen(state: unknown): string {
  const parsed = FeedbackLocationState.safeParse(state);
  return parsed.success ? parsed.data.screen : "/settings/feedback";
}

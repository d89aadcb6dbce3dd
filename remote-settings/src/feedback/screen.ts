import { FeedbackBody } from "@relicario/shared/api";
import { z } from "zod";

/**
 * What a link to this page carries in the history: the pattern of the screen that it stood on, such
 * as `/edit-secret/:secretId`.
 */
const FeedbackLocationState = z.looseObject({ screen: FeedbackBody.shape.page });

/** The screen that feedback is about; this page where nobody says. */
export function parseScreen(state: unknown): string {
  const parsed = FeedbackLocationState.safeParse(state);
  return parsed.success ? parsed.data.screen : "/settings/feedback";
}

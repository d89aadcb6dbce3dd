import { SendFeedback } from "@relicario/shared/api";
import { z } from "zod";

/**
 * What a link to this page carries in the history: the pattern of the screen that it stood on, such
 * as `/edit-secret/:secretId`.
 */
const FromScreen = z.looseObject({ screen: SendFeedback.shape.page });

/** The screen that feedback is about; this page where nobody says. */
export function screenOf(state: unknown): string {
  const parsed = FromScreen.safeParse(state);
  return parsed.success ? parsed.data.screen : "/settings/feedback";
}

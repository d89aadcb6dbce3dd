import { PositiveInt, Digest } from "@relicario/shared/api";
import { z } from "zod";

/**
 * A state that this device has sent in a signed change. Saved with the record that waits for the
 * change ([Note: Only keys]).
 */
export const SentState = z.strictObject({ state_rev: PositiveInt, sha256: Digest });
export type SentState = z.infer<typeof SentState>;

import { PositiveInt, Digest } from "@relicario/shared/api";
import { z } from "zod";

/**
 * A state that left this device in a signed change, as the record keeps it that waits for this
 * change ([Note: Only keys]).
 */
export const SentState = z.strictObject({ state_rev: PositiveInt, sha256: Digest });
export type SentState = z.infer<typeof SentState>;

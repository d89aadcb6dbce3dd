import { maxPartBytes, minPartBytes } from "@relicario/shared/api";

/**
 * Bytes of a part. The service chooses, but only so far: some are held in memory at a time, and
 * each is written down.
 */
export const partSizeLimits = { min: minPartBytes, max: maxPartBytes };

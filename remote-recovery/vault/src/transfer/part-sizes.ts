import { maxPartBytes, minPartBytes } from "@relicario/shared/api";

/**
 * Limits for the service's choice of a part's length in bytes: a few parts are in memory at a time,
 * and each has a digest in the record.
 */
export const partSizeLimits = { min: minPartBytes, max: maxPartBytes };

/** Limit in bytes of a file that is read as a whole: far above what password managers write. */
export const maxTextBytes = 64 * 1024 ** 2;
/** Limit of archives within each other. */
export const maxPackings = 3;
/** Limit of entries in an archive. */
export const maxEntries = 50_000;
/**
 * Limits in bytes of one attachment, and of everything unpacked from an archive. A genuine export
 * stays below them.
 */
export const maxAttachmentBytes = 256 * 1024 ** 2;
export const maxUnpackedBytes = 1024 ** 3;
/** Limit of items in a file. */
export const maxItems = 50_000;
/** Limit of nested groups in a file. */
export const maxDepth = 64;

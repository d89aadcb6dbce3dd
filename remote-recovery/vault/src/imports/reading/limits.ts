/** Bytes of a file that is read whole: far above what password managers write. */
export const maxTextBytes = 64 * 1024 ** 2;
/** Entries of an archive. */
export const maxEntries = 50_000;
/**
 * Bytes of one attachment, and of all that is unpacked of a foreign archive: what unpacks to more
 * is no export.
 */
export const maxAttachmentBytes = 256 * 1024 ** 2;
export const maxUnpackedBytes = 1024 ** 3;
/** Items of one file. */
export const maxItems = 50_000;
/** Nesting of groups in a file. */
export const maxDepth = 64;

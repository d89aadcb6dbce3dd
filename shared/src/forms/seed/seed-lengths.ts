/** Phrase lengths of BIP-39, in words. */
export const seedLengths = [12, 15, 18, 21, 24] as const;

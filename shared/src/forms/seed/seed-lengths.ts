/** Numbers of words that BIP-39 allows. */
export const seedLengths = [12, 15, 18, 21, 24] as const;

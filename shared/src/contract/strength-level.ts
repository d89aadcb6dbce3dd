/**
 * From 0 (guessed at once) to 4 (strong). Estimates the effort of an attacker with dictionaries,
 * instead of the variety of characters.
 */
export type StrengthLevel = 0 | 1 | 2 | 3 | 4;

/** Least level of a passphrase that a picture needs, and of a link's password. */
export const requiredStrength = 3;
/** Least level of a passphrase that the person adds by choice. */
export const chosenStrength = 2;

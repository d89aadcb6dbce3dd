/** Filled by webpack: the nonce of scripts and styles made at run time. */
declare let __webpack_nonce__: string;

/** Put in by the build: versions of what the host gives, by the name that is imported. */
declare const __SHARED__: Readonly<Record<string, string>>;

/**
 * Put in by the build: name of the global function that webpack's code asks for the hash of a
 * script.
 */
declare const __INTEGRITY_FUNCTION__: string;

declare module "*.css";

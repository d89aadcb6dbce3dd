/** Nonce of scripts and styles created at run time. Read by webpack's code. */
declare let __webpack_nonce__: string;

/** Defined by the build: versions of the packages that the host shares, by import name. */
declare const __SHARED__: Readonly<Record<string, string>>;

/**
 * Defined by the build: name of the global function that returns the signed hash of a script to
 * webpack's code.
 */
declare const __INTEGRITY_FUNCTION__: string;

declare module "*.css";

/** Filled by webpack: the nonce of scripts and styles made at run time. */
declare let __webpack_nonce__: string;

/** Put in by the build: versions of what the host gives, by the name that is imported. */
declare const __SHARED__: Readonly<Record<string, string>>;

declare module "*.css";

/** Filled by webpack: the nonce of scripts and styles made at run time. */
declare let __webpack_nonce__: string;

declare module "*.css";

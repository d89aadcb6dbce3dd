/** Nonce of styles created at run time. Read by webpack's code. */
declare let __webpack_nonce__: string;

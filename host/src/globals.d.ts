/** Filled by webpack: the nonce of scripts and styles made at run time. */
declare let __webpack_nonce__: string;

declare module "*.css";

/** The whole of the package that `singletons/react-i18next.ts` stands in for; webpack knows where it is. */
declare module "react-i18next-whole" {
  export * from "react-i18next";
}

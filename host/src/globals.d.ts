/** Filled by webpack: the nonce of scripts and styles made at run time. */
declare let __webpack_nonce__: string;

declare module "*.css";

/** The whole of packages that modules of `singletons` stand in for; webpack knows where they are. */
declare module "i18next-whole" {
  export * from "i18next";
}
declare module "react-i18next-whole" {
  export * from "react-i18next";
}
declare module "react-query-whole" {
  export * from "@tanstack/react-query";
}
declare module "styled-components-whole" {
  export { default } from "styled-components";
  export * from "styled-components";
}

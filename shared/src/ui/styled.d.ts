import "styled-components";

declare module "styled-components" {
  /**
   * Empty, because there is no theme object. Colours and lengths are custom properties, read with
   * `s("token")` from tokens.ts.
   */
  export interface DefaultTheme {
    readonly useTokensInstead?: never;
  }
}

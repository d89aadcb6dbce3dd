import "styled-components";

declare module "styled-components" {
  /**
   * There is no theme object: colours and lengths are custom properties, read with `s("token")` of
   * tokens.ts.
   */
  export interface DefaultTheme {
    readonly useTokensInstead?: never;
  }
}

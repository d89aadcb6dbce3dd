import webpack, { type Compiler } from "webpack";

/**
 * Sets the page's nonce on every stylesheet that webpack's runtime loads. Without it the page's
 * policy blocks a remote's stylesheets.
 */
export class NoncePlugin {
  apply(compiler: Compiler): void {
    compiler.hooks.compilation.tap(NoncePlugin.name, (compilation) => {
      webpack.web.CssLoadingRuntimeModule.getCompilationHooks(compilation).createStylesheet.tap(
        NoncePlugin.name,
        (source) =>
          webpack.Template.asString([
            source,
            `link.nonce = document.querySelector("meta[property=csp-nonce]")?.nonce;`,
          ]),
      );
    });
  }
}

import webpack, { type Compiler } from "webpack";

/**
 * Global function of the host's page that gives the hash of a script or stylesheet by its address;
 * one that nobody signed gets a hash that no file has.
 */
export const integrityFunctionName = "portalIntegrityOf";

/**
 * Has the page give every script and stylesheet that webpack's runtime loads, each lazy chunk, the
 * hash that was signed for it.
 */
export class IntegrityPlugin {
  apply(compiler: Compiler): void {
    compiler.hooks.compilation.tap(IntegrityPlugin.name, (compilation) => {
      webpack.runtime.LoadScriptRuntimeModule.getCompilationHooks(compilation).createScript.tap(
        IntegrityPlugin.name,
        (source) => withIntegrity(source, "script", "src"),
      );
      webpack.web.CssLoadingRuntimeModule.getCompilationHooks(compilation).createStylesheet.tap(
        IntegrityPlugin.name,
        (source) =>
          // And with the nonce of the page, which takes a stylesheet of a remote with it alone.
          webpack.Template.asString([
            withIntegrity(source, "link", "href"),
            `link.nonce = document.querySelector("meta[property=csp-nonce]")?.nonce;`,
          ]),
      );
    });
  }
}

/** With a cross-origin mode, which browsers ask for where a page demands integrity. */
function withIntegrity(source: string, element: string, urlAttribute: string): string {
  return webpack.Template.asString([
    source,
    `${element}.integrity = globalThis[${JSON.stringify(integrityFunctionName)}](${element}.${urlAttribute});`,
    `${element}.crossOrigin = "anonymous";`,
  ]);
}

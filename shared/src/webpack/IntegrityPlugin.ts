import webpack, { type Compiler } from "webpack";

/**
 * Name of the global function of the host's page that returns the signed hash of a script or
 * stylesheet by its URL. For a URL without a signature it returns a hash that no file has.
 */
export const integrityFunctionName = "portalIntegrityOf";

/** Sets the signed hash on every script and stylesheet that webpack's runtime loads. */
export class IntegrityPlugin {
  apply(compiler: Compiler): void {
    compiler.hooks.compilation.tap(IntegrityPlugin.name, (compilation) => {
      webpack.runtime.LoadScriptRuntimeModule.getCompilationHooks(compilation).createScript.tap(
        IntegrityPlugin.name,
        (source) => withIntegrity(source, "script", "src"),
      );
      webpack.web.CssLoadingRuntimeModule.getCompilationHooks(compilation).createStylesheet.tap(
        IntegrityPlugin.name,
        (source) => withIntegrity(source, "link", "href"),
      );
    });
  }
}

/** Integrity requires a cross-origin mode. */
function withIntegrity(source: string, element: string, urlAttribute: string): string {
  return webpack.Template.asString([
    source,
    `${element}.integrity = globalThis[${JSON.stringify(integrityFunctionName)}](${element}.${urlAttribute});`,
    `${element}.crossOrigin = "anonymous";`,
  ]);
}

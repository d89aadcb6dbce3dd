import webpack, { type Compiler } from "webpack";

/** Global function of the host's page that gives the hash of a script by its address; one that nobody signed gets a hash that no file has. */
export const integrityFunction = "portalIntegrityOf";

/** Has the page give every script that webpack's runtime loads, each lazy chunk, the hash that was signed for it. */
export class IntegrityPlugin {
  apply(compiler: Compiler): void {
    compiler.hooks.compilation.tap(IntegrityPlugin.name, (compilation) => {
      webpack.runtime.LoadScriptRuntimeModule.getCompilationHooks(compilation).createScript.tap(IntegrityPlugin.name, (source) =>
        // With a cross-origin mode, which browsers ask for where a page demands integrity.
        webpack.Template.asString([source, `script.integrity = globalThis[${JSON.stringify(integrityFunction)}](script.src);`, 'script.crossOrigin = "anonymous";']),
      );
    });
  }
}

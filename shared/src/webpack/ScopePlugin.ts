import webpack, { type Compiler } from "webpack";

import { scopeStyles } from "./scope-styles.ts";

/** Limits a remote's stylesheets to its area of the page, so that they cannot change the frame. */
export class ScopePlugin {
  readonly #scope: string;

  /** @param remote name; the host sets it as `data-remote` on the area */
  constructor(remote: string) {
    this.#scope = `[data-remote="${remote}"]`;
  }

  apply(compiler: Compiler): void {
    compiler.hooks.thisCompilation.tap(ScopePlugin.name, (compilation) => {
      compilation.hooks.processAssets.tap(
        { name: ScopePlugin.name, stage: webpack.Compilation.PROCESS_ASSETS_STAGE_PRE_PROCESS },
        (assets) => {
          for (const [file, source] of Object.entries(assets)) {
            if (file.endsWith(".css"))
              compilation.updateAsset(
                file,
                new webpack.sources.RawSource(scopeStyles(source.source().toString(), this.#scope)),
              );
          }
        },
      );
    });
  }
}

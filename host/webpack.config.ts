/**
 * Build of the host: one page with all shared packages. Remotes are not part of it: the page finds
 * them at run time.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { ModuleFederationPlugin } from "@module-federation/enhanced/webpack";
import type { Language } from "@relicario/shared/contract";
import {
  baseConfig,
  integrityFunctionName,
  IntegrityPlugin,
  sharedConfigForHost,
  sharedModules,
  type BuildArguments,
  type BuildMode,
} from "@relicario/shared/webpack";
import HtmlWebpackPlugin from "html-webpack-plugin";
import MiniCssExtractPlugin from "mini-css-extract-plugin";
import webpack, { type ChunkGroup, type Compiler, type Configuration, type RuleSetRule } from "webpack";

const context = import.meta.dirname;

interface PreloadChunks {
  readonly always: readonly string[];
  /**
   * Chunk of texts per language. The gateway keeps only the preload link for the language of the
   * reader's browser.
   */
  readonly texts: Readonly<Record<Language, string>>;
}

/**
 * Adds preload links for the scripts that every start loads, including shared packages, so that the
 * browser does not discover them only when other scripts run.
 */
class PreloadPlugin {
  private readonly chunks: PreloadChunks;

  constructor(chunks: PreloadChunks) {
    this.chunks = chunks;
  }

  apply(compiler: Compiler): void {
    compiler.hooks.compilation.tap(PreloadPlugin.name, (compilation) => {
      HtmlWebpackPlugin.getHooks(compilation).alterAssetTagGroups.tap(PreloadPlugin.name, (tagGroups) => {
        const sharedPackageGroups = compilation.chunkGroups.filter(({ origins }) =>
          origins.some(({ module }) => module?.type === "provide-module"),
        );
        const findChunkGroup = (name: string): ChunkGroup => {
          const group = compilation.namedChunkGroups.get(name);
          if (group === undefined) throw new Error(`no import has the webpackChunkName ${name}`);
          return group;
        };
        const addPreloadLinks = (
          groups: readonly ChunkGroup[],
          attributes: Readonly<Record<string, string>> = {},
        ): void => {
          const files = new Set(groups.flatMap((group) => group.getFiles()));
          const scripts = [...files].filter((file) => file.endsWith(".js"));
          tagGroups.headTags.push(
            ...scripts.map((file) =>
              HtmlWebpackPlugin.createHtmlTagObject(
                "link",
                { rel: "preload", as: "script", href: `/${file}`, ...attributes },
                undefined,
              ),
            ),
          );
        };
        addPreloadLinks([...this.chunks.always.map(findChunkGroup), ...sharedPackageGroups]);
        for (const [language, chunk] of Object.entries(this.chunks.texts))
          addPreloadLinks([findChunkGroup(chunk)], { hreflang: language });
        return tagGroups;
      });
    });
  }
}

/**
 * Federation's only CommonJS module that requires the runtime. Without this rule the bundle would
 * contain the runtime twice, as CommonJS and as ES module.
 */
const singleRuntimeRule: RuleSetRule = {
  test: /[\\/]inject-external-runtime-core-plugin[\\/]dist[\\/]index\.cjs$/,
  resolve: { byDependency: { commonjs: { conditionNames: ["import", "..."] } } },
};

const styleRule: RuleSetRule = { test: /\.css$/, use: [MiniCssExtractPlugin.loader, "css-loader"] };

/**
 * Locales of zod, 37 kB (gzip), which the host does not need. A remote bundles the locales that it
 * uses.
 */
const zodLanguages = fileURLToPath(import.meta.resolve("zod/v4/locales"));

const webFolder = join(context, "build/web");
const definitions = new webpack.DefinePlugin({
  __INTEGRITY_FUNCTION__: JSON.stringify(integrityFunctionName),
  __SHARED__: JSON.stringify(
    Object.fromEntries(Object.entries(sharedModules).map(([name, { version }]) => [name, version])),
  ),
});

export default (_environment: unknown, { mode = "production" }: BuildArguments): Configuration[] => [
  createHostConfig(mode),
  createControllerConfig(mode),
];

/** First scripts of the documents of the vault's origin, which are in `public/vault`. */
function createControllerConfig(mode: BuildMode): Configuration {
  const base = baseConfig({ name: "controller", context, mode });
  return {
    ...base,
    entry: { controller: "./src/controller.ts", element: "./src/element.ts" },
    output: {
      path: join(webFolder, "vault"),
      filename: "static/[name].js",
      assetModuleFilename: "static/[name].[contenthash:8][ext]",
      publicPath: "/",
      hashFunction: "sha256",
      uniqueName: "relicario_controller",
    },
    resolve: { ...base.resolve, alias: { [zodLanguages]: false } },
    module: { ...base.module, rules: [...(base.module?.rules ?? []), styleRule] },
    plugins: [definitions, new MiniCssExtractPlugin({ filename: "static/[name].css" })],
  };
}

function createHostConfig(mode: BuildMode): Configuration {
  const base = baseConfig({ name: "host", context, mode });
  return {
    ...base,
    entry: { main: "./src/index.ts" },
    output: {
      path: webFolder,
      publicPath: "/",
      // The federation runtime cannot name entries by [contenthash], and [fullhash] depends on the
      // folder's path. `hashHostFiles` renames the files.
      filename: "static/[name].js",
      chunkFilename: "static/[name].[contenthash:8].js",
      assetModuleFilename: "static/[name].[contenthash:8][ext]",
      hashFunction: "sha256",
      uniqueName: "relicario_host",
      crossOriginLoading: "anonymous",
      clean: { keep: "vault/" },
    },
    resolve: { ...base.resolve, alias: { [zodLanguages]: false } },
    module: {
      ...base.module,
      rules: [...(base.module?.rules ?? []), styleRule, singleRuntimeRule],
    },
    plugins: [
      new ModuleFederationPlugin({
        name: "relicario_host",
        // Remotes are registered at run time from the verified deployment document, never here.
        remotes: {},
        shared: sharedConfigForHost({
          "react-router-dom": join(context, "src/shared-packages/react-router-dom.ts"),
        }),
        // By default every remote would load at start, and one broken remote would break the page.
        shareStrategy: "loaded-first",
        // One runtime for all remotes. Remotes are registered by their entries, so no manifest is
        // read at run time.
        experiments: { provideExternalRuntime: true, optimization: { disableSnapshot: true, target: "web" } },
        manifest: false,
        dts: false,
      }),
      new IntegrityPlugin(),
      definitions,
      new MiniCssExtractPlugin({
        filename: "static/[name].[contenthash:8].css",
        chunkFilename: "static/[name].[contenthash:8].css",
      }),
      new PreloadPlugin({ always: ["bootstrap", "start-host"], texts: { en: "texts-en", es: "texts-es" } }),
      new HtmlWebpackPlugin({ template: "./src/index.html", scriptLoading: "defer", minify: mode === "production" }),
    ],
  };
}

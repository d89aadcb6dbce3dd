/** The host: one page, everything shared in it, remotes found at run time only. */
import { join } from "node:path";

import { ModuleFederationPlugin } from "@module-federation/enhanced/webpack";
import type { Language } from "@relicario/shared/contract";
import {
  baseConfig,
  integrityFunctionName,
  IntegrityPlugin,
  sharedConfigForHost,
  sharedModules,
  type BuildArguments,
} from "@relicario/shared/webpack";
import HtmlWebpackPlugin from "html-webpack-plugin";
import MiniCssExtractPlugin from "mini-css-extract-plugin";
import webpack, { type ChunkGroup, type Compiler, type Configuration, type RuleSetRule } from "webpack";

const context = import.meta.dirname;

interface PreloadChunks {
  readonly always: readonly string[];
  /** By language: the gateway leaves that of the reader's browser. */
  readonly texts: Readonly<Record<Language, string>>;
}

/**
 * Has the page ask at once for the scripts that every start loads, those of shared packages too,
 * rather than when the code before them runs.
 */
class PreloadPlugin {
  private readonly chunks: PreloadChunks;

  constructor(chunks: PreloadChunks) {
    this.chunks = chunks;
  }

  apply(compiler: Compiler): void {
    compiler.hooks.compilation.tap(PreloadPlugin.name, (compilation) => {
      HtmlWebpackPlugin.getHooks(compilation).alterAssetTagGroups.tap(PreloadPlugin.name, (page) => {
        const shared = compilation.chunkGroups.filter(({ origins }) =>
          origins.some(({ module }) => module?.type === "provide-module"),
        );
        const findChunkGroup = (name: string): ChunkGroup => {
          const group = compilation.namedChunkGroups.get(name);
          if (group === undefined) throw new Error(`the host has no chunk of the name ${name}`);
          return group;
        };
        const preload = (groups: readonly ChunkGroup[], attributes: Readonly<Record<string, string>> = {}): void => {
          const files = new Set(groups.flatMap((group) => group.getFiles()));
          const scripts = [...files].filter((file) => file.endsWith(".js"));
          page.headTags.push(
            ...scripts.map((file) =>
              HtmlWebpackPlugin.createHtmlTagObject(
                "link",
                { rel: "preload", as: "script", href: `/${file}`, ...attributes },
                undefined,
              ),
            ),
          );
        };
        preload([...this.chunks.always.map(findChunkGroup), ...shared]);
        for (const [language, chunk] of Object.entries(this.chunks.texts))
          preload([findChunkGroup(chunk)], { hreflang: language });
        return page;
      });
    });
  }
}

/**
 * The one module of federation that requires what all others import: it gets the same, or the
 * runtime would stand twice, as a CommonJS and as an ES module.
 */
const singleRuntimeRule: RuleSetRule = {
  test: /[\\/]inject-external-runtime-core-plugin[\\/]dist[\\/]index\.cjs$/,
  resolve: { byDependency: { commonjs: { conditionNames: ["import", "..."] } } },
};

export default (_environment: unknown, { mode = "production" }: BuildArguments): Configuration => {
  const base = baseConfig({ name: "host", context, mode });
  return {
    ...base,
    entry: { main: "./src/index.ts" },
    output: {
      path: join(context, "build/web"),
      publicPath: "/",
      // The federation runtime cannot name entries by [contenthash], and [fullhash] counts the
      // folder's path: `nameHostFiles` names them.
      filename: "static/[name].js",
      chunkFilename: "static/[name].[contenthash:8].js",
      assetModuleFilename: "static/[name].[contenthash:8][ext]",
      hashFunction: "sha256",
      uniqueName: "relicario_host",
      crossOriginLoading: "anonymous",
      clean: true,
    },
    module: {
      ...base.module,
      rules: [
        ...(base.module?.rules ?? []),
        { test: /\.css$/, use: [MiniCssExtractPlugin.loader, "css-loader"] },
        singleRuntimeRule,
      ],
    },
    plugins: [
      new ModuleFederationPlugin({
        name: "relicario_host",
        // Remotes are registered at run time from the verified deployment document, never here.
        remotes: {},
        shared: sharedConfigForHost({
          "react-router-dom": join(context, "src/shared-packages/react-router-dom.ts"),
          zod: join(context, "src/shared-packages/zod.ts"),
        }),
        // The default loads every remote at start-up, and one dead remote then kills the page.
        shareStrategy: "loaded-first",
        // One runtime for all remotes. Remotes are registered by their entries: nothing reads
        // manifests at run time.
        experiments: { provideExternalRuntime: true, optimization: { disableSnapshot: true, target: "web" } },
        manifest: false,
        dts: false,
      }),
      new IntegrityPlugin(),
      new webpack.DefinePlugin({
        __INTEGRITY_FUNCTION__: JSON.stringify(integrityFunctionName),
        __SHARED__: JSON.stringify(
          Object.fromEntries(Object.entries(sharedModules).map(([name, { version }]) => [name, version])),
        ),
      }),
      new MiniCssExtractPlugin({
        filename: "static/[name].[contenthash:8].css",
        chunkFilename: "static/[name].[contenthash:8].css",
      }),
      new PreloadPlugin({ always: ["bootstrap", "start-host"], texts: { en: "texts-en", es: "texts-es" } }),
      new HtmlWebpackPlugin({ template: "./src/index.html", scriptLoading: "defer", minify: mode === "production" }),
    ],
  };
};

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import webpack from "webpack";

import { sharedModules } from "./shared-packages.ts";
import { SurfacePlugin } from "./SurfacePlugin.ts";

/** Returns the errors of building `source`; shared modules are external, as in a remote. */
async function findViolations(source: string, context = join(import.meta.dirname, "../..")): Promise<string[]> {
  const compiler = webpack({
    mode: "production",
    cache: false,
    optimization: { minimize: false },
    context,
    entry: `data:text/javascript,${encodeURIComponent(source)}`,
    output: { path: join(import.meta.dirname, "../../dist/never") },
    externals: Object.fromEntries(
      [...Object.keys(sharedModules), "react-dom/server", "@relicario/shared/testing"].map((name) => [name, "var {}"]),
    ),
    plugins: [new SurfacePlugin(), { apply: ({ hooks }) => hooks.shouldEmit.tap("test", () => false) }],
  });
  return new Promise((resolve, reject) => {
    compiler.run((error, stats) => {
      compiler.close(() => {
        if (error !== null) reject(error);
        else resolve((stats?.compilation.errors ?? []).map(({ message }) => message));
      });
    });
  });
}

describe("SurfacePlugin", () => {
  it("accepts every listed name", async () => {
    await expect(
      findViolations(`
        import { z, toJSONSchema } from "zod"; import { useInfiniteQuery } from "@tanstack/react-query"; import { Trans } from "react-i18next";
        import { styled, ThemeProvider } from "styled-components"; import * as router from "react-router-dom"; import React from "react";
        console.log(z.string().nonempty(), toJSONSchema, useInfiniteQuery, Trans, styled, ThemeProvider, router.useFetcher, React.version, Object.keys(router));`),
    ).resolves.toEqual([]);
  });

  it.each([
    [
      `import { notThere } from "react"; console.log(notThere, notThere);`,
      "notThere of react is not given by the host: the surface of the contract does not list it.",
    ],
    [
      `import * as query from "@tanstack/react-query"; console.log(query.nope);`,
      "nope of @tanstack/react-query is not given by the host: the surface of the contract does not list it.",
    ],
    [
      `export { alsoNot } from "react-router";`,
      "alsoNot of react-router is not given by the host: the surface of the contract does not list it.",
    ],
    [
      `import { z } from "zod"; console.log(z.locales.es);`,
      "z.locales.es of zod is not given by the host: it has a door of its own, zod/locales, which a remote brings along.",
    ],
    [
      `import { core } from "zod"; console.log(core.locales);`,
      "core.locales of zod is not given by the host: it has a door of its own, zod/locales, which a remote brings along.",
    ],
    [
      `import { UNSAFE_NavigationContext } from "react-router"; console.log(UNSAFE_NavigationContext);`,
      "UNSAFE_NavigationContext of react-router is not given by the host: it is internal or experimental, as its name says.",
    ],
    [
      `import * as dom from "react-dom"; console.log(dom.unstable_batchedUpdates);`,
      "unstable_batchedUpdates of react-dom is not given by the host: it is internal or experimental, as its name says.",
    ],
    [
      `import React from "react"; console.log(React.__COMPILER_RUNTIME);`,
      "__COMPILER_RUNTIME of react is not given by the host: it is internal or experimental, as its name says.",
    ],
    [
      `import { z } from "zod"; console.log(z._ZodString);`,
      "z._ZodString of zod is not given by the host: it is internal or experimental, as its name says.",
    ],
    [
      `import { renderToString } from "react-dom/server"; console.log(renderToString);`,
      "react-dom/server is not given by the host, and a remote must not bring a second react-dom: the surface of the contract has react-dom, react-dom/client.",
    ],
    [
      `void import("react-dom/server").then(console.log);`,
      "react-dom/server is not given by the host, and a remote must not bring a second react-dom: the surface of the contract has react-dom, react-dom/client.",
    ],
    [
      `const { notThere } = await import("react"); console.log(notThere);`,
      "notThere of react is not given by the host: the surface of the contract does not list it.",
    ],
    [
      `import { renderApp } from "@relicario/shared/testing"; console.log(renderApp);`,
      "@relicario/shared/testing is not given by the host, and a remote must not bring a second @relicario/shared: the surface of the contract has @relicario/shared/contract, @relicario/shared/api, @relicario/shared/errors, @relicario/shared/i18n, @relicario/shared/ui, @relicario/shared/forms.",
    ],
  ])("refuses %s", async (source, violation) => {
    await expect(findViolations(source)).resolves.toEqual([violation]);
  });

  it("refuses to build against another version than the host's", async () => {
    const folder = mkdtempSync(join(tmpdir(), "surface-"));
    try {
      mkdirSync(join(folder, "node_modules/react"), { recursive: true });
      writeFileSync(join(folder, "node_modules/react/package.json"), JSON.stringify({ version: "18.3.1" }));
      await expect(findViolations("console.log(1);", folder)).resolves.toEqual([
        expect.stringContaining("react 18.3.1 is installed, and the host provides 19"),
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("lets a remote bundle zod's languages", async () => {
    await expect(findViolations(`import { es } from "zod/locales"; console.log(es);`)).resolves.toEqual([]);
  });
});

import { globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { runInNewContext } from "node:vm";

import { transformSync } from "@swc/core";

import { rootFolder } from "../paths.ts";
import leaveOut, { leftOut } from "./in-place/left-out.mjs";

const fromHost = createRequire(join(rootFolder, "host/package.json"));
const fromFederation = ["@module-federation/enhanced/webpack", "@module-federation/runtime-tools", "@module-federation/runtime"].reduce((from, name) => createRequire(from.resolve(name)), fromHost);

/** Where a file of a package lies, by its name in the table. */
function pathOf(file: string): string {
  const [name = ""] = /^(?:@[^/]+\/)?[^/]+/.exec(file) ?? [];
  const from = name.startsWith("@") ? fromFederation : fromHost;
  const entry = from.resolve(name).replaceAll("\\", "/");
  return join(entry.slice(0, entry.lastIndexOf(`/node_modules/${name}/`)), "node_modules", file);
}

const shortened = (file: string, source = readFileSync(pathOf(file), "utf8")) => leaveOut.call({ resourcePath: pathOf(file) }, source);

describe("what is left out of packages", () => {
  it.each(Object.keys(leftOut))("is where it was, and leaves %s a module", (file) => {
    const source = readFileSync(pathOf(file), "utf8");
    const short = shortened(file, source);
    expect(short.length).toBeLessThan(source.length);
    expect(transformSync(short, { jsc: { target: "es2022" } }).code).not.toBe("");
  });

  it("ends the build when a package is written otherwise", () => {
    const [file = ""] = Object.keys(leftOut);
    expect(() => shortened(file, "export {};\n")).toThrow("this version has not exactly one line");
    expect(() => leaveOut.call({ resourcePath: "/node_modules/other/index.js" }, "")).toThrow("knows no parts");
  });

  it("is nothing that a text asks for: none names another text, or a format", () => {
    const files = globSync(["host/src/locales/**/*.json", "remote-*/src/locales/**/*.json"], { cwd: rootFolder });
    expect(files.length).toBeGreaterThan(30);
    expect(files.filter((file) => /\$t\(|\{\{[^}]*,/.test(readFileSync(join(rootFolder, file), "utf8")))).toEqual([]);
  });
});

describe("styles", () => {
  it("name what Safari knows by its own name alone, since nothing adds it", () => {
    const files = globSync(["host/src/**/*.tsx", "shared/src/**/*.tsx", "remote-*/src/**/*.tsx"], { cwd: rootFolder });
    const named = files.map((file) => readFileSync(join(rootFolder, file), "utf8").match(/(?<![\w-])(?:-webkit-)?(?:user-select|text-size-adjust)(?=: )/g) ?? []).filter((names) => names.length > 0);
    expect(named.length).toBeGreaterThan(3);
    for (const names of named) expect(names).toEqual(names.filter((name) => !name.startsWith("-")).flatMap((name) => [`-webkit-${name}`, name]));
  });
});

describe("i18next in pages", () => {
  it("speaks as the whole one does", async () => {
    const file = "i18next/dist/esm/i18next.js";
    const said = await Promise.all([readFileSync(pathOf(file), "utf8"), shortened(file)].map((source) => speak(run(source))));
    expect(said[0]).toEqual(["Hello, <b>$t(n:none)</b> of Relicario", "one thing", "2 things", "only English", "none", "from afar", "Hola, <b>$t(n:none)</b> of Relicario", "cosas: 2", [true, false]]);
    expect(said[1]).toEqual(said[0]);
  });
});

/** So much of an instance as is spoken with. */
interface Instance {
  readonly use: (module: object) => Instance;
  readonly init: (options: object) => Promise<unknown>;
  readonly t: (key: string, options?: object) => string;
  readonly loadNamespaces: (namespaces: readonly string[]) => Promise<void>;
  readonly changeLanguage: (language: string) => Promise<unknown>;
  readonly hasResourceBundle: (language: string, namespace: string) => boolean;
  readonly exists: (key: string) => boolean;
}

/** What a module exports that imports nothing. */
function run(source: string): { readonly createInstance: () => Instance } {
  const exports = { createInstance: noInstance };
  runInNewContext(transformSync(source, { jsc: { target: "es2022" }, module: { type: "commonjs" } }).code, { exports, console, setTimeout, clearTimeout });
  return exports;
}

function noInstance(): never {
  throw new TypeError("the module made none");
}

async function speak({ createInstance: create }: ReturnType<typeof run>) {
  const i18n = create();
  const title = "<b>$t(n:none)</b>";
  await i18n
    .use({ type: "backend", callbackApi: true, init: () => undefined, read: (_language: string, _namespace: string, done: (error: null, texts: object) => void) => { done(null, { far: "from afar" }); } })
    .init({
      lng: "en", supportedLngs: ["en", "es"], fallbackLng: "en", load: "languageOnly", ns: [], defaultNS: "n", partialBundledLanguages: true, contextSeparator: "/", returnNull: false,
      interpolation: { escapeValue: false, skipOnVariables: true, defaultVariables: { product: "Relicario" } },
      resources: {
        en: { n: { hello: "Hello, {{title}} of {{product}}", things_one: "one thing", things_other: "{{count}} things", rest: "only English" } },
        es: { n: { hello: "Hola, {{title}} of {{product}}", things_one: "una cosa", things_other: "cosas: {{count}}" } },
      },
    });
  const english = [i18n.t("hello", { title }), i18n.t("things", { count: 1 }), i18n.t("things", { count: 2 }), i18n.t("rest"), i18n.t("none")];
  await i18n.loadNamespaces(["more"]);
  const more = i18n.t("more:far");
  await i18n.changeLanguage("es");
  return [...english, more, i18n.t("hello", { title }), i18n.t("things", { count: 2 }), [i18n.hasResourceBundle("es", "n"), i18n.exists("n:none")]];
}

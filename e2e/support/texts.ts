import { readFileSync } from "node:fs";

/** Texts of the areas: `<area>/<namespace>:<key>`. */
export function readTexts(language: "en" | "es"): (key: string) => string {
  return (key) => {
    const [, area = "", namespace = "", path = ""] = /^(\w+)\/([\w-]+):([\w.]+)$/.exec(key) ?? [];
    const folder = area === "host" ? "host" : `remote-${area}`;
    const file = new URL(`../../${folder}/src/locales/${language}/${namespace}.json`, import.meta.url);
    const value = path
      .split(".")
      .reduce<unknown>(
        (node, segment) => (typeof node === "object" && node !== null ? Reflect.get(node, segment) : undefined),
        JSON.parse(readFileSync(file, "utf8")),
      );
    if (typeof value !== "string") throw new Error(`there is no text ${key}`);
    return value;
  };
}

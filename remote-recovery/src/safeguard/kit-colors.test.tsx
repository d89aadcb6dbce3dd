import { readFileSync } from "node:fs";
import { join } from "node:path";

import { colors } from "@relicario/shared/ui";

describe("the page of a kit", () => {
  it("has the portal's colours in both themes", () => {
    const css = readFileSync(join(process.cwd(), "remote-recovery/vault/src/kit/page/kit.css"), "utf8");
    const declaredColors = [...css.matchAll(/--([a-z-]+): light-dark\((#\w+), (#\w+)\)/g)].map(
      ([, name = "", light, dark]) => ({
        name: name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
        light,
        dark,
      }),
    );
    expect(declaredColors.length).toBeGreaterThan(10);
    const portalColors = new Map(
      Object.entries(colors.light).map(([name, light]) => [
        name,
        { name, light, dark: Object.entries(colors.dark).find(([darkName]) => darkName === name)?.[1] },
      ]),
    );
    for (const color of declaredColors) expect(color).toEqual(portalColors.get(color.name));
  });
});

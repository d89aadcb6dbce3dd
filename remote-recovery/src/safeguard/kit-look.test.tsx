import { readFileSync } from "node:fs";
import { join } from "node:path";

import { colors } from "@relicario/shared/ui";

describe("the page of a kit", () => {
  it("wears the portal's colours in both themes", () => {
    const css = readFileSync(join(process.cwd(), "remote-recovery/vault/src/kit/page/kit.css"), "utf8");
    const declared = [...css.matchAll(/--([a-z-]+): light-dark\((#\w+), (#\w+)\)/g)].map(
      ([, name = "", light, dark]) => ({
        name: name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
        light,
        dark,
      }),
    );
    expect(declared.length).toBeGreaterThan(10);
    const ours = new Map(
      Object.entries(colors.light).map(([name, light]) => [
        name,
        { name, light, dark: Object.entries(colors.dark).find(([other]) => other === name)?.[1] },
      ]),
    );
    for (const one of declared) expect(one).toEqual(ours.get(one.name));
  });
});

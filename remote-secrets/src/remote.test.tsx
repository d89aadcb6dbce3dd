import { screen } from "@testing-library/react";

import { expectAccessible, readTexts, renderApp, listTextKeys } from "@relicario/shared/testing";
import manifest from "../manifest.json" with { type: "json" };
import remote from "./remote.tsx";

describe("the secrets remote", () => {
  it.each(manifest.routes.map(({ path }) => [path]))("renders %s", async (path) => {
    const app = await renderApp(null, {
      routes: remote.routes,
      routePattern: "/elsewhere",
      path: path.replace(":secretId", "01890a5d-ac96-7000-8000-000000000001"),
    });
    expect(await screen.findByRole("heading", { level: 1 })).toBeVisible();
    await expectAccessible(app.container);
  });

  it.each(manifest.namespaces.map((name) => [name]))("has the texts %s in both languages", (name) => {
    const [english, spanish] = [readTexts("en", name), readTexts("es", name)];
    if (english === null || spanish === null) throw new Error("a locale file is missing");
    expect(listTextKeys(spanish)).toEqual(listTextKeys(english));
  });
});

import { screen } from "@testing-library/react";

import { expectAccessible, readTexts, renderApp, listTextKeys } from "@relicario/shared/testing";
import manifest from "../manifest.json" with { type: "json" };
import remote from "./remote.tsx";

describe("the face of secrets", () => {
  it.each(manifest.routes.map(({ path }) => [path]))("draws %s", async (path) => {
    const app = await renderApp(null, {
      routes: remote.routes,
      route: "/elsewhere",
      path: path.replace(":secretId", "01890a5d-ac96-7000-8000-000000000001"),
    });
    expect(await screen.findByRole("heading", { level: 1 })).toBeVisible();
    await expectAccessible(app.container);
  });

  it.each(manifest.namespaces.map((name) => [name]))("has the texts %s in both languages", (name) => {
    const [english, spanish] = [readTexts("en", name), readTexts("es", name)];
    if (english === null || spanish === null) throw new Error("a file is missing");
    expect(listTextKeys(spanish)).toEqual(listTextKeys(english));
  });
});

import { screen } from "@testing-library/react";

import { expectAccessible, renderApp } from "../testing/index.ts";
import { Button } from "./Button.tsx";
import { Page } from "./Page.tsx";

it("Page names the screen in its heading and in the window", async () => {
  await renderApp(
    <main>
      <Page title="Secrets" lead="What you keep" actions={<Button>Add</Button>}>
        <p>Text</p>
      </Page>
    </main>,
  );
  expect(screen.getByRole("heading", { level: 1, name: "Secrets" })).toBeVisible();
  expect(document.title).toBe("Secrets · Relicario");
  await expectAccessible();
});

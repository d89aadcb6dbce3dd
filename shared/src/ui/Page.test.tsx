import { screen } from "@testing-library/react";

import { markVerbatim } from "../contract/bidi-isolation.ts";
import { expectAccessible, renderApp } from "../testing/index.ts";
import { Button } from "./Button.tsx";
import { Page } from "./Page.tsx";

it("Page shows its title as heading and as window title", async () => {
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

it("Page keeps a user's title from being translated or reordered", async () => {
  const title = "deed \u202efdp.exe \u05d0";
  await renderApp(
    <main>
      <Page title={markVerbatim(title)} />
    </main>,
  );
  const heading = screen.getByRole("heading", { level: 1, name: "deed fdp.exe \u05d0" });
  expect(heading.querySelector('bdi[translate="no"]')).toHaveTextContent(heading.textContent);
  expect(document.title).toBe("\u2068deed fdp.exe \u05d0\u2069 \u00b7 Relicario");
});

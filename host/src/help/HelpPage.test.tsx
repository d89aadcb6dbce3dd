import { expectAccessible, renderApp } from "@relicario/shared/testing";
import { screen } from "@testing-library/react";

import { HostContext } from "../context/host-context.ts";
import { createFakeHost, mockWindow } from "../testing/fake-host.tsx";
import { createTourStorage } from "../tours/tour-storage.ts";
import { createTours, ToursProvider } from "../tours/tours.ts";
import { HelpPage } from "./HelpPage.tsx";

it.each(["en", "es"] as const)("HelpPage (%s) has a heading and no accessibility violations", async (language) => {
  mockWindow({ mobile: false });
  await renderApp(
    <HostContext value={createFakeHost().host}>
      <ToursProvider value={createTours(createTourStorage(() => localStorage))}>
        <main>
          <HelpPage />
        </main>
      </ToursProvider>
    </HostContext>,
    { path: "/help", language },
  );
  expect(screen.getByRole("heading", { level: 1 })).toBeVisible();
  const links = screen.getAllByRole("link").map((link) => link.getAttribute("href"));
  expect(links).toEqual(["/openers", "/welcome-recovery", "/safeguard", "/settings/data", "/settings/feedback"]);
  expect(screen.getByText(/not for secrecy|no que sea secreta/)).toBeVisible();
  await expectAccessible();
});

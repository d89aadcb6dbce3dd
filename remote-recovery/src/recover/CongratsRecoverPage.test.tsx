import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import type { OpenedSecret } from "@relicario/shared/contract";
import { createFakePortal, createOpenedContent, expectAccessible, renderApp } from "@relicario/shared/testing";
import CongratsRecoverPage from "./CongratsRecoverPage.tsx";
import { clearOpenedSecret, setOpenedSecret } from "./opened-secret.ts";

const phrase = "abandon ability able";

function makeOpenedSecret(overrides: Partial<OpenedSecret> = {}): OpenedSecret {
  return {
    ...createOpenedContent({ content: phrase }),
    secretId: "01890a5d-ac96-7000-8000-000000000001",
    version: 1,
    title: "Wallet",
    signedTitle: null,
    tags: [],
    current: true,
    signatureStatus: "verified",
    dispose: jest.fn(),
    ...overrides,
  };
}

async function renderPage(
  secret: OpenedSecret | null = makeOpenedSecret(),
  settings: Parameters<typeof renderApp>[1] = {},
) {
  const { portal, record } = createFakePortal();
  if (secret !== null) setOpenedSecret(secret, portal);
  const app = await renderApp(
    <main>
      <CongratsRecoverPage />
    </main>,
    { path: "/congrats-recover", routePattern: "/congrats-recover", ...settings },
  );
  return { ...app, record };
}

afterEach(() => {
  act(clearOpenedSecret);
});

describe("an opened secret", () => {
  it.each([
    ["en", "light"],
    ["es", "dark"],
  ] as const)("is shown by the vault's own view, under its title (%s, %s)", async (language, theme) => {
    await renderPage(makeOpenedSecret({ title: "<b>Wallet</b>" }), { language, theme });
    expect(screen.getByRole("heading", { level: 1, name: "<b>Wallet</b>" })).toBeVisible();
    expect(screen.queryByText(phrase)).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Show" }));
    expect(screen.getByText(phrase)).toBeVisible();
    await expectAccessible();
  });

  it("shows the signed title where the list has another", async () => {
    await renderPage(makeOpenedSecret({ signedTitle: "Seed of the wallet" }));
    expect(screen.getByText(/Seed of the wallet/)).toBeVisible();
    await expectAccessible();
  });

  it("warns if the author is not verified", async () => {
    await renderPage(makeOpenedSecret({ signatureStatus: "not_verified" }));
    expect(screen.getByText("Author not verified")).toBeVisible();
    await expectAccessible();
  });

  it("marks an older version", async () => {
    await renderPage(makeOpenedSecret({ current: false, version: 2 }));
    expect(screen.getByText("This is version 2, not the latest")).toBeVisible();
    await expectAccessible();
  });
});

describe("an opened secret is wiped", () => {
  it("on close", async () => {
    const secret = makeOpenedSecret();
    const { getLocation } = await renderPage(secret);
    expect(screen.getByRole("link", { name: "Share" })).toHaveAttribute(
      "href",
      "/share/01890a5d-ac96-7000-8000-000000000001",
    );
    await userEvent.click(screen.getByRole("button", { name: "Close" }));
    expect(getLocation()).toBe("/secrets");
    expect(secret.dispose).toHaveBeenCalledTimes(1);
  });

  it("when the page is left", async () => {
    const secret = makeOpenedSecret();
    const { goTo } = await renderPage(secret);
    await goTo("/home");
    await waitFor(() => {
      expect(secret.dispose).toHaveBeenCalledTimes(1);
    });
  });

  it("on lock", async () => {
    const secret = makeOpenedSecret();
    const { record } = await renderPage(secret);
    await act(async () => {
      for (const listener of record.lockListeners) await listener("lock");
    });
    expect(screen.getByRole("heading", { level: 1, name: "Nothing is open" })).toBeVisible();
    expect(secret.dispose).toHaveBeenCalledTimes(1);
    expect(record.lockListeners.size).toBe(0);
    await expectAccessible();
  });
});

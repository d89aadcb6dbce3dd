import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { createFakeVault, expectAccessible, renderApp, type FakeVaultSettings } from "@relicario/shared/testing";
import CongratsPage from "./CongratsPage.tsx";

const draw = async (settings: FakeVaultSettings) => {
  const vault = createFakeVault({ secrets: [{ title: "Wallet", content: "x" }], ...settings });
  await renderApp(
    <main>
      <CongratsPage />
    </main>,
    { vault, path: "/congrats?secret=01890a5d-ac96-7000-8000-000000000001", route: "/congrats" },
  );
  return vault;
};

describe("CongratsPage", () => {
  it("says what to keep, and offers to try it", async () => {
    await draw({});
    expect(screen.getByRole("link", { name: "What to keep, and how" })).toHaveAttribute("href", "/safeguard");
    expect(screen.getByRole("link", { name: "Try it now" })).toHaveAttribute("href", "/provide-image-recovery?secret=01890a5d-ac96-7000-8000-000000000001");
    await expectAccessible();
  });

  it("asks whose device it is after the first secret", async () => {
    const vault = createFakeVault({ secrets: [{ title: "Wallet", content: "x" }] });
    await vault.answerDevice("own");
    const fresh = { ...vault, getState: () => unanswered };
    await renderApp(<CongratsPage />, { vault: fresh });
    await userEvent.click(await screen.findByRole("button", { name: "My own device" }));
    await waitFor(() => {
      expect(vault.calls.filter((each) => each === "answerDevice")).toHaveLength(2);
    });
  });

  it("says when the answer could not be kept", async () => {
    const vault = createFakeVault({ secrets: [{ title: "Wallet", content: "x" }] });
    vault.failWith("answerDevice", "storage_full");
    await renderApp(<CongratsPage />, { vault: { ...vault, getState: () => unanswered } });
    await userEvent.click(await screen.findByRole("button", { name: "A shared computer" }));
    expect(await screen.findByRole("alert")).toHaveTextContent("no room left");
  });
});

const unanswered = { status: "unlocked", device: null } as const;

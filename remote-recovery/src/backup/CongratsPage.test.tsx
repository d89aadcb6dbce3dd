import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { createFakeVault, expectAccessible, renderApp, type FakeVaultSettings } from "@relicario/shared/testing";
import CongratsPage from "./CongratsPage.tsx";

// jsdom has no canvas: only the calls of the library are checked.
const fire = jest.fn(() => Promise.resolve());
const create = jest.fn((_canvas: HTMLCanvasElement, _options: object) => Object.assign(fire, { reset: jest.fn() }));
jest.mock("canvas-confetti", () => ({
  __esModule: true,
  default: { create: (...args: Parameters<typeof create>) => create(...args) },
}));

const renderPage = async (settings: FakeVaultSettings) => {
  const vault = createFakeVault({ secrets: [{ title: "Wallet", content: "x" }], ...settings });
  await renderApp(
    <main>
      <CongratsPage />
    </main>,
    { vault, path: "/congrats?secret=01890a5d-ac96-7000-8000-000000000001", routePattern: "/congrats" },
  );
  return vault;
};

describe("CongratsPage", () => {
  it("links to the advice on what to keep, and offers a copy check", async () => {
    await renderPage({});
    expect(screen.getByRole("link", { name: "What to keep, and how" })).toHaveAttribute("href", "/safeguard");
    expect(screen.getByRole("link", { name: "Check it now" })).toHaveAttribute(
      "href",
      "/provide-image-recovery?check=01890a5d-ac96-7000-8000-000000000001",
    );
    await expectAccessible();
  });

  it("asks whose device this is after the first secret", async () => {
    const vault = createFakeVault({ secrets: [{ title: "Wallet", content: "x" }] });
    await vault.setDeviceKind("own");
    const unansweredVault = { ...vault, getState: () => unansweredState };
    await renderApp(<CongratsPage />, { vault: unansweredVault });
    await userEvent.click(await screen.findByRole("button", { name: "My own device" }));
    await waitFor(() => {
      expect(vault.calls.filter((call) => call === "setDeviceKind")).toHaveLength(2);
    });
  });

  it("explains if the browser cannot store the device's keys", async () => {
    const vault = createFakeVault({ secrets: [{ title: "Wallet", content: "x" }], lacksEd25519: true });
    const { record } = await renderApp(<CongratsPage />, { vault: { ...vault, getState: () => unansweredState } });
    await userEvent.click(await screen.findByRole("button", { name: "My own device" }));
    await waitFor(() => {
      expect(record.notices.map(({ text }) => text)).toEqual([
        "This browser can't remember your titles, so you will need your picture each time. A newer browser may do better.",
      ]);
    });
  });

  it("shows that the kind of device could not be saved", async () => {
    const vault = createFakeVault({ secrets: [{ title: "Wallet", content: "x" }] });
    vault.failWith("setDeviceKind", "storage_full");
    await renderApp(<CongratsPage />, { vault: { ...vault, getState: () => unansweredState } });
    await userEvent.click(await screen.findByRole("button", { name: "A shared device" }));
    expect(await screen.findByRole("alert")).toHaveTextContent("no space left");
  });
});

it("shows confetti without a worker, and respects reduced motion", async () => {
  await renderPage({});
  await waitFor(() => {
    expect(create).toHaveBeenCalledWith(
      expect.any(HTMLCanvasElement),
      expect.objectContaining({ useWorker: false, disableForReducedMotion: true }),
    );
  });
  expect(fire).toHaveBeenCalledWith(expect.objectContaining({ particleCount: 100 }));
});

it("says after a copy check that the copy works, and when the next check is due", async () => {
  const vault = createFakeVault({ secrets: [{ title: "Wallet", content: "x" }], device: "own" });
  await renderApp(
    <main>
      <CongratsPage />
    </main>,
    { vault, path: "/congrats?checked=01890a5d-ac96-7000-8000-000000000001", routePattern: "/congrats" },
  );
  expect(await screen.findByRole("heading", { level: 1, name: "Your copy works!" })).toBeVisible();
  expect(screen.getByText(/check again in 180 days/)).toBeVisible();
  await expectAccessible();
});

const unansweredState = { status: "unlocked", device: null } as const;

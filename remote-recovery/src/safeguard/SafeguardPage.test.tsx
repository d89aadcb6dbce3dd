import { act, screen, waitFor } from "@testing-library/react";

import {
  createFakeVault,
  expectAccessible,
  createPictureFile,
  readOpened,
  renderApp,
  createOpenerHandle,
} from "@relicario/shared/testing";
import { clearSavedCapture, setCaptureSaved, useCaptureSaved } from "../elements/saved-capture.ts";
import { setOpenedSecret, useOpenedSecret } from "../recover/opened-secret.ts";
import SafeguardPage from "./SafeguardPage.tsx";

function StoredState() {
  return <p>{`photo: ${useCaptureSaved() ? "saved" : "none"}, secret: ${useOpenedSecret()?.title ?? "none"}`}</p>;
}

async function renderPage(page = <SafeguardPage />, path = "/safeguard") {
  const vault = createFakeVault({ secrets: [{ title: "Wallet", content: "words" }] });
  const app = await renderApp(<main>{page}</main>, {
    vault,
    path,
    routePattern: path.replace(/\?.*/, ""),
    routes: { "/elsewhere": () => Promise.resolve({ default: StoredState }) },
  });
  const secretId = (await vault.list())[0]?.secretId ?? "";
  const openedSecret = await vault.openSecret(secretId, createOpenerHandle(createPictureFile("garden")));
  act(() => {
    setCaptureSaved(true, app.portal);
    setOpenedSecret(openedSecret, app.portal);
  });
  return { ...app, openedSecret };
}

describe("SafeguardPage", () => {
  afterEach(() => {
    act(clearSavedCapture);
  });

  it('offers "I have saved copies of my picture" only after a taken picture was saved', async () => {
    const { portal } = await renderPage(<SafeguardPage />, "/safeguard?secret=one");
    await expectAccessible();
    expect(await screen.findByRole("link", { name: "I have saved copies of my picture" })).toHaveAttribute(
      "href",
      "/congrats?secret=one",
    );
    act(() => {
      setCaptureSaved(false, portal);
    });
    expect(screen.getByRole("link", { name: "Continue" })).toHaveAttribute("href", "/congrats?secret=one");
    expect(screen.queryByRole("link", { name: "I have saved copies of my picture" })).not.toBeInTheDocument();
  });

  it("clears the opened secret and its recovery image when the page is left", async () => {
    const { goTo, openedSecret } = await renderPage();
    await goTo("/elsewhere");
    expect(await screen.findByText("photo: none, secret: none")).toBeVisible();
    expect(() => readOpened(openedSecret.handle)).toThrow("vault_locked");
  });

  it("forgets the saved picture on lock", async () => {
    const { record } = await renderPage(<SafeguardPage />, "/safeguard?secret=one");
    await screen.findByRole("link", { name: "I have saved copies of my picture" });
    await act(async () => {
      for (const listener of [...record.lockListeners]) await listener("lock");
    });
    await waitFor(() => {
      expect(screen.queryByRole("link", { name: "I have saved copies of my picture" })).not.toBeInTheDocument();
    });
    expect(record.lockListeners.size).toBe(0);
  });
});

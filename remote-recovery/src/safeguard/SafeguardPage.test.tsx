import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import {
  createFakeVault,
  expectAccessible,
  createPictureFile,
  renderApp,
  createOpenerHandle,
} from "@relicario/shared/testing";
import CongratsPage from "../backup/CongratsPage.tsx";
import { clearCapturedPicture, setCapturedPicture, useCapturedPicture } from "../picture/captured-picture.ts";
import { setOpenedSecret, useOpenedSecret } from "../recover/opened-secret.ts";
import SafeguardPage from "./SafeguardPage.tsx";

function StoredState() {
  return (
    <p>{`photo: ${useCapturedPicture()?.picture.name ?? "none"}, secret: ${useOpenedSecret()?.title ?? "none"}`}</p>
  );
}

async function renderPage(page = <SafeguardPage />, path = "/safeguard") {
  const vault = createFakeVault({ secrets: [{ title: "Wallet", content: "words" }] });
  const app = await renderApp(<main>{page}</main>, {
    vault,
    path,
    route: path.replace(/\?.*/, ""),
    routes: { "/elsewhere": () => Promise.resolve({ default: StoredState }) },
  });
  const secretId = (await vault.list())[0]?.secretId ?? "";
  const recovered = await vault.openSecret(secretId, createOpenerHandle(createPictureFile("garden")));
  act(() => {
    setCapturedPicture(createPictureFile("garden", "taken.jpg"), app.portal);
    setOpenedSecret(recovered, app.portal);
  });
  return { ...app, recovered };
}

describe("SafeguardPage", () => {
  afterEach(() => {
    act(clearCapturedPicture);
  });

  it("offers to save the picture that was taken here", async () => {
    URL.createObjectURL = jest.fn(() => "blob:test/1"); // jsdom has no object URLs
    URL.revokeObjectURL = jest.fn();
    const clickAnchor = jest.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(() => undefined);
    await renderPage();
    await expectAccessible();
    await userEvent.click(await screen.findByRole("button", { name: "Save the picture" }));
    expect(clickAnchor).toHaveBeenCalledTimes(1);
  });

  it("lets somebody say that the picture is kept once it was saved", async () => {
    URL.createObjectURL = jest.fn(() => "blob:test/1"); // jsdom has no object URLs
    URL.revokeObjectURL = jest.fn();
    jest.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(() => undefined);
    await renderPage(<SafeguardPage />, "/safeguard?secret=one");
    expect(await screen.findByRole("link", { name: "Continue" })).toHaveAttribute("href", "/congrats?secret=one");
    expect(screen.queryByRole("link", { name: "I have kept my picture" })).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Save the picture" }));
    expect(screen.getByRole("link", { name: "I have kept my picture" })).toHaveAttribute(
      "href",
      "/congrats?secret=one",
    );
  });

  it("clears the secret that was worked on and its recovery image when it is left", async () => {
    const { goTo, recovered } = await renderPage();
    await goTo("/elsewhere");
    expect(await screen.findByText("photo: none, secret: none")).toBeVisible();
    expect([...(recovered.content ?? [])].every((byte) => byte === 0)).toBe(true);
  });

  it("has nothing to save once the portal is locked", async () => {
    const { record } = await renderPage();
    await act(async () => {
      for (const listener of [...record.lockListeners]) await listener("lock");
    });
    await waitFor(() => {
      expect(screen.queryByRole("button", { name: "Save the picture" })).not.toBeInTheDocument();
    });
    expect(record.lockListeners.size).toBe(0);
  });
});

describe("CongratsPage", () => {
  it("offers to save the picture that was taken for the secret, and keeps it for Safeguard", async () => {
    const { goTo } = await renderPage(<CongratsPage />, "/congrats");
    expect(await screen.findByRole("button", { name: "Save the picture" })).toBeVisible();
    await goTo("/elsewhere");
    expect(await screen.findByText(/^photo: taken\.jpg/)).toBeVisible();
    act(clearCapturedPicture);
  });
});

import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { createFakeVault, expectAccessible, picture, renderApp, shownImage } from "@relicario/shared/testing";
import CongratsPage from "../backup/CongratsPage.tsx";
import { forgetTaken, keepTaken, useTaken } from "../picture/taken-picture.ts";
import { keepOpened, useOpened } from "../recover/opened-secret.ts";
import SafeguardPage from "./SafeguardPage.tsx";

function Kept() {
  return <p>{`photo: ${useTaken()?.picture.name ?? "none"}, secret: ${useOpened()?.title ?? "none"}`}</p>;
}

async function draw(page = <SafeguardPage />, path = "/safeguard") {
  const vault = createFakeVault({ secrets: [{ title: "Wallet", content: "words" }] });
  const app = await renderApp(<main>{page}</main>, {
    vault,
    path,
    route: path.replace(/\?.*/, ""),
    routes: { "/elsewhere": () => Promise.resolve({ default: Kept }) },
  });
  const secretId = (await vault.list())[0]?.secretId ?? "";
  const recovered = await vault.recover(secretId, shownImage(picture("garden")));
  act(() => {
    keepTaken(picture("garden", "taken.jpg"), app.portal);
    keepOpened(recovered, app.portal);
  });
  return { ...app, recovered };
}

describe("SafeguardPage", () => {
  afterEach(() => {
    act(forgetTaken);
  });

  it("offers to save the picture that was taken here", async () => {
    URL.createObjectURL = jest.fn(() => "blob:test/1"); // jsdom has no object URLs
    URL.revokeObjectURL = jest.fn();
    const saved = jest.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(() => undefined);
    await draw();
    await expectAccessible();
    await userEvent.click(await screen.findByRole("button", { name: "Save the picture" }));
    expect(saved).toHaveBeenCalledTimes(1);
  });

  it("lets somebody say that the picture is kept once it was saved", async () => {
    URL.createObjectURL = jest.fn(() => "blob:test/1"); // jsdom has no object URLs
    URL.revokeObjectURL = jest.fn();
    jest.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(() => undefined);
    await draw(<SafeguardPage />, "/safeguard?secret=one");
    expect(await screen.findByRole("link", { name: "Go on" })).toHaveAttribute("href", "/congrats?secret=one");
    expect(screen.queryByRole("link", { name: "I have kept my picture" })).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Save the picture" }));
    expect(screen.getByRole("link", { name: "I have kept my picture" })).toHaveAttribute(
      "href",
      "/congrats?secret=one",
    );
  });

  it("clears the secret that was worked on and its recovery image when it is left", async () => {
    const { goTo, recovered } = await draw();
    await goTo("/elsewhere");
    expect(await screen.findByText("photo: none, secret: none")).toBeVisible();
    expect([...(recovered.content ?? [])].every((byte) => byte === 0)).toBe(true);
  });

  it("has nothing to save once the portal is locked", async () => {
    const { record } = await draw();
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
    const { goTo } = await draw(<CongratsPage />, "/congrats");
    expect(await screen.findByRole("button", { name: "Save the picture" })).toBeVisible();
    await goTo("/elsewhere");
    expect(await screen.findByText(/^photo: taken\.jpg/)).toBeVisible();
    act(forgetTaken);
  });
});

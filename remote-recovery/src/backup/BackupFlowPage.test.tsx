import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import type { CallOptions, NewSecretInput } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { expectAccessible, createPictureFile, renderApp, type FakeVault } from "@relicario/shared/testing";
import { getPresentedPicture } from "@relicario/vault/presented-opener";

import { registerVaultElement, getVaultElement } from "../elements/vault-elements.tsx";
import { createRecoveryFakeVault } from "../testing/recovery-fake-vault.tsx";
import BackupFlowPage from "./BackupFlowPage.tsx";

const loadFlow = () => Promise.resolve({ default: BackupFlowPage });
const routes = {
  "/welcome-backup": loadFlow,
  "/provide-image": loadFlow,
  "/provide-secret": loadFlow,
  "/processing": loadFlow,
};

beforeEach(() => {
  sessionStorage.clear();
  URL.createObjectURL = jest.fn(() => "blob:test/1"); // jsdom has no object URLs
  URL.revokeObjectURL = jest.fn();
});

async function renderFlow({
  vault = createRecoveryFakeVault(),
  path = "/welcome-backup",
  settings = {},
}: { vault?: FakeVault; path?: string; settings?: Parameters<typeof renderApp>[1] } = {}) {
  const app = await renderApp(<h1>Safeguard</h1>, { vault, path, routePattern: "/safeguard", routes, ...settings });
  return { vault, ...app };
}
const clickButton = async (name: string | RegExp) => userEvent.click(await screen.findByRole("button", { name }));

/** Replaces `protect` and keeps the examiner. */
function withProtect(vault: FakeVault, protect: FakeVault["protect"]): FakeVault {
  const wrappedVault = { ...vault, protect };
  registerVaultElement(wrappedVault, getVaultElement(vault));
  return wrappedVault;
}
async function choosePicture(text = "garden") {
  await userEvent.upload(await screen.findByLabelText("Picture file"), createPictureFile(text, `${text}.jpg`), {
    applyAccept: false,
  });
  await userEvent.click(await screen.findByRole("checkbox", { name: /Continue without a passphrase/ }));
}
async function typeSecret() {
  await userEvent.type(await screen.findByLabelText("Your secret"), "abandon ability");
  await userEvent.type(screen.getByLabelText("Title"), "Wallet");
}

describe("the backup flow", () => {
  it("goes from the welcome to Safeguard in numbered, accessible steps", async () => {
    const { vault, getLocation } = await renderFlow();
    expect(screen.getByText("Step 1 of 6")).toBeVisible();
    await userEvent.click(screen.getByRole("link", { name: "Start" }));
    expect(await screen.findByText("Step 2 of 6")).toBeVisible();
    await choosePicture();
    await expectAccessible();
    await clickButton("Continue");
    expect(await screen.findByText("Step 3 of 6")).toBeVisible();
    expect(getLocation()).toBe("/provide-secret");
    await typeSecret();
    await userEvent.click(screen.getByRole("checkbox", { name: /I have never protected anything/ }));
    await expectAccessible();
    await clickButton("Protect");
    await waitFor(() => {
      expect(getLocation()).toMatch(/^\/safeguard\?secret=[0-9a-f-]{36}$/);
    });
    const rows = await vault.list();
    expect(rows.map(({ label }) => label?.title)).toEqual(["Wallet"]);
    expect((await vault.listImages()).map(({ name }) => name)).toEqual(["Picture 1"]);
  });

  it("shows what is missing on each step, and does not continue", async () => {
    const { getLocation } = await renderFlow({ path: "/provide-image" });
    await clickButton("Continue");
    expect(getLocation()).toBe("/provide-image");
    expect(screen.getByText("Choose a picture that can be used.")).toBeVisible();
    await choosePicture();
    const withoutPassphrase = screen.getByRole("checkbox", { name: /Continue without a passphrase/ });
    await userEvent.click(withoutPassphrase);
    await clickButton("Continue");
    expect(screen.getByText("Complete the passphrase above.")).toBeVisible();
    await userEvent.click(withoutPassphrase);
    await userEvent.clear(screen.getByLabelText("Name of the picture"));
    await clickButton("Continue");
    expect(screen.getByText("Give the picture a name.")).toBeVisible();
    await userEvent.type(screen.getByLabelText("Name of the picture"), "Garden");
    await clickButton("Continue");
    await clickButton("Protect");
    expect(getLocation()).toBe("/provide-secret");
    for (const text of [
      "Type what you want to protect.",
      "Give it a title.",
      "Only you know this. Tick the box if it is true.",
    ])
      expect(screen.getByText(text)).toBeVisible();
    await expectAccessible();
  });

  it("keeps the draft when going back and forth", async () => {
    const { goBack, getLocation } = await renderFlow({ path: "/provide-image" });
    await choosePicture();
    await clickButton("Continue");
    await typeSecret();
    await goBack();
    expect(getLocation()).toBe("/provide-image");
    expect(await screen.findByText("garden.jpg")).toBeVisible();
    expect(screen.getByText("This picture has enough detail")).toBeVisible();
    await goBack(-1);
    expect(await screen.findByLabelText("Your secret")).toHaveValue("abandon ability");
    expect(screen.getByLabelText("Title")).toHaveValue("Wallet");
  });

  it("asks before leaving with a draft, then drops it", async () => {
    const { goTo, record, getLocation } = await renderFlow({
      path: "/provide-image",
      settings: { confirmAnswer: true },
    });
    await choosePicture();
    await clickButton("Continue");
    expect(record.confirms).toEqual([]); // steps of the flow need no confirmation
    await goTo("/elsewhere");
    await waitFor(() => {
      expect(getLocation()).toBe("/elsewhere");
    });
    expect(record.confirms.map(({ title }) => title)).toEqual(["Leave without protecting?"]);
    expect(sessionStorage.getItem("backupFlow")).toBeNull();
    await goTo("/provide-image");
    await screen.findByText("Step 2 of 6");
    expect(screen.queryByText("garden.jpg")).not.toBeInTheDocument();
  });

  it("keeps only the kind of secret across a reload, says so, and restarts at the picture", async () => {
    const firstApp = await renderFlow({ path: "/provide-image" });
    await choosePicture("garden");
    await clickButton("Continue");
    await userEvent.click(await screen.findByRole("radio", { name: "Seed phrase" }));
    await userEvent.type(screen.getByLabelText("Your seed phrase"), "abandon");
    const savedChoices = sessionStorage.getItem("backupFlow");
    expect(savedChoices).toBe(JSON.stringify({ kind: "seed", image: "new" }));
    firstApp.unmount();
    sessionStorage.setItem("backupFlow", savedChoices ?? ""); // a reload runs no cleanup

    const { getLocation } = await renderFlow({ path: "/provide-secret" });
    await waitFor(() => {
      expect(getLocation()).toBe("/provide-image");
    });
    expect(await screen.findByText("This page was reloaded")).toBeVisible();
    await choosePicture();
    await clickButton("Continue");
    expect(await screen.findByRole("radio", { name: "Seed phrase" })).toBeChecked();
    expect(screen.getByLabelText("Your seed phrase")).toHaveValue("");
  });

  it("drops the draft on lock, and says so", async () => {
    const { record } = await renderFlow({ path: "/provide-image" });
    await choosePicture();
    await act(async () => {
      for (const listener of [...record.lockListeners]) await listener("lock");
    });
    expect(await screen.findByText("The portal was locked")).toBeVisible();
    expect(screen.queryByText("garden.jpg")).not.toBeInTheDocument();
  });

  it("asks to unlock a locked account that has secrets", async () => {
    await renderFlow({
      path: "/provide-image",
      vault: createRecoveryFakeVault({ secrets: [{ title: "Wallet", content: "x" }], unlocked: false }),
    });
    expect(await screen.findByRole("link", { name: "Unlock with your picture" })).toHaveAttribute(
      "href",
      "/provide-image-recovery?then=%2Fprovide-image",
    );
  });

  it("protects with an existing image, without asking for a picture", async () => {
    const vault = createRecoveryFakeVault({
      images: [{ name: "Garden", picture: "garden" }],
      secrets: [{ title: "Wallet", content: "x" }],
      device: "own",
    });
    const requests: NewSecretInput[] = [];
    const recordingVault = withProtect(vault, (request, options) => {
      requests.push(request);
      return vault.protect(request, options);
    });
    const { getLocation } = await renderFlow({ path: "/provide-image", vault: recordingVault });
    await userEvent.click(await screen.findByRole("radio", { name: "Your picture “Garden”" }));
    await clickButton("Continue");
    await typeSecret();
    await clickButton("Protect");
    await waitFor(() => {
      expect(getLocation()).toMatch(/^\/safeguard/);
    });
    const [image] = await vault.listImages();
    expect(requests[0]?.protection).toEqual({ kind: "openers", openerIds: [image?.id] });
  });
});

describe("the processing step", () => {
  /** A vault whose `protect` stays pending until `end` is called. */
  function makePendingVault(vault = createRecoveryFakeVault({ device: "own" })) {
    const protectCalls: { request: NewSecretInput; options: CallOptions; end: (error: PortalError | null) => void }[] =
      [];
    const pendingVault = withProtect(
      vault,
      (request, options = {}) =>
        new Promise((resolve, reject) => {
          const end = (error: PortalError | null) => {
            if (error === null) resolve({ secretId: "01890a5d-ac96-7000-8000-000000000001", version: 1 });
            else reject(error);
          };
          options.signal?.addEventListener("abort", () => {
            end(new PortalError("cancelled"));
          });
          protectCalls.push({ request, options, end });
        }),
    );
    return { pendingVault, protectCalls };
  }
  async function reachProcessing(vault: FakeVault) {
    const app = await renderFlow({ path: "/provide-image", vault });
    await choosePicture();
    await clickButton("Continue");
    await typeSecret();
    await userEvent.click(screen.getByRole("checkbox", { name: /I have never protected anything/ }));
    await clickButton("Protect");
    return app;
  }

  it("shows the numbers of step and phase, and keeps the draft after cancelling", async () => {
    const { pendingVault, protectCalls } = makePendingVault();
    const { getLocation } = await reachProcessing(pendingVault);
    expect(await screen.findByText("Step 4 of 6")).toBeVisible();
    act(() => protectCalls[0]?.options.onProgress?.({ phase: "sealing", done: 1, total: 2 }));
    expect(screen.getByRole("progressbar", { name: "Encrypting" })).toHaveAttribute("aria-valuenow", "50");
    expect(screen.getByText("Part 3 of 4")).toBeVisible();
    await expectAccessible();
    await clickButton("Cancel");
    expect(await screen.findByLabelText("Your secret")).toHaveValue("abandon ability");
    expect(getLocation()).toBe("/provide-secret");
    expect(protectCalls[0]?.options.signal?.aborted).toBe(true);
  });

  it("cancels when the browser goes back, and releases the presented picture", async () => {
    const { pendingVault, protectCalls } = makePendingVault();
    const { goBack } = await reachProcessing(pendingVault);
    await screen.findByText("Step 4 of 6");
    await goBack();
    await screen.findByLabelText("Your secret");
    const [protectCall] = protectCalls;
    expect(protectCall?.options.signal?.aborted).toBe(true);
    const protection = protectCall?.request.protection;
    if (protection?.kind !== "picture") throw new Error("expected protection by a picture");
    await waitFor(() => {
      expect(getPresentedPicture(protection.picture)).toBeNull();
    });
  });

  it("shows a failure, keeps the draft, and retries", async () => {
    const { pendingVault, protectCalls } = makePendingVault();
    const { getLocation } = await reachProcessing(pendingVault);
    await waitFor(() => {
      expect(protectCalls).toHaveLength(1);
    });
    act(() => protectCalls[0]?.end(new PortalError("service_unavailable")));
    expect(await screen.findByRole("alert")).toHaveTextContent("The service is not responding");
    expect(screen.getByRole("heading", { level: 1, name: "Your secret is not protected" })).toBeVisible();
    await expectAccessible();
    await clickButton("Try again");
    await waitFor(() => {
      expect(protectCalls).toHaveLength(2);
    });
    act(() => protectCalls[1]?.end(null));
    await waitFor(() => {
      expect(getLocation()).toBe("/safeguard?secret=01890a5d-ac96-7000-8000-000000000001");
    });
  });

  it("does not protect again when the browser goes back afterwards", async () => {
    const { pendingVault, protectCalls } = makePendingVault();
    const { goBack, getLocation } = await reachProcessing(pendingVault);
    await waitFor(() => {
      expect(protectCalls).toHaveLength(1);
    });
    act(() => protectCalls[0]?.end(null));
    await waitFor(() => {
      expect(getLocation()).toMatch(/^\/safeguard/);
    });
    await goBack();
    await screen.findByText("Step 2 of 6"); // without a draft the flow restarts at the picture
    expect(protectCalls).toHaveLength(1);
    expect(screen.queryByText("This page was reloaded")).not.toBeInTheDocument();
  });

  it("asks for an existing picture before it adds another", async () => {
    const vault = createRecoveryFakeVault({
      images: [{ name: "Garden", picture: "garden" }],
      secrets: [{ title: "Wallet", content: "x" }],
      device: "own",
    });
    let hasRefused = false;
    const strictVault = withProtect(vault, (request, options) => {
      if (hasRefused) return vault.protect(request, options);
      hasRefused = true;
      return Promise.reject(new PortalError("show_opener_first"));
    });
    const { getLocation } = await renderFlow({ path: "/provide-image", vault: strictVault });
    await choosePicture("market");
    await clickButton("Continue");
    await typeSecret();
    await clickButton("Protect");
    expect(await screen.findByRole("heading", { name: "First show one way to open" })).toBeVisible();
    await userEvent.upload(await screen.findByLabelText("Picture file"), createPictureFile("garden"), {
      applyAccept: false,
    });
    await clickButton("Use it and protect");
    await waitFor(() => {
      expect(getLocation()).toMatch(/^\/safeguard/);
    });
    expect(vault.calls).toContain("unlock");
  });
});

it("renders in Spanish and in the dark theme", async () => {
  await renderFlow({ settings: { language: "es", theme: "dark" } });
  await userEvent.click(screen.getByRole("link", { name: "Empezar" }));
  expect(await screen.findByText("Paso 2 de 6")).toBeVisible();
  await expectAccessible();
});

import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import type { CallOptions, NewSecretInput } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { expectAccessible, createPictureFile, renderApp, type FakeVault } from "@relicario/shared/testing";
import { getPresentedPicture } from "@relicario/vault/presented-opener";

import { examinerOf, registerExaminer } from "../picture/examiner.ts";
import { createRecoveryFakeVault } from "../testing/recovery-fake-vault.ts";
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
  const app = await renderApp(<h1>Safeguard</h1>, { vault, path, route: "/safeguard", routes, ...settings });
  return { vault, ...app };
}
const clickButton = async (name: string | RegExp) => userEvent.click(await screen.findByRole("button", { name }));

/** A vault that protects otherwise, and judges pictures as before. */
function withProtect(vault: FakeVault, protect: FakeVault["protect"]): FakeVault {
  const wrapped = { ...vault, protect };
  registerExaminer(wrapped, examinerOf(vault));
  return wrapped;
}
async function choosePicture(text = "garden") {
  await userEvent.upload(await screen.findByLabelText("Picture file"), createPictureFile(text, `${text}.jpg`), {
    applyAccept: false,
  });
  await userEvent.click(await screen.findByRole("checkbox", { name: /Go without a passphrase/ }));
}
async function typeSecret() {
  await userEvent.type(await screen.findByLabelText("Your secret"), "abandon ability");
  await userEvent.type(screen.getByLabelText("Title"), "Wallet");
}

describe("the backup flow", () => {
  it("goes from the welcome to Safeguard, one step a screen, each accessible and numbered", async () => {
    const { vault, location } = await renderFlow();
    expect(screen.getByText("Step 1 of 6")).toBeVisible();
    await userEvent.click(screen.getByRole("link", { name: "Start" }));
    expect(await screen.findByText("Step 2 of 6")).toBeVisible();
    await choosePicture();
    await expectAccessible();
    await clickButton("Save a seed phrase or secret");
    expect(await screen.findByText("Step 3 of 6")).toBeVisible();
    expect(location()).toBe("/provide-secret");
    await typeSecret();
    await userEvent.click(screen.getByRole("checkbox", { name: /I have not protected anything/ }));
    await expectAccessible();
    await clickButton("Protect");
    await waitFor(() => {
      expect(location()).toMatch(/^\/safeguard\?secret=[0-9a-f-]{36}$/);
    });
    const rows = await vault.list();
    expect(rows.map(({ label }) => label?.title)).toEqual(["Wallet"]);
    expect((await vault.listImages()).map(({ name }) => name)).toEqual(["Image 1"]);
  });

  it("says on each step what is missing, and goes no further", async () => {
    const { location } = await renderFlow({ path: "/provide-image" });
    await clickButton("Save a seed phrase or secret");
    expect(location()).toBe("/provide-image");
    expect(screen.getByText(/Choose a picture that is good/)).toBeVisible();
    await choosePicture();
    await userEvent.clear(screen.getByLabelText("Name of the image"));
    await clickButton("Save a seed phrase or secret");
    expect(screen.getByText("Give the image a name.")).toBeVisible();
    await userEvent.type(screen.getByLabelText("Name of the image"), "Garden");
    await clickButton("Save a seed phrase or secret");
    await clickButton("Protect");
    expect(location()).toBe("/provide-secret");
    for (const text of [
      "Type what you want to protect.",
      "Give it a title.",
      "Only you can know this. Tick it if it is true.",
    ])
      expect(screen.getByText(text)).toBeVisible();
    await expectAccessible();
  });

  it("keeps what was chosen and typed on the way back and forth", async () => {
    const { goBack, location } = await renderFlow({ path: "/provide-image" });
    await choosePicture();
    await clickButton("Save a seed phrase or secret");
    await typeSecret();
    await goBack();
    expect(location()).toBe("/provide-image");
    expect(await screen.findByText("garden.jpg")).toBeVisible();
    expect(screen.getByText("This picture is good")).toBeVisible();
    await goBack(-1);
    expect(await screen.findByLabelText("Your secret")).toHaveValue("abandon ability");
    expect(screen.getByLabelText("Title")).toHaveValue("Wallet");
  });

  it("asks before it is left with something in it, and drops it then", async () => {
    const { goTo, record, location } = await renderFlow({ path: "/provide-image", settings: { confirmAnswer: true } });
    await choosePicture();
    await clickButton("Save a seed phrase or secret");
    expect(record.confirms).toEqual([]); // the next step of the flow loses nothing
    await goTo("/elsewhere");
    await waitFor(() => {
      expect(location()).toBe("/elsewhere");
    });
    expect(record.confirms.map(({ title }) => title)).toEqual(["Leave without protecting?"]);
    expect(sessionStorage.getItem("backupFlow")).toBeNull();
    await goTo("/provide-image");
    await screen.findByText("Step 2 of 6");
    expect(screen.queryByText("garden.jpg")).not.toBeInTheDocument();
  });

  it("keeps nothing but the kind over a reload, says so, and begins at the picture", async () => {
    const firstApp = await renderFlow({ path: "/provide-image" });
    await choosePicture("garden");
    await clickButton("Save a seed phrase or secret");
    await userEvent.click(await screen.findByRole("radio", { name: "Seed phrase" }));
    await userEvent.type(screen.getByLabelText("Your seed phrase"), "abandon");
    const savedChoices = sessionStorage.getItem("backupFlow");
    expect(savedChoices).toBe(JSON.stringify({ kind: "seed", image: "new" }));
    firstApp.unmount();
    sessionStorage.setItem("backupFlow", savedChoices ?? ""); // a reload runs no undo

    const { location } = await renderFlow({ path: "/provide-secret" });
    await waitFor(() => {
      expect(location()).toBe("/provide-image");
    });
    expect(await screen.findByText("This page was loaded again")).toBeVisible();
    await choosePicture();
    await clickButton("Save a seed phrase or secret");
    expect(await screen.findByRole("radio", { name: "Seed phrase" })).toBeChecked();
    expect(screen.getByLabelText("Your seed phrase")).toHaveValue("");
  });

  it("puts everything away at a lock, and says so", async () => {
    const { record } = await renderFlow({ path: "/provide-image" });
    await choosePicture();
    await act(async () => {
      for (const listener of [...record.lockListeners]) await listener("lock");
    });
    expect(await screen.findByText("The portal was locked meanwhile")).toBeVisible();
    expect(screen.queryByText("garden.jpg")).not.toBeInTheDocument();
  });

  it("unlocks first where something is kept", async () => {
    await renderFlow({
      path: "/provide-image",
      vault: createRecoveryFakeVault({ secrets: [{ title: "Wallet", content: "x" }], unlocked: false }),
    });
    expect(await screen.findByRole("link", { name: "Unlock with your picture" })).toHaveAttribute(
      "href",
      "/provide-image-recovery?then=%2Fprovide-image",
    );
  });

  it("uses an image again, without asking for a picture", async () => {
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
    const { location } = await renderFlow({ path: "/provide-image", vault: recordingVault });
    await userEvent.click(await screen.findByRole("radio", { name: "Your image “Garden”" }));
    await clickButton("Save a seed phrase or secret");
    await typeSecret();
    await clickButton("Protect");
    await waitFor(() => {
      expect(location()).toMatch(/^\/safeguard/);
    });
    const [image] = await vault.listImages();
    expect(requests[0]?.protection).toEqual({ kind: "openers", openers: [image?.id] });
  });
});

describe("processing", () => {
  /** A vault whose protecting waits. */
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
    await clickButton("Save a seed phrase or secret");
    await typeSecret();
    await userEvent.click(screen.getByRole("checkbox", { name: /I have not protected anything/ }));
    await clickButton("Protect");
    return app;
  }

  it("shows the phases in numbers, and cancels without losing anything", async () => {
    const { pendingVault, protectCalls } = makePendingVault();
    const { location } = await reachProcessing(pendingVault);
    expect(await screen.findByText("Step 4 of 6")).toBeVisible();
    act(() => protectCalls[0]?.options.onProgress?.({ phase: "sealing", done: 1, total: 2 }));
    expect(screen.getByRole("progressbar", { name: "Sealing" })).toHaveAttribute("aria-valuenow", "50");
    expect(screen.getByText("Phase 3 of 4")).toBeVisible();
    await expectAccessible();
    await clickButton("Cancel");
    expect(await screen.findByLabelText("Your secret")).toHaveValue("abandon ability");
    expect(location()).toBe("/provide-secret");
    expect(protectCalls[0]?.options.signal?.aborted).toBe(true);
  });

  it("cancels when it is left by the browser's own button, and forgets the picture that was shown", async () => {
    const { pendingVault, protectCalls } = makePendingVault();
    const { goBack } = await reachProcessing(pendingVault);
    await screen.findByText("Step 4 of 6");
    await goBack();
    await screen.findByLabelText("Your secret");
    const [protectCall] = protectCalls;
    expect(protectCall?.options.signal?.aborted).toBe(true);
    const protection = protectCall?.request.protection;
    if (protection?.kind !== "picture") throw new Error("no picture was shown");
    await waitFor(() => {
      expect(getPresentedPicture(protection.picture)).toBeNull();
    });
  });

  it("says what failed, keeps everything, and tries again", async () => {
    const { pendingVault, protectCalls } = makePendingVault();
    const { location } = await reachProcessing(pendingVault);
    await waitFor(() => {
      expect(protectCalls).toHaveLength(1);
    });
    act(() => protectCalls[0]?.end(new PortalError("service_unavailable")));
    expect(await screen.findByRole("alert")).toHaveTextContent("The service does not answer");
    expect(screen.getByRole("heading", { level: 1, name: "It was not protected" })).toBeVisible();
    await expectAccessible();
    await clickButton("Try again");
    await waitFor(() => {
      expect(protectCalls).toHaveLength(2);
    });
    act(() => protectCalls[1]?.end(null));
    await waitFor(() => {
      expect(location()).toBe("/safeguard?secret=01890a5d-ac96-7000-8000-000000000001");
    });
  });

  it("does not protect a second time when the browser goes back from what follows", async () => {
    const { pendingVault, protectCalls } = makePendingVault();
    const { goBack, location } = await reachProcessing(pendingVault);
    await waitFor(() => {
      expect(protectCalls).toHaveLength(1);
    });
    act(() => protectCalls[0]?.end(null));
    await waitFor(() => {
      expect(location()).toMatch(/^\/safeguard/);
    });
    await goBack();
    await screen.findByText("Step 2 of 6"); // the draft is gone: it begins with a picture
    expect(protectCalls).toHaveLength(1);
    expect(screen.queryByText("This page was loaded again")).not.toBeInTheDocument();
  });

  it("asks for a picture in use where a new one can only follow an old one", async () => {
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
    const { location } = await renderFlow({ path: "/provide-image", vault: strictVault });
    await choosePicture("market");
    await clickButton("Save a seed phrase or secret");
    await typeSecret();
    await clickButton("Protect");
    expect(await screen.findByRole("heading", { name: "First show a picture that you use already" })).toBeVisible();
    await userEvent.upload(screen.getByLabelText("Picture file"), createPictureFile("garden"), { applyAccept: false });
    await clickButton("Show it and continue");
    await waitFor(() => {
      expect(location()).toMatch(/^\/safeguard/);
    });
    expect(vault.calls).toContain("unlock");
  });
});

it("is whole in Spanish and in the dark", async () => {
  await renderFlow({ settings: { language: "es", theme: "dark" } });
  await userEvent.click(screen.getByRole("link", { name: "Empezar" }));
  expect(await screen.findByText("Paso 2 de 6")).toBeVisible();
  await expectAccessible();
});

import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import type { CallOptions, ProtectRequest } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { expectAccessible, picture, renderApp, type FakeVault } from "@relicario/shared/testing";
import { shownPicture } from "@relicario/vault/shown-image";

import { examinerOf, keepExaminer } from "../picture/examiner.ts";
import { createAreaVault } from "../testing/area-vault.ts";
import BackupFlowPage from "./BackupFlowPage.tsx";

const flow = () => Promise.resolve({ default: BackupFlowPage });
const routes = {
  "/welcome-backup": flow,
  "/provide-image": flow,
  "/provide-secret": flow,
  "/processing": flow,
};

beforeEach(() => {
  sessionStorage.clear();
  URL.createObjectURL = jest.fn(() => "blob:test/1"); // jsdom has no object URLs
  URL.revokeObjectURL = jest.fn();
});

async function draw({
  vault = createAreaVault(),
  path = "/welcome-backup",
  settings = {},
}: { vault?: FakeVault; path?: string; settings?: Parameters<typeof renderApp>[1] } = {}) {
  const app = await renderApp(<h1>Safeguard</h1>, { vault, path, route: "/safeguard", routes, ...settings });
  return { vault, ...app };
}
const press = async (name: string | RegExp) => userEvent.click(await screen.findByRole("button", { name }));

/** A vault that protects otherwise, and judges pictures as before. */
function withProtect(vault: FakeVault, protect: FakeVault["protect"]): FakeVault {
  const other = { ...vault, protect };
  keepExaminer(other, examinerOf(vault));
  return other;
}
async function choosePicture(text = "garden") {
  await userEvent.upload(await screen.findByLabelText("Picture file"), picture(text, `${text}.jpg`), {
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
    const { vault, location } = await draw();
    expect(screen.getByText("Step 1 of 6")).toBeVisible();
    await userEvent.click(screen.getByRole("link", { name: "Start" }));
    expect(await screen.findByText("Step 2 of 6")).toBeVisible();
    await choosePicture();
    await expectAccessible();
    await press("Save a seed phrase or secret");
    expect(await screen.findByText("Step 3 of 6")).toBeVisible();
    expect(location()).toBe("/provide-secret");
    await typeSecret();
    await userEvent.click(screen.getByRole("checkbox", { name: /I have not protected anything/ }));
    await expectAccessible();
    await press("Protect");
    await waitFor(() => {
      expect(location()).toMatch(/^\/safeguard\?secret=[0-9a-f-]{36}$/);
    });
    const rows = await vault.list();
    expect(rows.map(({ label }) => label?.title)).toEqual(["Wallet"]);
    expect((await vault.images()).map(({ name }) => name)).toEqual(["Image 1"]);
  });

  it("says on each step what is missing, and goes no further", async () => {
    const { location } = await draw({ path: "/provide-image" });
    await press("Save a seed phrase or secret");
    expect(location()).toBe("/provide-image");
    expect(screen.getByText(/Choose a picture that is good/)).toBeVisible();
    await choosePicture();
    await userEvent.clear(screen.getByLabelText("Name of the image"));
    await press("Save a seed phrase or secret");
    expect(screen.getByText("Give the image a name.")).toBeVisible();
    await userEvent.type(screen.getByLabelText("Name of the image"), "Garden");
    await press("Save a seed phrase or secret");
    await press("Protect");
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
    const { goBack, location } = await draw({ path: "/provide-image" });
    await choosePicture();
    await press("Save a seed phrase or secret");
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
    const { goTo, record, location } = await draw({ path: "/provide-image", settings: { answer: true } });
    await choosePicture();
    await press("Save a seed phrase or secret");
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
    const first = await draw({ path: "/provide-image" });
    await choosePicture("garden");
    await press("Save a seed phrase or secret");
    await userEvent.click(await screen.findByRole("radio", { name: "Seed phrase" }));
    await userEvent.type(screen.getByLabelText("Your seed phrase"), "abandon");
    const kept = sessionStorage.getItem("backupFlow");
    expect(kept).toBe(JSON.stringify({ kind: "seed", image: "new" }));
    first.unmount();
    sessionStorage.setItem("backupFlow", kept ?? ""); // a reload runs no undo

    const { location } = await draw({ path: "/provide-secret" });
    await waitFor(() => {
      expect(location()).toBe("/provide-image");
    });
    expect(await screen.findByText("This page was loaded again")).toBeVisible();
    await choosePicture();
    await press("Save a seed phrase or secret");
    expect(await screen.findByRole("radio", { name: "Seed phrase" })).toBeChecked();
    expect(screen.getByLabelText("Your seed phrase")).toHaveValue("");
  });

  it("puts everything away at a lock, and says so", async () => {
    const { record } = await draw({ path: "/provide-image" });
    await choosePicture();
    await act(async () => {
      for (const listener of [...record.lockListeners]) await listener("lock");
    });
    expect(await screen.findByText("The portal was locked meanwhile")).toBeVisible();
    expect(screen.queryByText("garden.jpg")).not.toBeInTheDocument();
  });

  it("unlocks first where something is kept", async () => {
    await draw({
      path: "/provide-image",
      vault: createAreaVault({ secrets: [{ title: "Wallet", content: "x" }], unlocked: false }),
    });
    expect(await screen.findByRole("link", { name: "Unlock with your picture" })).toHaveAttribute(
      "href",
      "/provide-image-recovery?then=%2Fprovide-image",
    );
  });

  it("uses an image again, without asking for a picture", async () => {
    const vault = createAreaVault({
      images: [{ name: "Garden", picture: "garden" }],
      secrets: [{ title: "Wallet", content: "x" }],
      device: "own",
    });
    const requests: ProtectRequest[] = [];
    const noting = withProtect(vault, (request, options) => {
      requests.push(request);
      return vault.protect(request, options);
    });
    const { location } = await draw({ path: "/provide-image", vault: noting });
    await userEvent.click(await screen.findByRole("radio", { name: "Your image “Garden”" }));
    await press("Save a seed phrase or secret");
    await typeSecret();
    await press("Protect");
    await waitFor(() => {
      expect(location()).toMatch(/^\/safeguard/);
    });
    const [image] = await vault.images();
    expect(requests[0]?.protection).toEqual({ kind: "openers", openers: [image?.id] });
  });
});

describe("processing", () => {
  /** A vault whose protecting waits. */
  function waiting(vault = createAreaVault({ device: "own" })) {
    const runs: { request: ProtectRequest; options: CallOptions; end: (error: PortalError | null) => void }[] = [];
    const slow = withProtect(
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
          runs.push({ request, options, end });
        }),
    );
    return { slow, runs };
  }
  async function reach(vault: FakeVault) {
    const app = await draw({ path: "/provide-image", vault });
    await choosePicture();
    await press("Save a seed phrase or secret");
    await typeSecret();
    await userEvent.click(screen.getByRole("checkbox", { name: /I have not protected anything/ }));
    await press("Protect");
    return app;
  }

  it("shows the phases in numbers, and cancels without losing anything", async () => {
    const { slow, runs } = waiting();
    const { location } = await reach(slow);
    expect(await screen.findByText("Step 4 of 6")).toBeVisible();
    act(() => runs[0]?.options.onProgress?.({ phase: "sealing", done: 1, total: 2 }));
    expect(screen.getByRole("progressbar", { name: "Sealing" })).toHaveAttribute("aria-valuenow", "50");
    expect(screen.getByText("Phase 3 of 4")).toBeVisible();
    await expectAccessible();
    await press("Cancel");
    expect(await screen.findByLabelText("Your secret")).toHaveValue("abandon ability");
    expect(location()).toBe("/provide-secret");
    expect(runs[0]?.options.signal?.aborted).toBe(true);
  });

  it("cancels when it is left by the browser's own button, and forgets the picture that was shown", async () => {
    const { slow, runs } = waiting();
    const { goBack } = await reach(slow);
    await screen.findByText("Step 4 of 6");
    await goBack();
    await screen.findByLabelText("Your secret");
    const [run] = runs;
    expect(run?.options.signal?.aborted).toBe(true);
    const protection = run?.request.protection;
    if (protection?.kind !== "picture") throw new Error("no picture was shown");
    await waitFor(() => {
      expect(shownPicture(protection.shown)).toBeNull();
    });
  });

  it("says what failed, keeps everything, and tries again", async () => {
    const { slow, runs } = waiting();
    const { location } = await reach(slow);
    await waitFor(() => {
      expect(runs).toHaveLength(1);
    });
    act(() => runs[0]?.end(new PortalError("service_unavailable")));
    expect(await screen.findByRole("alert")).toHaveTextContent("The service does not answer");
    expect(screen.getByRole("heading", { level: 1, name: "It was not protected" })).toBeVisible();
    await expectAccessible();
    await press("Try again");
    await waitFor(() => {
      expect(runs).toHaveLength(2);
    });
    act(() => runs[1]?.end(null));
    await waitFor(() => {
      expect(location()).toBe("/safeguard?secret=01890a5d-ac96-7000-8000-000000000001");
    });
  });

  it("does not protect a second time when the browser goes back from what follows", async () => {
    const { slow, runs } = waiting();
    const { goBack, location } = await reach(slow);
    await waitFor(() => {
      expect(runs).toHaveLength(1);
    });
    act(() => runs[0]?.end(null));
    await waitFor(() => {
      expect(location()).toMatch(/^\/safeguard/);
    });
    await goBack();
    await screen.findByText("Step 2 of 6"); // the draft is gone: it begins with a picture
    expect(runs).toHaveLength(1);
    expect(screen.queryByText("This page was loaded again")).not.toBeInTheDocument();
  });

  it("asks for a picture in use where a new one can only follow an old one", async () => {
    const vault = createAreaVault({
      images: [{ name: "Garden", picture: "garden" }],
      secrets: [{ title: "Wallet", content: "x" }],
      device: "own",
    });
    let refused = false;
    const strict = withProtect(vault, (request, options) => {
      if (refused) return vault.protect(request, options);
      refused = true;
      return Promise.reject(new PortalError("show_opener_first"));
    });
    const { location } = await draw({ path: "/provide-image", vault: strict });
    await choosePicture("market");
    await press("Save a seed phrase or secret");
    await typeSecret();
    await press("Protect");
    expect(await screen.findByRole("heading", { name: "First show a picture that you use already" })).toBeVisible();
    await userEvent.upload(screen.getByLabelText("Picture file"), picture("garden"), { applyAccept: false });
    await press("Show it and go on");
    await waitFor(() => {
      expect(location()).toMatch(/^\/safeguard/);
    });
    expect(vault.calls).toContain("unlock");
  });
});

it("is whole in Spanish and in the dark", async () => {
  await draw({ settings: { language: "es", theme: "dark" } });
  await userEvent.click(screen.getByRole("link", { name: "Empezar" }));
  expect(await screen.findByText("Paso 2 de 6")).toBeVisible();
  await expectAccessible();
});

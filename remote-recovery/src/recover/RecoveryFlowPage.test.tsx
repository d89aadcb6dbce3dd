import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import type { CallOptions } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import {
  expectAccessible,
  createPictureFile,
  renderApp,
  type FakeVault,
  type FakeVaultSettings,
} from "@relicario/shared/testing";

import { registerVaultElement, getVaultElement } from "../elements/vault-elements.tsx";
import { createRecoveryFakeVault } from "../testing/recovery-fake-vault.tsx";
import { clearOpenedSecret } from "./opened-secret.ts";
import RecoveryFlowPage from "./RecoveryFlowPage.tsx";

const lockedVaultSettings: FakeVaultSettings = {
  images: [
    { name: "Garden", picture: "garden" },
    { name: "Market", picture: "market", passphrase: "four words" },
  ],
  secrets: [{ title: "Wallet", content: "abandon ability" }],
  unlocked: false,
};
const route = "/provide-image-recovery";
function Flow() {
  return (
    <main>
      <RecoveryFlowPage />
    </main>
  );
}
const loadFlow = () => Promise.resolve({ default: Flow });
const routes = { [route]: loadFlow, "/processing-recovery": loadFlow };

async function renderFlow({
  vault = createRecoveryFakeVault(lockedVaultSettings),
  query = "",
  settings = {},
}: { vault?: FakeVault; query?: string; settings?: Parameters<typeof renderApp>[1] } = {}) {
  const app = await renderApp(null, {
    vault,
    path: `${route}${query}`,
    routePattern: "/elsewhere",
    routes,
    ...settings,
  });
  return { vault, ...app };
}
async function secretQuery(vault: FakeVault) {
  const [row] = await vault.list();
  return `?secret=${row?.secretId ?? ""}`;
}
const uploadPicture = async (file: File) =>
  userEvent.upload(await screen.findByLabelText("Picture file"), file, { applyAccept: false });

beforeEach(() => {
  URL.createObjectURL = jest.fn(() => "blob:test/1");
  URL.revokeObjectURL = jest.fn();
});
afterEach(() => {
  act(clearOpenedSecret);
});

it.each([
  ["?secret=01890a5d-ac96-7000-8000-000000000001", "Open your secret", "Open"],
  ["?check=01890a5d-ac96-7000-8000-000000000001", "Check your copy", "Check this copy"],
])("names the purpose of %s", async (query, heading, action) => {
  await renderFlow({ query });
  expect(await screen.findByRole("heading", { level: 1, name: heading })).toBeVisible();
  expect(screen.getByRole("button", { name: action })).toBeVisible();
});

describe("unlocking", () => {
  it("asks once whose device this is, with two equal buttons, and continues", async () => {
    const { vault, getLocation } = await renderFlow({ query: "?then=%2Fadd-secret" });
    expect(await screen.findByRole("heading", { level: 1, name: "Unlock your secrets" })).toBeVisible();
    await expectAccessible();
    await uploadPicture(createPictureFile("garden"));
    await userEvent.click(screen.getByRole("button", { name: "Unlock" }));
    const [ownButton, sharedButton] = [
      await screen.findByRole("button", { name: "My own device" }),
      screen.getByRole("button", { name: "A shared device" }),
    ];
    expect(ownButton.className).toBe(sharedButton.className);
    await expectAccessible();
    await userEvent.click(sharedButton);
    await waitFor(() => {
      expect(getLocation()).toBe("/add-secret");
    });
    expect(vault.getState()).toEqual({ status: "unlocked", device: "shared" });
  });

  it.each<[string, unknown, string[]]>([
    [
      "refuses",
      { persist: () => Promise.resolve(false) },
      [
        "This browser may clear what it stores here when space runs low. Your secrets are safe; you would only need your picture again.",
      ],
    ],
    [
      "cannot be asked",
      undefined,
      [
        "This browser may clear what it stores here when space runs low. Your secrets are safe; you would only need your picture again.",
      ],
    ],
    ["promises", { persist: () => Promise.resolve(true) }, []],
  ])("warns on an own device unless storage is persistent: the browser %s", async (_case, storage, texts) => {
    Object.defineProperty(navigator, "storage", { configurable: true, value: storage });
    const { record, getLocation } = await renderFlow();
    await uploadPicture(createPictureFile("garden"));
    await userEvent.click(screen.getByRole("button", { name: "Unlock" }));
    await userEvent.click(await screen.findByRole("button", { name: "My own device" }));
    await waitFor(() => {
      expect(getLocation()).toBe("/home");
    });
    expect(record.notices.map(({ text }) => text)).toEqual(texts);
    Reflect.deleteProperty(navigator, "storage");
  });

  it("does not ask again on a known device", async () => {
    const { getLocation } = await renderFlow({
      vault: createRecoveryFakeVault({ ...lockedVaultSettings, device: "own" }),
    });
    await uploadPicture(createPictureFile("garden"));
    await userEvent.click(screen.getByRole("button", { name: "Unlock" }));
    await waitFor(() => {
      expect(getLocation()).toBe("/home");
    });
  });

  it("never navigates to another site", async () => {
    const { getLocation } = await renderFlow({
      vault: createRecoveryFakeVault({ ...lockedVaultSettings, device: "own" }),
      query: "?then=%2F%2Felsewhere.example",
    });
    await uploadPicture(createPictureFile("garden"));
    await userEvent.click(screen.getByRole("button", { name: "Unlock" }));
    await waitFor(() => {
      expect(getLocation()).toBe("/home");
    });
  });

  it("requires a picture", async () => {
    const { vault } = await renderFlow();
    await userEvent.click(await screen.findByRole("button", { name: "Unlock" }));
    expect(screen.getByRole("alert")).toHaveTextContent("Choose a picture, a recovery code or a passkey first.");
    expect(vault.calls).not.toContain("unlock");
  });
});

describe("recovering", () => {
  it("opens the secret with its picture", async () => {
    const vault = createRecoveryFakeVault({ ...lockedVaultSettings, device: "own" });
    const { getLocation } = await renderFlow({ vault, query: await secretQuery(vault) });
    expect(screen.getByRole("list", { name: "Steps to recover a secret" })).toBeVisible();
    await uploadPicture(createPictureFile("garden"));
    await userEvent.click(screen.getByRole("button", { name: "Open" }));
    await waitFor(() => {
      expect(getLocation()).toBe("/congrats-recover");
    });
  });

  it("rejects a wrong picture, and accepts the next one", async () => {
    const vault = createRecoveryFakeVault({
      ...lockedVaultSettings,
      images: [{ name: "Garden", picture: "garden" }],
      device: "own",
    });
    const { getLocation } = await renderFlow({ vault, query: await secretQuery(vault) });
    await uploadPicture(createPictureFile("beach"));
    await userEvent.click(screen.getByRole("button", { name: "Open" }));
    const alert = await screen.findByRole("alert");
    expect(alert).toHaveTextContent("This picture does not open it");
    expect(alert).toHaveTextContent("These copies work");
    expect(alert).toHaveTextContent("another photo of the same scene");
    await expectAccessible();
    await uploadPicture(createPictureFile("garden"));
    await userEvent.click(screen.getByRole("button", { name: "Open" }));
    await waitFor(() => {
      expect(getLocation()).toBe("/congrats-recover");
    });
  });

  it("keeps the drawn frame during a search and after one without a result", async () => {
    const fakeVault = createRecoveryFakeVault({
      ...lockedVaultSettings,
      images: [{ name: "Garden", picture: "garden" }],
      device: "own",
    });
    const hints: unknown[] = [];
    const pendingSearches: (() => void)[] = [];
    const vault: FakeVault = {
      ...fakeVault,
      openSecret: async (secretId, openerHandle, options) => {
        const presented = openerHandle === null ? null : fakeVault.getPresented(openerHandle);
        const hint = presented !== null && "picture" in presented ? presented.hint : null;
        hints.push(hint);
        if (hint !== undefined) await new Promise<void>((resolve) => pendingSearches.push(resolve));
        return fakeVault.openSecret(secretId, openerHandle, options);
      },
    };
    registerVaultElement(vault, getVaultElement(fakeVault));
    await renderFlow({ vault, query: await secretQuery(fakeVault) });
    await uploadPicture(createPictureFile("screen"));
    await userEvent.click(screen.getByRole("button", { name: "Open" }));
    const left = await screen.findByRole("slider", { name: "Left side of the frame" });
    left.focus();
    await userEvent.keyboard("{Shift>}{ArrowRight}{/Shift}");
    await userEvent.click(screen.getByRole("button", { name: "Search in the frame" }));
    await waitFor(() => {
      expect(hints).toHaveLength(2);
    });
    expect(hints).toEqual([undefined, { kind: "frame", left: 0.05, right: 1, top: 0, bottom: 1 }]);
    await waitFor(() => {
      expect(pendingSearches).toHaveLength(1);
    });
    expect(screen.getByRole("progressbar")).toBeVisible();
    act(() => pendingSearches[0]?.());
    expect(await screen.findByRole("alert")).toHaveTextContent("This picture does not open it");
    expect(await screen.findByRole("slider", { name: "Left side of the frame" })).toHaveAttribute("aria-valuenow", "5");
  });

  it("does not reveal whether picture or passphrase was wrong, and keeps both inputs", async () => {
    const vault = createRecoveryFakeVault({ ...lockedVaultSettings, device: "own" });
    const { getLocation } = await renderFlow({ vault, query: await secretQuery(vault) });
    await uploadPicture(createPictureFile("market", "market.jpg"));
    await userEvent.type(screen.getByLabelText("Passphrase, if the picture has one"), "four word");
    await userEvent.click(screen.getByRole("button", { name: "Open" }));
    expect(await screen.findByRole("alert")).toHaveTextContent("Wrong picture or wrong passphrase");
    expect(screen.getByText("market.jpg")).toBeVisible();
    await userEvent.type(screen.getByLabelText("Passphrase, if the picture has one"), "s");
    await userEvent.click(screen.getByRole("button", { name: "Open" }));
    await waitFor(() => {
      expect(getLocation()).toBe("/congrats-recover");
    });
  });

  it.each([
    ["service_unavailable", "The service is not responding"],
    ["plain_helper_refused", "this picture has none"],
    ["decryption_failed", "could not be opened"],
    ["picture_unreadable", "can't be read as a picture"],
  ] as const)("shows the failure %s, and keeps the picture", async (code, text) => {
    const vault = createRecoveryFakeVault(lockedVaultSettings);
    vault.failWith("openSecret", code);
    await renderFlow({ vault, query: await secretQuery(vault) });
    await uploadPicture(createPictureFile("garden", "garden.jpg"));
    await userEvent.click(screen.getByRole("button", { name: "Open" }));
    expect(await screen.findByRole("alert")).toHaveTextContent(text);
    expect(screen.getByText("garden.jpg")).toBeVisible();
  });

  it("shows progress, and can be cancelled", async () => {
    const fakeVault = createRecoveryFakeVault(lockedVaultSettings);
    const recoverOptions: CallOptions[] = [];
    const vault: FakeVault = {
      ...fakeVault,
      openSecret: (_secretId, _openerHandle, options) =>
        new Promise((_resolve, reject) => {
          if (options !== undefined) recoverOptions.push(options);
          options?.signal?.addEventListener("abort", () => {
            reject(new PortalError("cancelled"));
          });
        }),
    };
    registerVaultElement(vault, getVaultElement(fakeVault));
    await renderFlow({ vault, query: await secretQuery(fakeVault) });
    await uploadPicture(createPictureFile("garden", "garden.jpg"));
    await userEvent.click(screen.getByRole("button", { name: "Open" }));
    await waitFor(() => {
      expect(recoverOptions).toHaveLength(1);
    });
    expect(screen.getByRole("progressbar", { name: "Getting ready" })).toBeInTheDocument();
    expect(screen.queryByText(/^Part /)).not.toBeInTheDocument();
    act(() => recoverOptions[0]?.onProgress?.({ phase: "picture", done: 3, total: 4 }));
    expect(screen.getByRole("progressbar", { name: "Reading your picture" })).toHaveAttribute("aria-valuenow", "75");
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
    expect(recoverOptions[0]?.signal?.aborted).toBe(true);
    expect(await screen.findByText("garden.jpg")).toBeVisible();
    expect(screen.queryByRole("progressbar")).not.toBeInTheDocument();
    expect(screen.queryByRole("alert")).not.toBeInTheDocument();
  });

  it("renders in Spanish and in the dark theme", async () => {
    const vault = createRecoveryFakeVault(lockedVaultSettings);
    await renderFlow({ vault, query: await secretQuery(vault), settings: { language: "es", theme: "dark" } });
    expect(await screen.findByRole("button", { name: "Abrir" })).toBeVisible();
    await expectAccessible();
  });
});

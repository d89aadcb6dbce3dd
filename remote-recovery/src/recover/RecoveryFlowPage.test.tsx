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
import { requirePresentedPicture } from "@relicario/vault/presented-opener";

import { createRecoveryFakeVault } from "../testing/recovery-fake-vault.ts";
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
  const app = await renderApp(null, { vault, path: `${route}${query}`, route: "/elsewhere", routes, ...settings });
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
  ["?secret=01890a5d-ac96-7000-8000-000000000001", "Recover your secret", "Recover"],
  ["?check=01890a5d-ac96-7000-8000-000000000001", "Try your copy", "Try it"],
])("says what %s is for", async (query, heading, action) => {
  await renderFlow({ query });
  expect(await screen.findByRole("heading", { level: 1, name: heading })).toBeVisible();
  expect(screen.getByRole("button", { name: action })).toBeVisible();
});

describe("unlocking", () => {
  it("asks once whose device it is, with two equal answers, and goes on", async () => {
    const { vault, location } = await renderFlow({ query: "?then=%2Fadd-secret" });
    expect(await screen.findByRole("heading", { level: 1, name: "Unlock with your picture" })).toBeVisible();
    await expectAccessible();
    await uploadPicture(createPictureFile("garden"));
    await userEvent.click(screen.getByRole("button", { name: "Unlock" }));
    const [ownButton, sharedButton] = [
      await screen.findByRole("button", { name: "My own device" }),
      screen.getByRole("button", { name: "A shared computer" }),
    ];
    expect(ownButton.className).toBe(sharedButton.className);
    await expectAccessible();
    await userEvent.click(sharedButton);
    await waitFor(() => {
      expect(location()).toBe("/add-secret");
    });
    expect(vault.getState()).toEqual({ status: "unlocked", device: "shared" });
  });

  it.each<[string, unknown, string[]]>([
    [
      "refuses",
      { persist: () => Promise.resolve(false) },
      [
        "This browser may clear what is kept on this device when it runs short of space. Your secrets stay; you then unlock with your picture.",
      ],
    ],
    [
      "cannot be asked",
      undefined,
      [
        "This browser may clear what is kept on this device when it runs short of space. Your secrets stay; you then unlock with your picture.",
      ],
    ],
    ["promises", { persist: () => Promise.resolve(true) }, []],
  ])(
    "says on an own device that the browser may clear it, where the browser %s to keep it",
    async (_case, storage, texts) => {
      Object.defineProperty(navigator, "storage", { configurable: true, value: storage });
      const { record, location } = await renderFlow();
      await uploadPicture(createPictureFile("garden"));
      await userEvent.click(screen.getByRole("button", { name: "Unlock" }));
      await userEvent.click(await screen.findByRole("button", { name: "My own device" }));
      await waitFor(() => {
        expect(location()).toBe("/home");
      });
      expect(record.notices.map(({ text }) => text)).toEqual(texts);
      Reflect.deleteProperty(navigator, "storage");
    },
  );

  it("does not ask again on a device that has an answer", async () => {
    const { location } = await renderFlow({
      vault: createRecoveryFakeVault({ ...lockedVaultSettings, device: "own" }),
    });
    await uploadPicture(createPictureFile("garden"));
    await userEvent.click(screen.getByRole("button", { name: "Unlock" }));
    await waitFor(() => {
      expect(location()).toBe("/home");
    });
  });

  it("never goes to another site", async () => {
    const { location } = await renderFlow({
      vault: createRecoveryFakeVault({ ...lockedVaultSettings, device: "own" }),
      query: "?then=%2F%2Felsewhere.example",
    });
    await uploadPicture(createPictureFile("garden"));
    await userEvent.click(screen.getByRole("button", { name: "Unlock" }));
    await waitFor(() => {
      expect(location()).toBe("/home");
    });
  });

  it("asks for a picture before anything else", async () => {
    const { vault } = await renderFlow();
    await userEvent.click(await screen.findByRole("button", { name: "Unlock" }));
    expect(screen.getByRole("alert")).toHaveTextContent("Choose a picture first.");
    expect(vault.calls).not.toContain("unlock");
  });
});

describe("recovering", () => {
  it("opens the secret with its picture", async () => {
    const vault = createRecoveryFakeVault({ ...lockedVaultSettings, device: "own" });
    const { location } = await renderFlow({ vault, query: await secretQuery(vault) });
    expect(screen.getByRole("list", { name: "Steps of the recovery" })).toBeVisible();
    await uploadPicture(createPictureFile("garden"));
    await userEvent.click(screen.getByRole("button", { name: "Recover" }));
    await waitFor(() => {
      expect(location()).toBe("/congrats-recover");
    });
  });

  it("says kindly that it is not this picture, and lets the next one be tried", async () => {
    const vault = createRecoveryFakeVault({
      ...lockedVaultSettings,
      images: [{ name: "Garden", picture: "garden" }],
      device: "own",
    });
    const { location } = await renderFlow({ vault, query: await secretQuery(vault) });
    await uploadPicture(createPictureFile("beach"));
    await userEvent.click(screen.getByRole("button", { name: "Recover" }));
    const alert = await screen.findByRole("alert");
    expect(alert).toHaveTextContent("This picture does not open it");
    expect(alert).toHaveTextContent("These copies work");
    expect(alert).toHaveTextContent("another shot of the same scene");
    await expectAccessible();
    await uploadPicture(createPictureFile("garden"));
    await userEvent.click(screen.getByRole("button", { name: "Recover" }));
    await waitFor(() => {
      expect(location()).toBe("/congrats-recover");
    });
  });

  it("keeps the frame that was drawn while it searches there, and when it finds nothing", async () => {
    const fake = createRecoveryFakeVault({
      ...lockedVaultSettings,
      images: [{ name: "Garden", picture: "garden" }],
      device: "own",
    });
    const hints: unknown[] = [];
    const releases: (() => void)[] = [];
    const vault: FakeVault = {
      ...fake,
      openSecret: async (secretId, openerHandle, options) => {
        const { hint } = requirePresentedPicture(openerHandle);
        hints.push(hint);
        if (hint !== undefined) await new Promise<void>((resolve) => releases.push(resolve));
        return fake.openSecret(secretId, openerHandle, options);
      },
    };
    await renderFlow({ vault, query: await secretQuery(fake) });
    await uploadPicture(createPictureFile("screen"));
    await userEvent.click(screen.getByRole("button", { name: "Recover" }));
    const left = await screen.findByRole("slider", { name: "Left side of the frame" });
    left.focus();
    await userEvent.keyboard("{Shift>}{ArrowRight}{/Shift}");
    await userEvent.click(screen.getByRole("button", { name: "Search in this frame" }));
    await waitFor(() => {
      expect(hints).toHaveLength(2);
    });
    expect(hints).toEqual([undefined, { kind: "frame", left: 0.05, right: 1, top: 0, bottom: 1 }]);
    await waitFor(() => {
      expect(releases).toHaveLength(1);
    });
    expect(screen.getByRole("progressbar")).toBeVisible();
    act(() => releases[0]?.());
    expect(await screen.findByRole("alert")).toHaveTextContent("This picture does not open it");
    expect(await screen.findByRole("slider", { name: "Left side of the frame" })).toHaveAttribute("aria-valuenow", "5");
  });

  it("does not say whether picture or passphrase was wrong, and keeps both", async () => {
    const vault = createRecoveryFakeVault({ ...lockedVaultSettings, device: "own" });
    const { location } = await renderFlow({ vault, query: await secretQuery(vault) });
    await uploadPicture(createPictureFile("market", "market.jpg"));
    await userEvent.type(screen.getByLabelText("Passphrase, if the picture has one"), "four word");
    await userEvent.click(screen.getByRole("button", { name: "Recover" }));
    expect(await screen.findByRole("alert")).toHaveTextContent("Not this picture, or not this passphrase");
    expect(screen.getByText("market.jpg")).toBeVisible();
    await userEvent.type(screen.getByLabelText("Passphrase, if the picture has one"), "s");
    await userEvent.click(screen.getByRole("button", { name: "Recover" }));
    await waitFor(() => {
      expect(location()).toBe("/congrats-recover");
    });
  });

  it.each([
    ["service_unavailable", "The service does not answer"],
    ["plain_helper_refused", "without its passphrase"],
    ["decryption_failed", "could not be opened"],
    ["picture_unreadable", "cannot be read as a picture"],
  ] as const)("says what failed (%s), and keeps the picture", async (code, text) => {
    const vault = createRecoveryFakeVault(lockedVaultSettings);
    vault.failWith("openSecret", code);
    await renderFlow({ vault, query: await secretQuery(vault) });
    await uploadPicture(createPictureFile("garden", "garden.jpg"));
    await userEvent.click(screen.getByRole("button", { name: "Recover" }));
    expect(await screen.findByRole("alert")).toHaveTextContent(text);
    expect(screen.getByText("garden.jpg")).toBeVisible();
  });

  it("shows what is being done, and can be cancelled", async () => {
    const fake = createRecoveryFakeVault(lockedVaultSettings);
    const recoverOptions: CallOptions[] = [];
    const vault: FakeVault = {
      ...fake,
      openSecret: (_secretId, _shown, options) =>
        new Promise((_resolve, reject) => {
          if (options !== undefined) recoverOptions.push(options);
          options?.signal?.addEventListener("abort", () => {
            reject(new PortalError("cancelled"));
          });
        }),
    };
    await renderFlow({ vault, query: await secretQuery(fake) });
    await uploadPicture(createPictureFile("garden", "garden.jpg"));
    await userEvent.click(screen.getByRole("button", { name: "Recover" }));
    await waitFor(() => {
      expect(recoverOptions).toHaveLength(1);
    });
    act(() => recoverOptions[0]?.onProgress?.({ phase: "picture", done: 3, total: 4 }));
    expect(screen.getByRole("progressbar", { name: "Reading your picture" })).toHaveAttribute("aria-valuenow", "75");
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
    expect(recoverOptions[0]?.signal?.aborted).toBe(true);
    expect(await screen.findByText("garden.jpg")).toBeVisible();
    expect(screen.queryByRole("progressbar")).not.toBeInTheDocument();
    expect(screen.queryByRole("alert")).not.toBeInTheDocument();
  });

  it("is whole in Spanish and in the dark", async () => {
    const vault = createRecoveryFakeVault(lockedVaultSettings);
    await renderFlow({ vault, query: await secretQuery(vault), settings: { language: "es", theme: "dark" } });
    expect(await screen.findByRole("button", { name: "Recuperar" })).toBeVisible();
    await expectAccessible();
  });
});

import { expectAccessible, createPictureFile, renderApp, wholeText } from "@relicario/shared/testing";
import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { mockCamera, mockWindows, removeCamera } from "../testing/fake-camera.ts";
import { createRecoveryFakeVault, type RecoveryFakeVaultSettings } from "../testing/recovery-fake-vault.tsx";
import AnotherDevicePage from "./AnotherDevicePage.tsx";
import NewDevicePage from "./NewDevicePage.tsx";

const fakeDevice: { passkey: "made" | "passkey_without_prf" | "cancelled"; passkeyCount: number } = {
  passkey: "made",
  passkeyCount: 0,
};
jest.mock("@relicario/vault/passkey", () => {
  const { PortalError } = jest.requireActual<typeof import("@relicario/shared/errors")>("@relicario/shared/errors");
  const makeFakePasskey = () => {
    if (fakeDevice.passkey !== "made") return Promise.reject(new PortalError(fakeDevice.passkey));
    fakeDevice.passkeyCount++;
    return Promise.resolve(new Uint8Array(32).fill(7));
  };
  return { createPasskey: jest.fn(makeFakePasskey), requestPasskey: jest.fn(makeFakePasskey) };
});

const code = "abandon ability able about above absent absorb abstract absurd abuse access accident";
const spanishCode = "ábaco abdomen abeja abierto abogado abono aborto abrazo abrir abuelo abuso acabar";
const defaultSettings: RecoveryFakeVaultSettings = {
  secrets: [
    { title: "Cold wallet", content: "abandon" },
    { title: "Deed", content: "house" },
  ],
  images: [{ name: "Garden", picture: "garden" }],
};
interface RenderOptions {
  language?: "en" | "es";
  theme?: "light" | "dark";
}

async function renderNewDevice(settings: RecoveryFakeVaultSettings = {}, options: RenderOptions = {}) {
  const fakeVault = createRecoveryFakeVault({ ...defaultSettings, unlocked: false, device: "own", ...settings });
  return {
    fakeVault,
    ...(await renderApp(
      <main>
        <NewDevicePage />
      </main>,
      { vault: fakeVault, path: "/new-device?then=%2Fsecrets", routePattern: "/new-device", ...options },
    )),
  };
}

async function renderAdmittingDevice(settings: RecoveryFakeVaultSettings = {}, options: RenderOptions = {}) {
  const fakeVault = createRecoveryFakeVault({
    ...defaultSettings,
    requestingDevice: { code, name: "New laptop" },
    ...settings,
  });
  return {
    fakeVault,
    ...(await renderApp(
      <main>
        <AnotherDevicePage />
      </main>,
      { vault: fakeVault, path: "/another-device", routePattern: "/another-device", ...options },
    )),
  };
}

const startOffer = async () => {
  await userEvent.click(await screen.findByRole("button", { name: "Make the passkey" }));
  await userEvent.click(await screen.findByRole("button", { name: "Show the code" }));
};
const typeCode = async (words: string) => {
  const field = screen.getByRole("textbox", { name: "The 12 words" });
  await userEvent.clear(field);
  await userEvent.click(field);
  await userEvent.paste(words);
  await userEvent.click(screen.getByRole("button", { name: "Continue" }));
};
const enterCode = async (words = code) => {
  await userEvent.click(await screen.findByRole("button", { name: "The device is in my hands" }));
  await typeCode(words);
};

beforeEach(() => {
  fakeDevice.passkey = "made";
  fakeDevice.passkeyCount = 0;
  URL.createObjectURL = jest.fn(() => "blob:test/1");
  URL.revokeObjectURL = jest.fn();
});

afterEach(() => {
  removeCamera();
  jest.restoreAllMocks();
});

describe("the new device's page", () => {
  it.each([
    ["en", "light"],
    ["es", "dark"],
  ] as const)(
    "creates a passkey and shows the device's code as words and QR code, in %s and %s",
    async (language, theme) => {
      const { fakeVault } = await renderNewDevice({}, { language, theme });
      await screen.findByRole("textbox");
      await expectAccessible();
      await userEvent.click(
        screen.getByRole("button", { name: language === "en" ? "Make the passkey" : "Crear la llave de acceso" }),
      );
      await userEvent.click(
        await screen.findByRole("button", { name: language === "en" ? "Show the code" : "Mostrar el código" }),
      );
      expect(
        await screen.findByRole("img", {
          name: language === "en" ? "The 12 words as a QR code" : "Las 12 palabras como código QR",
        }),
      ).toBeVisible();
      const shownWords = screen.getByRole("list", { name: language === "en" ? "The 12 words" : "Las 12 palabras" });
      const shownCode = language === "en" ? code : spanishCode;
      await within(shownWords).findByText("12");
      expect(
        within(shownWords)
          .getAllByRole("listitem")
          .map((item) => item.textContent),
      ).toEqual(shownCode.split(" ").map((word, index) => `${word} ${String(index + 1)}`));
      expect(screen.getByRole("timer")).toHaveTextContent(/[45]:\d\d/);
      expect(fakeVault.calls.filter((call) => call.startsWith("deviceLinks"))).toEqual([
        "deviceLinks.offer",
        "deviceLinks.join",
      ]);
      await expectAccessible();
    },
  );

  it("continues to the next path once the other device has responded", async () => {
    const { fakeVault, getLocation } = await renderNewDevice();
    await startOffer();
    await screen.findByText("Waiting for the other device");
    act(() => {
      fakeVault.approveElsewhere();
    });
    await waitFor(() => {
      expect(getLocation()).toBe("/secrets");
    });
    expect(fakeVault.getState()).toEqual({ status: "unlocked", device: "own" });
  });

  it("asks whose device this is before continuing", async () => {
    const { fakeVault, getLocation } = await renderNewDevice({ device: null });
    await startOffer();
    await screen.findByText("Waiting for the other device");
    act(() => {
      fakeVault.approveElsewhere();
    });
    await userEvent.click(await screen.findByRole("button", { name: "My own device" }));
    await waitFor(() => {
      expect(getLocation()).toBe("/secrets");
    });
  });

  it("renews an expired code for the same passkey, or unlocks if the other device had finished", async () => {
    const { fakeVault } = await renderNewDevice();
    fakeVault.failWith("deviceLinks.join", "device_link_expired");
    await startOffer();
    expect(await screen.findByText(/No device answered in time/)).toBeVisible();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Unlock now" }));
    expect(await screen.findByText(/This passkey opens nothing in this account/)).toBeVisible();
    fakeVault.failWith("deviceLinks.join", null);
    await userEvent.click(screen.getByRole("button", { name: "Show a new code" }));
    expect(await screen.findByText("Waiting for the other device")).toBeVisible();
    expect(fakeVault.calls.filter((call) => call === "deviceLinks.offer")).toHaveLength(2);
    expect(fakeDevice.passkeyCount).toBe(1);
  });

  it("stays locked and can retry when the service shows the two devices different histories", async () => {
    const { fakeVault } = await renderNewDevice();
    fakeVault.failWith("deviceLinks.join", "histories_differ");
    await startOffer();
    expect(await screen.findByText(/shows this device something different from the other one/)).toBeVisible();
    expect(fakeVault.getState().status).toBe("locked");
    await expectAccessible();
    fakeVault.failWith("deviceLinks.join", null);
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByText("Waiting for the other device")).toBeVisible();
  });

  it("can be cancelled, and keeps the passkey and the name for the next code", async () => {
    await renderNewDevice();
    const name = await screen.findByRole("textbox", { name: "Name of this device" });
    await userEvent.clear(name);
    await userEvent.type(name, "Kitchen");
    await startOffer();
    await userEvent.click(await screen.findByRole("button", { name: "Cancel" }));
    expect(screen.getByRole("textbox", { name: "Name of this device" })).toHaveValue("Kitchen");
    await userEvent.click(screen.getByRole("button", { name: "Show the code" }));
    await screen.findByText("Waiting for the other device");
    expect(fakeDevice.passkeyCount).toBe(1);
  });

  it("suggests the picture if passkeys lack PRF, and does not call the service", async () => {
    fakeDevice.passkey = "passkey_without_prf";
    const { fakeVault } = await renderNewDevice();
    await userEvent.click(await screen.findByRole("button", { name: "Make the passkey" }));
    expect(await screen.findByText(/Bring a copy of the picture to this device/)).toBeVisible();
    expect(screen.getByRole("link", { name: "Unlock with a picture" })).toHaveAttribute(
      "href",
      "/provide-image-recovery?then=%2Fsecrets",
    );
    expect(fakeVault.calls.filter((call) => call.startsWith("deviceLinks"))).toEqual([]);
    await expectAccessible();
  });

  it("says that nothing was changed if the passkey was declined or the service is unreachable", async () => {
    fakeDevice.passkey = "cancelled";
    const { fakeVault } = await renderNewDevice();
    await userEvent.click(await screen.findByRole("button", { name: "Make the passkey" }));
    expect(await screen.findByText(/No passkey was made/)).toBeVisible();
    fakeDevice.passkey = "made";
    fakeVault.failWith("deviceLinks.offer", "offline");
    await startOffer();
    expect(await screen.findByRole("alert")).toBeVisible();
    fakeVault.failWith("deviceLinks.offer", null);
    await userEvent.click(screen.getByRole("button", { name: "Show the code" }));
    expect(await screen.findByText("Waiting for the other device")).toBeVisible();
    expect(fakeDevice.passkeyCount).toBe(1);
  });

  it("asks for no other device if this one is unlocked", async () => {
    await renderNewDevice({ unlocked: true });
    expect(await screen.findByText("This device is unlocked")).toBeVisible();
    expect(screen.getByRole("link", { name: "Continue" })).toHaveAttribute("href", "/secrets");
  });
});

describe("the admitting device's page", () => {
  it("scans the code with the camera's window, and takes the text of no other QR code", async () => {
    mockCamera(() => new Promise(() => undefined));
    const windows = mockWindows();
    await renderAdmittingDevice();
    await userEvent.click(await screen.findByRole("button", { name: "The device is in my hands" }));
    const scan = async (text: string): Promise<void> => {
      await userEvent.click(screen.getByRole("button", { name: "Scan its QR code" }));
      act(() => {
        void windows.at(-1)?.document.call("elementPage", ["done"], [text]);
      });
    };
    await scan(`AGE-SECRET-KEY-PQ-1${"Q".repeat(58)}`);
    expect(screen.getByRole("alert")).toHaveTextContent("This is not the code of a new device.");
    expect(screen.getByRole("textbox", { name: "The 12 words" })).toHaveValue("");
    await expectAccessible();
    await scan(code);
    expect(screen.getByRole("textbox", { name: "The 12 words" })).toHaveValue(code);
    expect(screen.queryByRole("alert")).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Scan its QR code" }));
    Object.assign(windows.at(-1) ?? {}, { closed: true });
    expect(await screen.findByRole("alert")).toHaveTextContent("was closed before it read a code");
  });

  it.each([
    ["en", "light"],
    ["es", "dark"],
  ] as const)("warns before it asks for a code, in %s and %s", async (language, theme) => {
    await renderAdmittingDevice({}, { language, theme });
    const warning =
      language === "en"
        ? "The person who shows the code will be able to open everything"
        : "Quien muestre el código podrá abrirlo todo";
    expect(await screen.findByRole("heading", { name: warning })).toBeVisible();
    expect(screen.queryByRole("textbox")).toBeNull();
    await expectAccessible();
  });

  it("accepts the code, shows the new device and what it will open, and admits it with an opener", async () => {
    const { fakeVault } = await renderAdmittingDevice();
    await enterCode(` ${code.toUpperCase()} `);
    expect(await screen.findByRole("region", { name: "“New laptop” wants to open your secrets" })).toBeVisible();
    expect(screen.getByText("It will open 2 secrets, and everything you protect later.")).toBeVisible();
    await expectAccessible();
    await userEvent.upload(await screen.findByLabelText("Picture file"), createPictureFile("forest"));
    await userEvent.click(screen.getByRole("button", { name: "Let the device in" }));
    expect(await screen.findByText(/This picture does not open it/)).toBeVisible();
    await userEvent.upload(screen.getByLabelText("Picture file"), createPictureFile("garden"));
    await userEvent.click(screen.getByRole("button", { name: "Let the device in" }));
    expect(await screen.findByText(wholeText("“New laptop” now opens 2 secrets."))).toBeVisible();
    expect((await fakeVault.openers.list()).openers.map(({ name }) => name)).toEqual(["Garden", "New laptop"]);
    await expectAccessible();
  });

  it.each([
    ["in Spanish", spanishCode],
    ["as numbers", Array.from({ length: 12 }, (_, index) => index + 1).join(" ")],
  ])("accepts the code as %s", async (_, typedCode) => {
    await renderAdmittingDevice();
    await enterCode(typedCode);
    expect(await screen.findByRole("region", { name: "“New laptop” wants to open your secrets" })).toBeVisible();
  });

  it("names an unknown word in a Spanish code", async () => {
    await renderAdmittingDevice();
    await enterCode(spanishCode.replace("abeja", "relicario"));
    expect(await screen.findByText(/^“relicario” \(word 3\)/)).toBeVisible();
  });

  it("names unknown words, counts missing ones, and keeps the input", async () => {
    const { fakeVault } = await renderAdmittingDevice();
    await enterCode(code.replace("able", "relicario").replace("accident", "zzz"));
    expect(
      await screen.findByText(
        "“relicario” (word 3), “zzz” (word 12) are not in the word list. Look at the other screen again.",
      ),
    ).toBeVisible();
    await expectAccessible();
    await typeCode(code.replace(" accident", ""));
    expect(await screen.findByText("You typed 11 words, and the code has 12.")).toBeVisible();
    expect(screen.getByRole("textbox", { name: "The 12 words" })).toHaveValue(code.replace(" accident", ""));
    fakeVault.failWith("deviceLinks.inspect", "device_code_unreadable");
    await typeCode(code);
    expect(await screen.findByText(/These words don't match/)).toBeVisible();
    fakeVault.failWith("deviceLinks.inspect", null);
    await typeCode(code);
    expect(await screen.findByRole("region", { name: "“New laptop” wants to open your secrets" })).toBeVisible();
  });

  it.each([
    ["device_link_unavailable", /No device is waiting with this code/],
    ["device_link_own", /This same browser shows this code/],
    ["decryption_failed", /./],
  ] as const)("explains %s, and admits nothing", async (failure, words) => {
    const { fakeVault } = await renderAdmittingDevice();
    fakeVault.failWith("deviceLinks.inspect", failure);
    await enterCode();
    expect(await screen.findByRole("alert")).toHaveTextContent(words);
    expect((await fakeVault.openers.list()).openers).toHaveLength(1);
  });

  it("admits another device with a picture if no passkey exists", async () => {
    fakeDevice.passkey = "cancelled";
    await renderAdmittingDevice({ keys: [{ kind: "passkey", name: "Phone", credential: "9" }] });
    await enterCode();
    await userEvent.click(await screen.findByRole("button", { name: "Use a passkey" }));
    await userEvent.click(screen.getByRole("button", { name: "Use the passkey" }));
    expect(
      await screen.findByText(
        /If this device has none for your account, use a picture or a recovery code. Nothing was changed./,
      ),
    ).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Use a picture" }));
    await userEvent.upload(await screen.findByLabelText("Picture file"), createPictureFile("garden"));
    await userEvent.click(screen.getByRole("button", { name: "Let the device in" }));
    expect(await screen.findByText(/now opens 2 secrets/)).toBeVisible();
  });

  it("asks to unlock a locked device, or links to the new device's page", async () => {
    await renderAdmittingDevice({ unlocked: false });
    expect(await screen.findByRole("link", { name: "Unlock" })).toHaveAttribute(
      "href",
      "/provide-image-recovery?then=%2Fanother-device",
    );
    expect(screen.getByRole("link", { name: "This is the new device" })).toHaveAttribute(
      "href",
      "/new-device?then=%2Fopeners",
    );
  });

  it("can be cancelled at each step by keyboard", async () => {
    await renderAdmittingDevice();
    await enterCode();
    await userEvent.click(await screen.findByRole("button", { name: "Cancel" }));
    await userEvent.click(await screen.findByRole("button", { name: "The device is in my hands" }));
    screen.getByRole("textbox", { name: "The 12 words" }).focus();
    await userEvent.keyboard("{Tab}{Tab}{Enter}");
    expect(await screen.findByRole("link", { name: "Cancel" })).toHaveAttribute("href", "/openers");
  });
});

import { expectAccessible, createPictureFile, renderApp } from "@relicario/shared/testing";
import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { PictureField } from "../picture/PictureField.tsx";
import { createRecoveryFakeVault, type RecoveryFakeVaultSettings } from "../testing/recovery-fake-vault.ts";
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
  const fake = createRecoveryFakeVault({ ...defaultSettings, unlocked: false, device: "own", ...settings });
  const vault = { ...fake, PictureField };
  return {
    fake,
    ...(await renderApp(
      <main>
        <NewDevicePage />
      </main>,
      { vault, path: "/new-device?then=%2Fsecrets", route: "/new-device", ...options },
    )),
  };
}

async function renderAdmittingDevice(settings: RecoveryFakeVaultSettings = {}, options: RenderOptions = {}) {
  const fake = createRecoveryFakeVault({
    ...defaultSettings,
    requestingDevice: { code, name: "New laptop" },
    ...settings,
  });
  const vault = { ...fake, PictureField };
  return {
    fake,
    ...(await renderApp(
      <main>
        <AnotherDevicePage />
      </main>,
      { vault, path: "/another-device", route: "/another-device", ...options },
    )),
  };
}

const startOffer = async () => {
  await userEvent.click(await screen.findByRole("button", { name: "Make a passkey and show the code" }));
};
const typeCode = async (words: string) => {
  const field = screen.getByRole("textbox", { name: "The 12 words" });
  await userEvent.clear(field);
  await userEvent.click(field);
  await userEvent.paste(words);
  await userEvent.click(screen.getByRole("button", { name: "Look who asks" }));
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

describe("the new device", () => {
  it.each([
    ["en", "light"],
    ["es", "dark"],
  ] as const)(
    "names itself, makes a passkey and shows its code as words and picture, in %s and %s",
    async (language, theme) => {
      const { fake } = await renderNewDevice({}, { language, theme });
      await screen.findByRole("textbox");
      await expectAccessible();
      await userEvent.click(
        screen.getByRole("button", {
          name: language === "en" ? "Make a passkey and show the code" : "Crear una llave y mostrar el código",
        }),
      );
      expect(
        await screen.findByRole("img", {
          name: language === "en" ? "The 12 words as a QR code" : "Las 12 palabras como código QR",
        }),
      ).toBeVisible();
      const words = within(
        screen.getByRole("list", { name: language === "en" ? "The 12 words" : "Las 12 palabras" }),
      ).getAllByRole("listitem");
      expect(words.map((word) => word.textContent).join(" ")).toBe(code);
      expect(screen.getByRole("timer")).toHaveTextContent(/[45]:\d\d/);
      expect(fake.calls.filter((call) => call.startsWith("deviceLinks"))).toEqual([
        "deviceLinks.offer",
        "deviceLinks.join",
      ]);
      await expectAccessible();
    },
  );

  it("goes on where it was going once the other device has answered", async () => {
    const { fake, location } = await renderNewDevice();
    await startOffer();
    await screen.findByText("Waiting for the other device");
    act(() => {
      fake.approveElsewhere();
    });
    await waitFor(() => {
      expect(location()).toBe("/secrets");
    });
    expect(fake.getState()).toEqual({ status: "unlocked", device: "own" });
  });

  it("is asked whose it is before it goes on", async () => {
    const { fake, location } = await renderNewDevice({ device: null });
    await startOffer();
    await screen.findByText("Waiting for the other device");
    act(() => {
      fake.approveElsewhere();
    });
    await userEvent.click(await screen.findByRole("button", { name: "My own device" }));
    await waitFor(() => {
      expect(location()).toBe("/secrets");
    });
  });

  it("shows another code for the same passkey when the time is over, or unlocks where the other device was done", async () => {
    const { fake } = await renderNewDevice();
    fake.failWith("deviceLinks.join", "device_link_expired");
    await startOffer();
    expect(await screen.findByText(/No one answered in time/)).toBeVisible();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "It is done: unlock" }));
    expect(await screen.findByText(/This passkey opens nothing in this account/)).toBeVisible();
    fake.failWith("deviceLinks.join", null);
    await userEvent.click(screen.getByRole("button", { name: "Show a new code" }));
    expect(await screen.findByText("Waiting for the other device")).toBeVisible();
    expect(fake.calls.filter((call) => call === "deviceLinks.offer")).toHaveLength(2);
    expect(fakeDevice.passkeyCount).toBe(1);
  });

  it("stays locked, says why, and may try again when the service shows the two different things", async () => {
    const { fake } = await renderNewDevice();
    fake.failWith("deviceLinks.join", "histories_differ");
    await startOffer();
    expect(await screen.findByText(/shows this device something else than it showed the other one/)).toBeVisible();
    expect(fake.getState().status).toBe("locked");
    await expectAccessible();
    fake.failWith("deviceLinks.join", null);
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByText("Waiting for the other device")).toBeVisible();
  });

  it("can be cancelled, and keeps its passkey and its name for the next code", async () => {
    await renderNewDevice();
    const name = await screen.findByRole("textbox", { name: "Name of this device" });
    await userEvent.clear(name);
    await userEvent.type(name, "Kitchen");
    await startOffer();
    await userEvent.click(await screen.findByRole("button", { name: "Cancel" }));
    expect(screen.getByRole("textbox", { name: "Name of this device" })).toHaveValue("Kitchen");
    await userEvent.click(screen.getByRole("button", { name: "Show a new code" }));
    await screen.findByText("Waiting for the other device");
    expect(fakeDevice.passkeyCount).toBe(1);
  });

  it("without PRF says to send oneself the picture, and leaves nothing behind", async () => {
    fakeDevice.passkey = "passkey_without_prf";
    const { fake } = await renderNewDevice();
    await startOffer();
    expect(await screen.findByText(/Send yourself the picture, by any messenger/)).toBeVisible();
    expect(screen.getByRole("link", { name: "Unlock with a picture" })).toHaveAttribute(
      "href",
      "/provide-image-recovery?then=%2Fsecrets",
    );
    expect(fake.calls.filter((call) => call.startsWith("deviceLinks"))).toEqual([]);
    await expectAccessible();
  });

  it("says that nothing was changed when no passkey was agreed to, or the service cannot be reached", async () => {
    fakeDevice.passkey = "cancelled";
    const { fake } = await renderNewDevice();
    await startOffer();
    expect(await screen.findByText(/No passkey was made/)).toBeVisible();
    fakeDevice.passkey = "made";
    fake.failWith("deviceLinks.offer", "offline");
    await startOffer();
    expect(await screen.findByRole("alert")).toBeVisible();
    fake.failWith("deviceLinks.offer", null);
    await userEvent.click(screen.getByRole("button", { name: "Show a new code" }));
    expect(await screen.findByText("Waiting for the other device")).toBeVisible();
    expect(fakeDevice.passkeyCount).toBe(1);
  });

  it("that is unlocked, or whose account is empty, needs no other device", async () => {
    await renderNewDevice({ unlocked: true });
    expect(await screen.findByText("This device is unlocked")).toBeVisible();
    expect(screen.getByRole("link", { name: "Continue" })).toHaveAttribute("href", "/secrets");
  });
});

describe("the device at hand", () => {
  it.each([
    ["en", "light"],
    ["es", "dark"],
  ] as const)("warns before it takes a code, in %s and %s", async (language, theme) => {
    await renderAdmittingDevice({}, { language, theme });
    const warning =
      language === "en"
        ? "The person who shows the code will be able to open everything"
        : "Quien muestre el código podrá abrirlo todo";
    expect(await screen.findByRole("heading", { name: warning })).toBeVisible();
    expect(screen.queryByRole("textbox")).toBeNull();
    await expectAccessible();
  });

  it("takes the words, names who asks and what it will open, and lets it in with something that opens today", async () => {
    const { fake } = await renderAdmittingDevice();
    await enterCode(` ${code.toUpperCase()} `);
    expect(await screen.findByRole("region", { name: "“New laptop” asks to open your secrets" })).toBeVisible();
    expect(screen.getByText("It will open 2 secrets, and whatever you protect later.")).toBeVisible();
    await expectAccessible();
    await userEvent.upload(await screen.findByLabelText("Picture file"), createPictureFile("forest"));
    await userEvent.click(screen.getByRole("button", { name: "Show it and let the device in" }));
    expect(await screen.findByText(/This picture does not open it/)).toBeVisible();
    await userEvent.upload(screen.getByLabelText("Picture file"), createPictureFile("garden"));
    await userEvent.click(screen.getByRole("button", { name: "Show it and let the device in" }));
    expect(await screen.findByText("“New laptop” opens your account now. 2 secrets were sealed to it.")).toBeVisible();
    expect((await fake.openers.list()).openers.map(({ name }) => name)).toEqual(["Garden", "New laptop"]);
    await expectAccessible();
  });

  it("names the words that are not in the list, counts those that are missing, and keeps what was typed", async () => {
    const { fake } = await renderAdmittingDevice();
    await enterCode(code.replace("able", "relicario").replace("accident", "zzz"));
    expect(
      await screen.findByText(
        "“relicario” (word 3), “zzz” (word 12) are not words of the list. Look at the other screen again.",
      ),
    ).toBeVisible();
    await expectAccessible();
    await typeCode(code.replace(" accident", ""));
    expect(await screen.findByText("There are 11 words here, and the code has 12.")).toBeVisible();
    expect(screen.getByRole("textbox", { name: "The 12 words" })).toHaveValue(code.replace(" accident", ""));
    fake.failWith("deviceLinks.inspect", "device_code_unreadable");
    await typeCode(code);
    expect(await screen.findByText(/These words do not belong together/)).toBeVisible();
    fake.failWith("deviceLinks.inspect", null);
    await typeCode(code);
    expect(await screen.findByRole("region", { name: "“New laptop” asks to open your secrets" })).toBeVisible();
  });

  it.each([
    ["device_link_unavailable", /No device is waiting with this code/],
    ["device_link_own", /shown by this same browser/],
    ["decryption_failed", /./],
  ] as const)("says what to do about %s, and enters nothing", async (failure, words) => {
    const { fake } = await renderAdmittingDevice();
    fake.failWith("deviceLinks.inspect", failure);
    await enterCode();
    expect(await screen.findByRole("alert")).toHaveTextContent(words);
    expect((await fake.openers.list()).openers).toHaveLength(1);
  });

  it("without its passkey lets another device in by its picture", async () => {
    fakeDevice.passkey = "cancelled";
    await renderAdmittingDevice({ keys: [{ kind: "passkey", name: "Phone", secret: "9" }] });
    await enterCode();
    await userEvent.click(await screen.findByRole("button", { name: "Use a passkey" }));
    await userEvent.click(screen.getByRole("button", { name: "Ask for the passkey" }));
    expect(
      await screen.findByText(
        /If this device has none for your account, use a picture or a recovery code. Nothing was changed./,
      ),
    ).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Use a picture" }));
    await userEvent.upload(await screen.findByLabelText("Picture file"), createPictureFile("garden"));
    await userEvent.click(screen.getByRole("button", { name: "Show it and let the device in" }));
    expect(await screen.findByText(/opens your account now/)).toBeVisible();
  });

  it("that is locked is unlocked first, or is the new one itself", async () => {
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

  it("can be left at each step by the keyboard", async () => {
    await renderAdmittingDevice();
    await enterCode();
    await userEvent.click(await screen.findByRole("button", { name: "Cancel" }));
    await userEvent.click(await screen.findByRole("button", { name: "The device is in my hands" }));
    screen.getByRole("textbox", { name: "The 12 words" }).focus();
    await userEvent.keyboard("{Tab}{Tab}{Enter}");
    expect(await screen.findByRole("link", { name: "Leave" })).toHaveAttribute("href", "/openers");
  });
});

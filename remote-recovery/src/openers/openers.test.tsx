import { expectAccessible, createPictureFile, renderApp } from "@relicario/shared/testing";
import { cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { presentPicture } from "@relicario/vault/presented-opener";
import { examinerOf, registerExaminer } from "../picture/examiner.ts";
import { PictureField } from "../picture/PictureField.tsx";
import { createRecoveryFakeVault, type RecoveryFakeVaultSettings } from "../testing/recovery-fake-vault.ts";
import { LostDevicePanel } from "./LostDevicePanel.tsx";
import OpenersPage from "./OpenersPage.tsx";
import { RemovePanel } from "./RemovePanel.tsx";

const makePrf = (fill: number) => new Uint8Array(32).fill(fill);
const fakeDevice: { passkey: Uint8Array<ArrayBuffer> | "passkey_without_prf" | "cancelled" } = { passkey: makePrf(7) };
jest.mock("@relicario/vault/passkey", () => {
  const { PortalError } = jest.requireActual<typeof import("@relicario/shared/errors")>("@relicario/shared/errors");
  const respond = () =>
    typeof fakeDevice.passkey === "string"
      ? Promise.reject(new PortalError(fakeDevice.passkey))
      : Promise.resolve(fakeDevice.passkey.slice());
  return { createPasskey: jest.fn(respond), requestPasskey: jest.fn(respond) };
});

/** The words of a recovery code. */
const recoveryWords = Array.from({ length: 24 }, () => "abandon").join(" ");
const defaultSettings: RecoveryFakeVaultSettings = {
  secrets: [
    { title: "Cold wallet", content: "abandon" },
    { title: "Deed", content: "house" },
  ],
  images: [{ name: "Garden", picture: "garden" }],
};

async function renderPage(
  settings: RecoveryFakeVaultSettings = {},
  { language = "en", theme = "light" }: { language?: "en" | "es"; theme?: "light" | "dark" } = {},
) {
  const fake = createRecoveryFakeVault({ ...defaultSettings, ...settings });
  const vault = { ...fake, PictureField };
  registerExaminer(vault, examinerOf(fake));
  return {
    fake,
    ...(await renderApp(
      <main>
        <OpenersPage />
      </main>,
      { vault, path: "/openers", route: "/openers", language, theme },
    )),
  };
}

/** Shows the picture of the account to whatever asks for one. */
async function submitPicture(text: string, button: string): Promise<void> {
  await userEvent.upload(await screen.findByLabelText("Picture file"), createPictureFile(text));
  await userEvent.click(screen.getByRole("button", { name: button }));
}

const makeHandle = (text: string, passphrase: string | null) =>
  presentPicture({ picture: createPictureFile(text), passphrase });

beforeEach(() => {
  fakeDevice.passkey = makePrf(7);
  URL.createObjectURL = jest.fn(() => "blob:test/1");
  URL.revokeObjectURL = jest.fn();
  window.print = jest.fn();
});

describe("changing a picture", () => {
  const openChangePanel = async (button: string) => {
    const rendered = await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: button }));
    return rendered;
  };

  it("gives it another passphrase, after saying what that means and asking for it twice", async () => {
    const { fake } = await openChangePanel("Change the passphrase of Garden");
    expect(screen.getByText(/opens your secrets with the new passphrase alone/)).toBeVisible();
    expect(document.activeElement).toHaveTextContent(/^Afterwards Garden opens your secrets/);
    expect(screen.getByText(/Kits, archives and copies made before still open/)).toBeVisible();
    await userEvent.type(screen.getByLabelText("New passphrase"), "nine stones");
    await userEvent.type(screen.getByLabelText("New passphrase again"), "nine");
    expect(screen.getByRole("button", { name: "Continue" })).toBeDisabled();
    await userEvent.type(screen.getByLabelText("New passphrase again"), " stones");
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    await userEvent.click(screen.getByRole("button", { name: "Change the passphrase" }));
    expect(screen.getByText("Show the picture first.")).toBeVisible();
    await submitPicture("garden", "Change the passphrase");
    await waitFor(() => {
      expect(screen.queryByText(/opens your secrets with the new passphrase alone/)).not.toBeInTheDocument();
    });
    const [opener] = (await fake.openers.list()).openers;
    expect(opener).toMatchObject({ name: "Garden", kind: "image" });
    await fake.lock();
    await expect(fake.unlock(makeHandle("garden", null))).rejects.toMatchObject({
      code: "not_this_picture_or_passphrase",
    });
    await fake.unlock(makeHandle("garden", "nine stones"));
  });

  it("says what went wrong, and keeps the picture as it was", async () => {
    const { fake } = await openChangePanel("Change the passphrase of Garden");
    await userEvent.click(screen.getByRole("button", { name: "Continue without a passphrase" }));
    fake.failWith("openers.replaceImage", "publication_not_seen");
    await submitPicture("garden", "Change the passphrase");
    expect(await screen.findByRole("alert")).toBeVisible();
    expect((await fake.openers.list()).openers).toMatchObject([{ name: "Garden" }]);
  });

  it("puts another picture in its place", async () => {
    const { fake } = await openChangePanel("Use another picture instead of Garden");
    await userEvent.upload(await screen.findByLabelText("Picture file"), createPictureFile("harbour"));
    await userEvent.type(screen.getByLabelText("Name of the new picture"), "Harbour");
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    expect(screen.getByText(/answer what is asked about its passphrase/)).toBeVisible();
    await userEvent.click(await screen.findByRole("checkbox", { name: /without a passphrase/i }));
    expect(screen.queryByText(/answer what is asked about its passphrase/)).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    const [, currentPictureInput] = screen.getAllByLabelText("Picture file");
    await userEvent.upload(currentPictureInput ?? screen.getByLabelText("Picture file"), createPictureFile("garden"));
    await userEvent.click(screen.getByRole("button", { name: "Use the new picture" }));
    await waitFor(async () => {
      expect((await fake.openers.list()).openers).toMatchObject([{ name: "Harbour" }]);
    });
  });
});

describe("what opens my secrets", () => {
  it.each([
    ["en", "light"],
    ["es", "dark"],
  ] as const)("names the openers and what each secret is opened by, in %s and %s", async (language, theme) => {
    await renderPage(
      { keys: [{ kind: "recovery_code", name: "Paper", secret: "x", opensExisting: false }] },
      { language, theme },
    );
    expect(await screen.findByText("Paper")).toBeVisible();
    const secrets = within(screen.getByRole("region", { name: language === "en" ? "Secrets" : "Secretos" }));
    expect(secrets.getByText("Cold wallet")).toBeVisible();
    expect(secrets.getAllByText(language === "en" ? "Opened by: Garden" : "Lo abren: Garden")).toHaveLength(2);
    expect(secrets.getAllByText(language === "en" ? "Not opened by: Paper" : "No lo abren: Paper")).toHaveLength(2);
    await expectAccessible();
  });

  it("says that there is only one way, that a device is locked, and that the service keeps one back", async () => {
    await renderPage();
    expect(await screen.findByText(/There is only one way to open your secrets/)).toBeVisible();
  });

  it("on a locked device leads to unlocking", async () => {
    await renderPage({ unlocked: false });
    expect(await screen.findByRole("link", { name: "Unlock" })).toHaveAttribute(
      "href",
      "/provide-image-recovery?then=%2Fopeners",
    );
  });

  it("warns of an opener that the service does not serve", async () => {
    await renderPage({ keys: [{ kind: "passkey", name: "Phone", secret: "7", hasSlot: false }] });
    expect(await screen.findByText(/The service does not give what this needs/)).toBeVisible();
  });

  it("seals what is not covered in one go, with what is shown, and lets no list of another screen pass for fresh", async () => {
    const { fake, queryClient } = await renderPage({
      keys: [{ kind: "recovery_code", name: "Paper", secret: "x", opensExisting: false }],
    });
    await userEvent.click(await screen.findByRole("button", { name: "Seal what is not covered" }));
    await userEvent.click(screen.getByRole("button", { name: "Show it and seal" }));
    expect(screen.getByText("Show a picture, a recovery code or a passkey first.")).toBeVisible();
    await submitPicture("forest", "Show it and seal");
    expect(await screen.findByText(/This picture does not open it/)).toBeVisible();
    queryClient.setQueryData(["rows"], []);
    await submitPicture("garden", "Show it and seal");
    expect(await screen.findByText("2 secrets were sealed to every way.")).toBeVisible();
    await waitFor(() => {
      expect(screen.queryByText(/Not opened by/)).toBeNull();
    });
    expect(fake.calls.filter((call) => call === "openers.resealForAllOpeners")).toHaveLength(2);
    expect(queryClient.getQueryState(["rows"])?.isInvalidated).toBe(true);
    await expectAccessible();
  });
});

describe("making a recovery code", () => {
  it("shows 24 words once, asks for two of them back, and adds it with something that opens today", async () => {
    const { fake } = await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "Make a recovery code" }));
    const words = within(await screen.findByRole("list", { name: "The 24 words" }))
      .getAllByRole("listitem")
      .map((item) => item.textContent);
    expect(words).toHaveLength(24);
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Print" }));
    expect(window.print).toHaveBeenCalledTimes(1);
    await userEvent.click(screen.getByRole("button", { name: "I have them on paper" }));
    const fields = screen.getAllByRole("textbox");
    expect(fields).toHaveLength(2);
    await userEvent.type(fields[0] ?? document.body, "zebras");
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    expect(screen.getAllByText("This is not that word. Look at the paper again.")).toHaveLength(2);
    for (const field of fields) {
      const [, number = ""] =
        /Word (\d+)/.exec(field instanceof HTMLInputElement ? (field.labels?.[0]?.textContent ?? "") : "") ?? [];
      await userEvent.clear(field);
      await userEvent.type(field, ` ${(words[Number(number) - 1] ?? "").toUpperCase()}`);
    }
    expect(fake.calls).not.toContain("openers.add");
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    await userEvent.click(await screen.findByRole("button", { name: "Add the code" }));
    await submitPicture("garden", "Add the code");
    expect(await screen.findByText(/2 secrets are not opened by everything/)).toBeVisible();
    expect(
      within(screen.getByRole("region", { name: "Ways to open" })).getByText("Recovery code on paper"),
    ).toBeVisible();
  });
});

describe("making a passkey", () => {
  it("adds one that this device made", async () => {
    await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "Make a passkey" }));
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Make and add" }));
    await submitPicture("garden", "Make and add");
    expect(await screen.findByText(/^Passkey, added/)).toBeVisible();
  });

  it("says what to do where the device has no PRF, and adds nothing", async () => {
    fakeDevice.passkey = "passkey_without_prf";
    const { fake } = await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "Make a passkey" }));
    await userEvent.click(screen.getByRole("button", { name: "Make and add" }));
    expect(await screen.findByText(/cannot make passkeys that open secrets/)).toBeVisible();
    expect(fake.calls).not.toContain("openers.add");
  });
});

describe("showing something else than a picture", () => {
  const keys = [
    { kind: "passkey", name: "Phone", secret: "7" },
    { kind: "recovery_code", name: "Paper", secret: recoveryWords },
    { kind: "recovery_code", name: "New", secret: "x", opensExisting: false },
  ] as const;
  const openResealPanel = async () => {
    await userEvent.click(await screen.findByRole("button", { name: "Seal what is not covered" }));
  };

  it("takes a passkey", async () => {
    await renderPage({ keys });
    await openResealPanel();
    await userEvent.click(await screen.findByRole("button", { name: "Use a passkey" }));
    await userEvent.click(screen.getByRole("button", { name: "Ask for the passkey" }));
    expect(await screen.findByText("The passkey is ready.")).toBeVisible();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Show it and seal" }));
    expect(await screen.findByText(/were sealed to every way/)).toBeVisible();
  });

  it("says what to do when no passkey was given", async () => {
    fakeDevice.passkey = "cancelled";
    await renderPage({ keys });
    await openResealPanel();
    await userEvent.click(await screen.findByRole("button", { name: "Use a passkey" }));
    await userEvent.click(screen.getByRole("button", { name: "Ask for the passkey" }));
    expect(await screen.findByText(/No passkey was given/)).toBeVisible();
  });

  it("takes a recovery code, and keeps what was typed when it was wrong", async () => {
    await renderPage({ keys });
    await openResealPanel();
    await userEvent.click(await screen.findByRole("button", { name: "Use a recovery code" }));
    const words = screen.getByRole("textbox", { name: "Recovery code" });
    await userEvent.type(words, recoveryWords.replace(/abandon$/, "ability"));
    await userEvent.click(screen.getByRole("button", { name: "Show it and seal" }));
    expect(await screen.findByText(/This recovery code opens nothing/)).toBeVisible();
    expect(words).toHaveValue(recoveryWords.replace(/abandon$/, "ability"));
    await expectAccessible();
    await userEvent.clear(words);
    await userEvent.type(words, recoveryWords);
    await userEvent.click(screen.getByRole("button", { name: "Show it and seal" }));
    await waitFor(() => {
      expect(screen.getByText(/were sealed to every way/)).toBeVisible();
    });
  });
});

describe("removing an opener", () => {
  const keys = [{ kind: "recovery_code", name: "Paper", secret: "x" }] as const;

  it("says what opens afterwards, and removes it with another one", async () => {
    await renderPage({ keys });
    await userEvent.click(await screen.findByRole("button", { name: "Remove Paper" }));
    expect(screen.getByText("Afterwards your secrets are opened by: Garden.")).toBeVisible();
    await expectAccessible();
    await submitPicture("garden", "Show another way and remove");
    await waitFor(() => {
      expect(screen.queryByRole("button", { name: "Remove Paper" })).toBeNull();
    });
  });

  it("does not remove the last picture", async () => {
    await renderPage({ keys });
    await userEvent.click(await screen.findByRole("button", { name: "Remove Garden" }));
    expect(screen.getByText(/This is your last picture, and one has to stay/)).toBeVisible();
    expect(screen.queryByLabelText("Picture file")).toBeNull();
  });

  it("names what would be lost, and goes on only when that is agreed to", async () => {
    const vault = { ...createRecoveryFakeVault({ ...defaultSettings, keys }), PictureField };
    const { openers, secrets } = await vault.openers.list();
    const [garden] = openers;
    const lostSecrets = secrets.slice(0, 1);
    if (garden === undefined) throw new TypeError("the account has a picture");
    const opener = { ...garden, soleOpenerOf: lostSecrets.map(({ secretId }) => secretId) };
    const overview = {
      openers: [...openers, { ...garden, id: "01890a5d-ac96-7000-8000-00000000ffff", name: "Lake" }],
      secrets,
    };
    await renderApp(
      <main>
        <h1>Openers</h1>
        <RemovePanel
          vault={vault}
          opener={opener}
          overview={overview}
          onDone={() => undefined}
          onCancel={() => undefined}
        />
      </main>,
      { vault },
    );
    expect(await screen.findByText("1 secret would be lost")).toBeVisible();
    expect(within(screen.getByRole("alert")).getByText("Deed")).toBeVisible();
    expect(screen.queryByLabelText("Picture file")).toBeNull();
    await userEvent.click(screen.getByRole("checkbox", { name: "I give up this secret for ever" }));
    expect(await screen.findByLabelText("Picture file")).toBeInTheDocument();
    await expectAccessible();
  });
});

describe("the focus", () => {
  const activeElement = () => document.activeElement;

  it("goes on in a lost device with what is asked next, and comes back to the button or to the list", async () => {
    await renderPage();
    const user = userEvent.setup();
    (await screen.findByRole("button", { name: "I lost a device" })).focus();
    await user.keyboard("{Enter}");
    expect(screen.getByRole("heading", { name: "I lost a device" })).toHaveFocus();
    await user.tab();
    await user.keyboard("{Enter}");
    expect(activeElement()).toHaveTextContent("Not shown yet, and removed if it stays so: Garden");
    await user.click(screen.getByRole("button", { name: "Cancel" }));
    expect(await screen.findByRole("button", { name: "I lost a device" })).toHaveFocus();
    await user.keyboard("{Enter}");
    await user.click(screen.getByRole("button", { name: "Continue" }));
    await submitPicture("garden", "Show this one");
    await waitFor(() => {
      expect(activeElement()).toHaveTextContent("You have shown every way. None is removed.");
    });
    await user.click(screen.getByRole("button", { name: "Make the new key" }));
    await waitFor(() => {
      expect(activeElement()).toHaveTextContent(/^Your account has a new key/);
    });
    await user.click(screen.getByRole("button", { name: "Done" }));
    expect(await screen.findByRole("heading", { name: "Ways to open" })).toHaveFocus();
  });

  it("follows the steps of a recovery code, and stands at the list once it is added", async () => {
    await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "Make a recovery code" }));
    const words = (
      await within(await screen.findByRole("list", { name: "The 24 words" })).findAllByRole("listitem")
    ).map(({ textContent }) => textContent);
    await userEvent.click(screen.getByRole("button", { name: "I have them on paper" }));
    expect(screen.getByRole("heading", { name: "Make a recovery code" })).toHaveFocus();
    for (const field of screen.getAllByRole<HTMLInputElement>("textbox", { name: /^Word / })) {
      await userEvent.type(field, words[Number(/\d+/.exec(field.labels?.[0]?.textContent ?? "")?.[0]) - 1] ?? "");
    }
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    expect(screen.getByRole("heading", { name: "Make a recovery code" })).toHaveFocus();
    await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
    expect(await screen.findByRole("button", { name: "Make a recovery code" })).toHaveFocus();
    await userEvent.click(screen.getByRole("button", { name: "Make a passkey" }));
    await userEvent.click(screen.getByRole("button", { name: "Make and add" }));
    await waitFor(() => {
      expect(activeElement()).toHaveTextContent("To add it, show something that opens your secrets today.");
    });
    await submitPicture("garden", "Make and add");
    expect(await screen.findByRole("heading", { name: "Ways to open" })).toHaveFocus();
  });

  it("comes back from a panel of the list: to its button, or to the heading where its row may be gone", async () => {
    await renderPage({ keys: [{ kind: "recovery_code", name: "Paper", secret: "x" }] });
    await userEvent.click(await screen.findByRole("button", { name: "Change the passphrase of Garden" }));
    await userEvent.click(screen.getByRole("button", { name: "Continue without a passphrase" }));
    expect(activeElement()).toHaveTextContent("Now show Garden as it opens today");
    await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
    expect(await screen.findByRole("button", { name: "Change the passphrase of Garden" })).toHaveFocus();
    await userEvent.click(screen.getByRole("button", { name: "Remove Paper" }));
    await submitPicture("garden", "Show another way and remove");
    await waitFor(() => {
      expect(screen.queryByText("Paper")).toBeNull();
    });
    expect(screen.getByRole("heading", { name: "Ways to open" })).toHaveFocus();
  });
});

describe("a lost device", () => {
  const keys = [
    { kind: "recovery_code", name: "Paper", secret: recoveryWords },
    { kind: "passkey", name: "Phone", secret: "7" },
  ] as const;
  const openLostDevicePanel = async (language: "en" | "es" = "en") => {
    await userEvent.click(
      await screen.findByRole("button", { name: language === "en" ? "I lost a device" : "He perdido un dispositivo" }),
    );
    await userEvent.click(screen.getByRole("button", { name: language === "en" ? "Continue" : "Continuar" }));
  };

  it.each([
    ["en", "light"],
    ["es", "dark"],
  ] as const)("says first what it means, in %s and %s", async (language, theme) => {
    const { fake } = await renderPage({ keys }, { language, theme });
    await userEvent.click(
      await screen.findByRole("button", { name: language === "en" ? "I lost a device" : "He perdido un dispositivo" }),
    );
    expect(
      screen.getByText(language === "en" ? /opens nothing new from then on/ : /no abre nada nuevo: ni títulos/),
    ).toBeVisible();
    expect(screen.getByRole("heading", { level: 2 })).toHaveFocus();
    expect(
      screen.getByText(language === "en" ? /copied there before stays openable/ : /se podrá seguir abriendo/),
    ).toBeVisible();
    await expectAccessible();
    expect(fake.calls).not.toContain("openers.recognise");
  });

  it("takes what stays one after the other, and removes the rest", async () => {
    const { fake, queryClient } = await renderPage({ keys });
    await openLostDevicePanel();
    expect(screen.getByText("Not shown yet, and removed if it stays so: Garden, Paper, Phone")).toBeVisible();
    await userEvent.click(await screen.findByRole("button", { name: "Use a recovery code" }));
    await userEvent.type(await screen.findByLabelText("Recovery code"), recoveryWords);
    await userEvent.click(screen.getByRole("button", { name: "Show this one" }));
    expect(await screen.findByText("Paper stays")).toBeVisible();
    expect(screen.getByText("Show a picture too: one has to stay.")).toBeVisible();
    expect(screen.queryByRole("button", { name: "Make the new key" })).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "Use a picture" }));
    await submitPicture("garden", "Show this one");
    expect(await screen.findByText("Garden stays")).toBeVisible();
    expect(screen.getByText("Not shown yet, and removed if it stays so: Phone")).toBeVisible();
    await submitPicture("garden", "Show this one");
    expect(await screen.findByText("You have shown Garden already.")).toBeVisible();
    await expectAccessible();
    queryClient.setQueryData(["rows"], []);
    await userEvent.click(screen.getByRole("button", { name: "Make the new key" }));
    expect(await screen.findByText("Your account has a new key")).toBeVisible();
    expect(queryClient.getQueryState(["rows"])?.isInvalidated).toBe(true);
    expect(screen.getByText("Removed: Phone")).toBeVisible();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Done" }));
    await screen.findByRole("region", { name: "Ways to open" });
    expect(screen.queryByText("Phone")).toBeNull();
    expect(fake.calls.filter((call) => call === "openers.rotate")).toHaveLength(1);
  });

  it("says why it could not be done, and keeps what was shown", async () => {
    const { fake } = await renderPage();
    await openLostDevicePanel();
    await submitPicture("garden", "Show this one");
    expect(await screen.findByText("You have shown every way. None is removed.")).toBeVisible();
    fake.failWith("openers.rotate", "state_conflict");
    await userEvent.click(screen.getByRole("button", { name: "Make the new key" }));
    expect(await screen.findByRole("alert")).toBeVisible();
    fake.failWith("openers.rotate", null);
    await userEvent.click(screen.getByRole("button", { name: "Make the new key" }));
    expect(await screen.findByText("Your account has a new key")).toBeVisible();
  });

  it("asks before secrets are lost that nothing shown opens", async () => {
    await renderPage();
    const openerFields = {
      kind: "image",
      createdAt: "2026-11-01T10:00:00.000Z",
      copyCheckedAt: null,
      secretCount: 1,
      hasSlot: true,
    } as const;
    const garden = { ...openerFields, id: "garden", name: "Garden", soleOpenerOf: [] };
    const forest = { ...openerFields, id: "forest", name: "Forest", soleOpenerOf: ["deed"] };
    const overview = {
      openers: [garden, forest],
      secrets: [
        { secretId: "deed", title: "Deed of the house", openers: ["forest"], missing: ["garden"], copyCheckedAt: null },
      ],
    };
    const fake = createRecoveryFakeVault(defaultSettings);
    const vault = {
      ...fake,
      PictureField,
      openers: { ...fake.openers, recognise: () => Promise.resolve({ openerId: "garden" }) },
    };
    const rotate = jest.spyOn(vault.openers, "rotate");
    cleanup();
    await renderApp(
      <main>
        <LostDevicePanel vault={vault} overview={overview} onDone={() => undefined} onCancel={() => undefined} />
      </main>,
      { vault },
    );
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    await submitPicture("garden", "Show this one");
    expect(await screen.findByText("Deed of the house")).toBeVisible();
    expect(screen.queryByRole("button", { name: "Make the new key" })).toBeNull();
    await userEvent.click(screen.getByRole("checkbox", { name: "I give up this secret for ever" }));
    await userEvent.click(screen.getByRole("button", { name: "Make the new key" }));
    expect(rotate).toHaveBeenCalledWith([expect.anything()], expect.objectContaining({ acceptedLosses: ["deed"] }));
  });
});

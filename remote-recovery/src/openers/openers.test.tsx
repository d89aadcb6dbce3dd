import { expectAccessible, createPictureFile, renderApp, wholeText } from "@relicario/shared/testing";
import { cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import {
  createRecoveryFakeVault,
  type RecoveryFakeVault,
  type RecoveryFakeVaultSettings,
} from "../testing/recovery-fake-vault.tsx";
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
  const fakeVault = createRecoveryFakeVault({ ...defaultSettings, ...settings });
  return {
    fakeVault,
    ...(await renderApp(
      <main>
        <OpenersPage />
      </main>,
      { vault: fakeVault, path: "/openers", routePattern: "/openers", language, theme },
    )),
  };
}

/** Presents a picture and submits the form. */
async function submitPicture(text: string, button: string): Promise<void> {
  await userEvent.upload(await screen.findByLabelText("Picture file"), createPictureFile(text));
  await userEvent.click(screen.getByRole("button", { name: button }));
}

const makeHandle = (vault: RecoveryFakeVault, text: string, passphrase: string | null) =>
  vault.present({ picture: createPictureFile(text), passphrase });

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

  it("changes its passphrase, after explaining it and asking for it twice", async () => {
    const { fakeVault } = await openChangePanel("Change the passphrase of Garden");
    expect(screen.getByText(/will open your secrets only with the new passphrase/)).toBeVisible();
    expect(document.activeElement).toHaveTextContent(/^“Garden” will open your secrets/);
    expect(screen.getByText(/Kits, exports and .age files you made before still open/)).toBeVisible();
    await userEvent.type(screen.getByLabelText("New passphrase"), "nine stones");
    await userEvent.type(screen.getByLabelText("Repeat the new passphrase"), "nine");
    expect(screen.getByRole("button", { name: "Continue" })).toBeDisabled();
    await userEvent.type(screen.getByLabelText("Repeat the new passphrase"), " stones");
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    await userEvent.click(screen.getByRole("button", { name: "Change the passphrase" }));
    expect(screen.getByText("Choose the picture first.")).toBeVisible();
    await submitPicture("garden", "Change the passphrase");
    await waitFor(() => {
      expect(screen.queryByText(/will open your secrets only with the new passphrase/)).not.toBeInTheDocument();
    });
    const [opener] = (await fakeVault.openers.list()).openers;
    expect(opener).toMatchObject({ name: "Garden", kind: "image" });
    await fakeVault.lock();
    await expect(fakeVault.unlock(makeHandle(fakeVault, "garden", null))).rejects.toMatchObject({
      code: "not_this_picture_or_passphrase",
    });
    await fakeVault.unlock(makeHandle(fakeVault, "garden", "nine stones"));
  });

  it("shows a failure, and keeps the picture", async () => {
    const { fakeVault } = await openChangePanel("Change the passphrase of Garden");
    await userEvent.click(screen.getByRole("button", { name: "Continue without a passphrase" }));
    fakeVault.failWith("openers.replaceImage", "publication_not_seen");
    await submitPicture("garden", "Change the passphrase");
    expect(await screen.findByRole("alert")).toBeVisible();
    expect((await fakeVault.openers.list()).openers).toMatchObject([{ name: "Garden" }]);
  });

  it("replaces the picture with another", async () => {
    const { fakeVault } = await openChangePanel("Replace picture Garden");
    await userEvent.upload(await screen.findByLabelText("Picture file"), createPictureFile("harbour"));
    await userEvent.type(screen.getByLabelText("Name of the new picture"), "Harbour");
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    expect(screen.getByText(/decide about its passphrase/)).toBeVisible();
    await userEvent.click(await screen.findByRole("checkbox", { name: /without a passphrase/i }));
    expect(screen.queryByText(/decide about its passphrase/)).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    const [, currentPictureInput] = screen.getAllByLabelText("Picture file");
    await userEvent.upload(currentPictureInput ?? screen.getByLabelText("Picture file"), createPictureFile("garden"));
    await userEvent.click(screen.getByRole("button", { name: "Use the new picture" }));
    await waitFor(async () => {
      expect((await fakeVault.openers.list()).openers).toMatchObject([{ name: "Harbour" }]);
    });
  });
});

describe("the openers page", () => {
  it.each([
    ["en", "light"],
    ["es", "dark"],
  ] as const)("lists the ways to open of the account and of each secret, in %s and %s", async (language, theme) => {
    await renderPage(
      { keys: [{ kind: "recovery_code", name: "Paper", credential: "x", opensExisting: false }] },
      { language, theme },
    );
    expect((await screen.findAllByText("Paper"))[0]).toBeVisible();
    const secrets = within(screen.getByRole("region", { name: language === "en" ? "Secrets" : "Secretos" }));
    expect(secrets.getByText("Cold wallet")).toBeVisible();
    expect(
      secrets.getAllByText(wholeText(language === "en" ? "Opened by: Garden" : "Se abre con: Garden")),
    ).toHaveLength(2);
    expect(
      secrets.getAllByText(wholeText(language === "en" ? "Not opened by: Paper" : "No se abre con: Paper")),
    ).toHaveLength(2);
    await expectAccessible();
  });

  it("warns if there is only one way to open", async () => {
    await renderPage();
    expect(await screen.findByText(/There is only one way to open your secrets/)).toBeVisible();
  });

  it("asks to unlock on a locked device", async () => {
    await renderPage({ unlocked: false });
    expect(await screen.findByRole("link", { name: "Unlock" })).toHaveAttribute(
      "href",
      "/provide-image-recovery?then=%2Fopeners",
    );
  });

  it("warns of a way to open whose slot the service does not return", async () => {
    await renderPage({ keys: [{ kind: "passkey", name: "Phone", credential: "7", hasSlot: false }] });
    expect(await screen.findByText(/The service does not provide what this needs/)).toBeVisible();
  });

  it("re-seals incomplete secrets with an opener, and invalidates lists of other screens", async () => {
    const { fakeVault, queryClient } = await renderPage({
      keys: [{ kind: "recovery_code", name: "Paper", credential: "x", opensExisting: false }],
    });
    await userEvent.click(await screen.findByRole("button", { name: "Add the missing ways" }));
    await userEvent.click(screen.getByRole("button", { name: "Add them to my secrets" }));
    expect(screen.getByText("Choose a picture, a recovery code or a passkey first.")).toBeVisible();
    await submitPicture("forest", "Add them to my secrets");
    expect(await screen.findByText(/This picture does not open it/)).toBeVisible();
    queryClient.setQueryData(["rows"], []);
    await submitPicture("garden", "Add them to my secrets");
    expect(await screen.findByText("2 secrets now open in every way.")).toBeVisible();
    await waitFor(() => {
      expect(screen.queryByText(/Not opened by/)).toBeNull();
    });
    expect(fakeVault.calls.filter((call) => call === "openers.resealForAllOpeners")).toHaveLength(2);
    expect(queryClient.getQueryState(["rows"])?.isInvalidated).toBe(true);
    await expectAccessible();
  });
});

describe("adding a recovery code", () => {
  it("shows 24 words once, asks for two of them, and adds the code with an existing opener", async () => {
    const { fakeVault } = await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "Make a recovery code" }));
    const words = within(await screen.findByRole("list", { name: "The 24 words" }))
      .getAllByRole("listitem")
      .map((item) => item.textContent);
    expect(words).toHaveLength(24);
    expect(screen.getByRole("list", { name: "The 24 words" })).toHaveAttribute("translate", "no");
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Print" }));
    await waitFor(() => {
      expect(window.print).toHaveBeenCalledTimes(1);
    });
    await userEvent.click(screen.getByRole("button", { name: "I have them on paper" }));
    const fields = screen.getAllByRole("textbox");
    expect(fields).toHaveLength(2);
    await userEvent.type(fields[0] ?? document.body, "zebras");
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    expect(screen.getAllByText("That is not the word. Look at the paper again.")).toHaveLength(2);
    for (const field of fields) {
      const [, number = ""] =
        /Word (\d+)/.exec(field instanceof HTMLInputElement ? (field.labels?.[0]?.textContent ?? "") : "") ?? [];
      await userEvent.clear(field);
      await userEvent.type(field, ` ${(words[Number(number) - 1] ?? "").toUpperCase()}`);
    }
    expect(fakeVault.calls).not.toContain("openers.add");
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    await userEvent.click(await screen.findByRole("button", { name: "Add the code" }));
    await submitPicture("garden", "Add the code");
    expect(await screen.findByText(/2 secrets do not open in all these ways yet/)).toBeVisible();
    expect(
      within(screen.getByRole("region", { name: "Ways to open" })).getByText("Recovery code on paper"),
    ).toBeVisible();
  });
});

describe("adding a passkey", () => {
  it("adds a passkey that this device creates", async () => {
    await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "Make a passkey" }));
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Make the passkey" }));
    await userEvent.click(await screen.findByRole("button", { name: "Add the passkey" }));
    await submitPicture("garden", "Add the passkey");
    expect(await screen.findByText(/^Passkey, added/)).toBeVisible();
  });

  it("explains if the device has no PRF, and adds nothing", async () => {
    fakeDevice.passkey = "passkey_without_prf";
    const { fakeVault } = await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "Make a passkey" }));
    await userEvent.click(screen.getByRole("button", { name: "Make the passkey" }));
    expect(await screen.findByText(/can't make passkeys that open secrets/)).toBeVisible();
    expect(fakeVault.calls).not.toContain("openers.add");
  });
});

describe("presenting an opener other than a picture", () => {
  const keys = [
    { kind: "passkey", name: "Phone", credential: "7" },
    { kind: "recovery_code", name: "Paper", credential: recoveryWords },
    { kind: "recovery_code", name: "New", credential: "x", opensExisting: false },
  ] as const;
  const openResealPanel = async () => {
    await userEvent.click(await screen.findByRole("button", { name: "Add the missing ways" }));
  };

  it("accepts a passkey", async () => {
    await renderPage({ keys });
    await openResealPanel();
    await userEvent.click(await screen.findByRole("button", { name: "Use a passkey" }));
    await userEvent.click(screen.getByRole("button", { name: "Use the passkey" }));
    expect(await screen.findByText("The passkey is ready.")).toBeVisible();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Add them to my secrets" }));
    expect(await screen.findByText(/now open in every way/)).toBeVisible();
  });

  it("explains what to do without a passkey", async () => {
    fakeDevice.passkey = "cancelled";
    await renderPage({ keys });
    await openResealPanel();
    await userEvent.click(await screen.findByRole("button", { name: "Use a passkey" }));
    await userEvent.click(screen.getByRole("button", { name: "Use the passkey" }));
    expect(await screen.findByText(/No passkey was used/)).toBeVisible();
  });

  it("accepts a recovery code, and keeps the input after a wrong code", async () => {
    await renderPage({ keys });
    await openResealPanel();
    await userEvent.click(await screen.findByRole("button", { name: "Use a recovery code" }));
    const words = screen.getByRole("textbox", { name: "Recovery code" });
    await userEvent.type(words, recoveryWords.replace(/abandon$/, "ability"));
    await userEvent.click(screen.getByRole("button", { name: "Add them to my secrets" }));
    expect(await screen.findByText(/This recovery code opens nothing/)).toBeVisible();
    expect(words).toHaveValue(recoveryWords.replace(/abandon$/, "ability"));
    await expectAccessible();
    await userEvent.clear(words);
    await userEvent.type(words, recoveryWords);
    await userEvent.click(screen.getByRole("button", { name: "Add them to my secrets" }));
    await waitFor(() => {
      expect(screen.getByText(/now open in every way/)).toBeVisible();
    });
  });
});

describe("removing an opener", () => {
  const keys = [{ kind: "recovery_code", name: "Paper", credential: "x" }] as const;

  it("says what will open afterwards, and removes an opener with another one", async () => {
    await renderPage({ keys });
    await userEvent.click(await screen.findByRole("button", { name: "Remove Paper" }));
    expect(screen.getByText(wholeText("Your secrets will then open with: Garden."))).toBeVisible();
    await expectAccessible();
    await submitPicture("garden", "Use another way and remove");
    await waitFor(() => {
      expect(screen.queryByRole("button", { name: "Remove Paper" })).toBeNull();
    });
  });

  it("does not remove the last picture", async () => {
    await renderPage({ keys });
    await userEvent.click(await screen.findByRole("button", { name: "Remove Garden" }));
    expect(screen.getByText(/This is your last picture, and you need one/)).toBeVisible();
    expect(screen.queryByLabelText("Picture file")).toBeNull();
  });

  it("lists secrets that would be lost, and continues only if the loss is accepted", async () => {
    const vault = createRecoveryFakeVault({ ...defaultSettings, keys });
    const { openers, secrets } = await vault.openers.list();
    const [garden] = openers;
    const lostSecrets = secrets.slice(0, 1);
    if (garden === undefined) throw new TypeError("expected the account to have a picture");
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
    await userEvent.click(screen.getByRole("checkbox", { name: "I give up this secret for good" }));
    expect(await screen.findByLabelText("Picture file")).toBeInTheDocument();
    await expectAccessible();
  });
});

describe("the focus on the page of ways to open", () => {
  const getActiveElement = () => document.activeElement;

  it("moves through the steps for a lost device, and returns to the button or the list", async () => {
    await renderPage();
    const user = userEvent.setup();
    (await screen.findByRole("button", { name: "I lost a device" })).focus();
    await user.keyboard("{Enter}");
    expect(screen.getByRole("heading", { name: "I lost a device" })).toHaveFocus();
    await user.tab();
    await user.keyboard("{Enter}");
    expect(getActiveElement()).toHaveTextContent("Still to confirm: Garden. What you don't confirm is removed.");
    await user.click(screen.getByRole("button", { name: "Cancel" }));
    expect(await screen.findByRole("button", { name: "I lost a device" })).toHaveFocus();
    await user.keyboard("{Enter}");
    await user.click(screen.getByRole("button", { name: "Continue" }));
    await submitPicture("garden", "Use this one");
    await waitFor(() => {
      expect(getActiveElement()).toHaveTextContent("You have used every way. None will be removed.");
    });
    await user.click(screen.getByRole("button", { name: "Replace my keys" }));
    await waitFor(() => {
      expect(getActiveElement()).toHaveTextContent(/^Your keys are replaced/);
    });
    await user.click(screen.getByRole("button", { name: "Done" }));
    expect(await screen.findByRole("heading", { name: "Ways to open" })).toHaveFocus();
  });

  it("follows the steps of a recovery code, and moves to the list after an addition", async () => {
    await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "Make a recovery code" }));
    const words = (
      await within(await screen.findByRole("list", { name: "The 24 words" })).findAllByRole("listitem")
    ).map(({ textContent }) => textContent);
    await userEvent.click(screen.getByRole("button", { name: "I have them on paper" }));
    expect(getActiveElement()).toHaveTextContent("Type these two words from your paper");
    for (const field of screen.getAllByRole<HTMLInputElement>("textbox", { name: /^Word / })) {
      await userEvent.type(field, words[Number(/\d+/.exec(field.labels?.[0]?.textContent ?? "")?.[0]) - 1] ?? "");
    }
    await userEvent.click(screen.getByRole("button", { name: "Continue" }));
    expect(screen.getByRole("heading", { name: "Make a recovery code" })).toHaveFocus();
    await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
    expect(await screen.findByRole("button", { name: "Make a recovery code" })).toHaveFocus();
    await userEvent.click(screen.getByRole("button", { name: "Make a passkey" }));
    await userEvent.click(screen.getByRole("button", { name: "Make the passkey" }));
    await userEvent.click(await screen.findByRole("button", { name: "Add the passkey" }));
    await waitFor(() => {
      expect(getActiveElement()).toHaveTextContent(
        "To finish, confirm with a picture, passkey or recovery code that you already use.",
      );
    });
    await submitPicture("garden", "Add the passkey");
    expect(await screen.findByRole("heading", { name: "Ways to open" })).toHaveFocus();
  });

  it("returns from a panel to its button, or to the heading if the row may be gone", async () => {
    await renderPage({ keys: [{ kind: "recovery_code", name: "Paper", credential: "x" }] });
    await userEvent.click(await screen.findByRole("button", { name: "Change the passphrase of Garden" }));
    await userEvent.click(await screen.findByRole("button", { name: "Continue without a passphrase" }));
    expect(getActiveElement()).toHaveTextContent("Now use “Garden” with its current passphrase");
    await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
    expect(await screen.findByRole("button", { name: "Change the passphrase of Garden" })).toHaveFocus();
    await userEvent.click(screen.getByRole("button", { name: "Remove Paper" }));
    await submitPicture("garden", "Use another way and remove");
    await waitFor(() => {
      expect(screen.queryByText("Paper")).toBeNull();
    });
    expect(screen.getByRole("heading", { name: "Ways to open" })).toHaveFocus();
  });
});

describe("a lost device", () => {
  const keys = [
    { kind: "recovery_code", name: "Paper", credential: recoveryWords },
    { kind: "passkey", name: "Phone", credential: "7" },
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
  ] as const)("explains the consequences first, in %s and %s", async (language, theme) => {
    const { fakeVault } = await renderPage({ keys }, { language, theme });
    await userEvent.click(
      await screen.findByRole("button", { name: language === "en" ? "I lost a device" : "He perdido un dispositivo" }),
    );
    expect(
      screen.getByText(
        language === "en"
          ? /the lost device can't open anything new/
          : /no podrá abrir nada nuevo ni cambiar nada en tu nombre/,
      ),
    ).toBeVisible();
    expect(screen.getByRole("heading", { level: 2 })).toHaveFocus();
    expect(
      screen.getByText(language === "en" ? /copied there before can still be opened/ : /se podrá seguir abriendo/),
    ).toBeVisible();
    await expectAccessible();
    expect(fakeVault.calls).not.toContain("openers.recognise");
  });

  it("collects the openers to keep, and removes the others", async () => {
    const { fakeVault, queryClient } = await renderPage({ keys });
    await openLostDevicePanel();
    expect(
      screen.getByText(wholeText("Still to confirm: Garden, Paper, Phone. What you don't confirm is removed.")),
    ).toBeVisible();
    await userEvent.click(await screen.findByRole("button", { name: "Use a recovery code" }));
    await userEvent.type(await screen.findByLabelText("Recovery code"), recoveryWords);
    await userEvent.click(screen.getByRole("button", { name: "Use this one" }));
    expect(await screen.findByText(wholeText("“Paper” stays"))).toBeVisible();
    expect(screen.getByText("Use a picture too: one has to stay.")).toBeVisible();
    expect(screen.queryByRole("button", { name: "Replace my keys" })).toBeNull();
    expect(screen.queryByLabelText("Recovery code")).toBeNull();
    expect(document.activeElement).toHaveTextContent(/^Still to confirm: Garden, Phone/);
    await submitPicture("garden", "Use this one");
    expect(await screen.findByText(wholeText("“Garden” stays"))).toBeVisible();
    expect(screen.getByText(wholeText("Still to confirm: Phone. What you don't confirm is removed."))).toBeVisible();
    await submitPicture("garden", "Use this one");
    expect(await screen.findByText(wholeText("You have already used “Garden”."))).toBeVisible();
    await expectAccessible();
    queryClient.setQueryData(["rows"], []);
    await userEvent.click(screen.getByRole("button", { name: "Replace my keys" }));
    expect(await screen.findByText("Your keys are replaced")).toBeVisible();
    expect(queryClient.getQueryState(["rows"])?.isInvalidated).toBe(true);
    expect(screen.getByText(wholeText("Removed: Phone"))).toBeVisible();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Done" }));
    await screen.findByRole("region", { name: "Ways to open" });
    expect(screen.queryByText("Phone")).toBeNull();
    expect(fakeVault.calls.filter((call) => call === "openers.rotate")).toHaveLength(1);
  });

  it("shows a failure, and keeps the presented openers", async () => {
    const { fakeVault } = await renderPage();
    await openLostDevicePanel();
    await submitPicture("garden", "Use this one");
    expect(await screen.findByText("You have used every way. None will be removed.")).toBeVisible();
    fakeVault.failWith("openers.rotate", "state_conflict");
    await userEvent.click(screen.getByRole("button", { name: "Replace my keys" }));
    expect(await screen.findByRole("alert")).toBeVisible();
    fakeVault.failWith("openers.rotate", null);
    await userEvent.click(screen.getByRole("button", { name: "Replace my keys" }));
    expect(await screen.findByText("Your keys are replaced")).toBeVisible();
  });

  it("asks before it gives up secrets that no presented opener opens", async () => {
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
        {
          secretId: "deed",
          title: "Deed of the house",
          openerIds: ["forest"],
          missingOpenerIds: ["garden"],
          copyCheckedAt: null,
        },
      ],
    };
    const fakeVault = createRecoveryFakeVault(defaultSettings);
    const vault = {
      ...fakeVault,
      openers: { ...fakeVault.openers, recognise: () => Promise.resolve({ openerId: "garden" }) },
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
    await submitPicture("garden", "Use this one");
    expect(await screen.findByText("Deed of the house")).toBeVisible();
    expect(screen.queryByRole("button", { name: "Replace my keys" })).toBeNull();
    await userEvent.click(screen.getByRole("checkbox", { name: "I give up this secret for good" }));
    await userEvent.click(screen.getByRole("button", { name: "Replace my keys" }));
    expect(rotate).toHaveBeenCalledWith([expect.anything()], expect.objectContaining({ acceptedLosses: ["deed"] }));
  });
});

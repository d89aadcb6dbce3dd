import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useMemo, useState } from "react";

import { maxSmallContentBytes } from "@relicario/shared/api";
import {
  PortalContext,
  usePortal,
  type CallOptions,
  type PictureFieldProps,
  type NewSecretInput,
  type Vault,
} from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import {
  createFakeVault,
  expectAccessible,
  createPictureFile,
  renderApp,
  createOpenerHandle,
  type FakeVault,
  type FakeVaultSettings,
} from "@relicario/shared/testing";
import AddSecretPage from "./AddSecretPage.tsx";

async function renderPage(vault: FakeVault = createFakeVault(), settings: Parameters<typeof renderApp>[1] = {}) {
  const app = await renderApp(
    <main>
      <AddSecretPage />
    </main>,
    { vault, path: "/add-secret", routePattern: "/add-secret", ...settings },
  );
  return { vault, ...app };
}
const populatedVault: FakeVaultSettings = {
  images: [{ name: "Garden", picture: "garden" }],
  secrets: [{ title: "Keys", content: "x", tags: ["home"] }],
};

async function fillForm({ withPicture = true, confirmEmpty = true } = {}) {
  await userEvent.click(await screen.findByRole("textbox", { name: "Your secret" }));
  await userEvent.paste("abandon ability");
  await userEvent.click(screen.getByRole("textbox", { name: "Title" }));
  await userEvent.paste("Wallet");
  await userEvent.type(screen.getByLabelText("Tags"), "family,");
  if (withPicture) await userEvent.upload(screen.getByLabelText("Choose a picture"), createPictureFile("market"));
  if (confirmEmpty) await userEvent.click(screen.getByRole("checkbox"));
}
const save = () => userEvent.click(screen.getByRole("button", { name: "Protect" }));

/** A vault whose `protect` stays pending until it is aborted. */
function createPendingVault(settings?: FakeVaultSettings) {
  const fakeVault = createFakeVault(settings);
  const protectCalls: { request: NewSecretInput; options: CallOptions | undefined }[] = [];
  const vault: FakeVault = {
    ...fakeVault,
    protect: (request, options) => {
      protectCalls.push({ request, options });
      return new Promise((_resolve, reject) => {
        options?.signal?.addEventListener("abort", () => {
          reject(new PortalError("cancelled"));
        });
      });
    },
  };
  return { vault, protectCalls };
}

const garden = { id: "01890a5d-ac96-7000-8000-00000000000a", name: "Garden", createdAt: "2026-11-01T09:00:00.000Z" };

/** A picture field that recognises the picture as an image in use. */
function KnownImageField({ onChange, onRecognise }: PictureFieldProps) {
  const handleShow = () => {
    onChange(createOpenerHandle(createPictureFile("garden")));
    onRecognise?.(garden);
  };
  return (
    <button type="button" onClick={handleShow}>
      Show the garden
    </button>
  );
}

/** The page in a portal whose vault a press replaces. */
function PageWithNextVault({ nextVault }: { readonly nextVault: Promise<Vault> }) {
  const portal = usePortal();
  const [vault, setVault] = useState(portal.vault);
  const currentPortal = useMemo(() => ({ ...portal, vault }), [portal, vault]);
  return (
    <PortalContext.Provider value={currentPortal}>
      <button type="button" onClick={() => setVault(nextVault)}>
        Lose the vault
      </button>
      <AddSecretPage />
    </PortalContext.Provider>
  );
}

describe("AddSecretPage", () => {
  it("hides the name field for a picture in use, and ignores a name typed earlier", async () => {
    const { record, getLocation } = await renderPage({
      ...createFakeVault(populatedVault),
      PictureField: KnownImageField,
    });
    await fillForm({ withPicture: false, confirmEmpty: false });
    await userEvent.click(screen.getByRole("radio", { name: /A new picture/ }));
    await userEvent.clear(screen.getByLabelText("Name of the picture"));
    await userEvent.click(screen.getByRole("button", { name: "Show the garden" }));
    expect(screen.queryByLabelText("Name of the picture")).not.toBeInTheDocument();
    await expectAccessible();
    await save();
    await waitFor(() => {
      expect(getLocation()).not.toBe("/add-secret");
    });
    expect(record.notices).toEqual([{ tone: "success", text: "Your secret is protected." }]);
  });

  it("protects the first secret with a new picture, then opens the page on what to keep", async () => {
    const { vault, getLocation, record } = await renderPage();
    await fillForm();
    await expectAccessible();
    await save();
    await waitFor(() => {
      expect(getLocation()).toMatch(/^\/congrats\?secret=[0-9a-f-]{36}$/);
    });
    expect(record.notices).toEqual([{ tone: "success", text: "Your secret is protected." }]);
    expect(record.confirms).toEqual([]);
    const [row] = await vault.list();
    expect(row?.label).toMatchObject({ title: "Wallet", tags: ["family"], name: "secret.txt", contentKind: "text" });
  });

  it("requires confirmation that the account never had a secret", async () => {
    const { vault } = await renderPage();
    await fillForm({ confirmEmpty: false });
    await save();
    expect(await screen.findByText("Only you know this. Tick the box if it is true.")).toBeVisible();
    expect(vault.calls).not.toContain("protect");
    expect(
      screen.getByRole("checkbox", { name: "I have never protected anything in this account." }),
    ).not.toBeChecked();
  });

  it("shows an error at each incomplete field, and sends nothing", async () => {
    const { vault } = await renderPage();
    await screen.findByRole("textbox", { name: "Your secret" });
    await save();
    expect(await screen.findByText("Type what you want to protect.")).toBeVisible();
    expect(screen.getByText("Give it a title.")).toBeVisible();
    expect(screen.getByText(/Choose a picture that can be used/)).toBeVisible();
    expect(screen.getByRole("textbox", { name: "Your secret" })).toHaveFocus();
    expect(vault.calls).not.toContain("protect");
    await expectAccessible();
  });

  it("clears the title error when a file suggests the title", async () => {
    await renderPage(createFakeVault(populatedVault));
    await userEvent.click(await screen.findByRole("radio", { name: "File" }));
    await save();
    expect(await screen.findByText("Give it a title.")).toBeVisible();
    await userEvent.upload(screen.getByLabelText("File to protect"), new File(["x"], "scan.pdf"));
    expect(screen.getByRole("textbox", { name: "Title" })).toHaveValue("scan");
    await waitFor(() => {
      expect(screen.queryByText("Give it a title.")).not.toBeInTheDocument();
    });
    expect(screen.getByRole("textbox", { name: "Title" })).toBeValid();
  });

  it("protects with an image in use, then returns to the list", async () => {
    const { vault, getLocation } = await renderPage(createFakeVault(populatedVault));
    await fillForm({ withPicture: false, confirmEmpty: false });
    expect(screen.getByRole("radio", { name: "Your picture “Garden”" })).toBeChecked();
    await save();
    await waitFor(() => {
      expect(getLocation()).toBe("/secrets");
    });
    expect(await vault.listImages()).toHaveLength(1);
  });

  it("adds a new image to the images in use", async () => {
    const { vault } = await renderPage(createFakeVault(populatedVault));
    // an opener was presented since the page loaded
    await vault.openers.recognise(createOpenerHandle(createPictureFile("garden")));
    await screen.findByRole("radio", { name: "A new picture" });
    await userEvent.click(screen.getByRole("radio", { name: "A new picture" }));
    await fillForm({ confirmEmpty: false });
    await save();
    await waitFor(async () => {
      expect((await vault.listImages()).map(({ name }) => name)).toEqual(["Garden", "Picture 2"]);
    });
  });

  it("keeps what was typed while the vault's frame is loaded again, and asks for the picture again", async () => {
    let load: (vault: Vault) => void = () => undefined;
    const nextVault = new Promise<Vault>((resolve) => (load = resolve));
    await renderApp(<PageWithNextVault nextVault={nextVault} />, {
      vault: createFakeVault(),
      path: "/add-secret",
      routePattern: "/add-secret",
    });
    await fillForm();
    await userEvent.click(screen.getByRole("button", { name: "Lose the vault" }));
    expect(screen.getByRole("textbox", { name: "Title" })).toHaveValue("Wallet");
    expect(screen.queryByLabelText("Choose a picture")).not.toBeInTheDocument();

    const vault = createFakeVault();
    await act(async () => {
      load(vault);
      await nextVault;
    });
    expect(screen.getByRole("textbox", { name: "Your secret" })).toHaveValue("abandon ability");
    await save();
    expect(await screen.findByText(/Choose a picture that can be used/)).toBeVisible();
    await userEvent.upload(screen.getByLabelText("Choose a picture"), createPictureFile("market"));
    await save();
    await waitFor(async () => {
      expect((await vault.list()).map(({ label }) => label?.title)).toEqual(["Wallet"]);
    });
  });

  it("asks to unlock on a locked device", async () => {
    await renderPage(createFakeVault({ ...populatedVault, unlocked: false }));
    expect(await screen.findByRole("link", { name: "Unlock with your picture" })).toHaveAttribute(
      "href",
      "/provide-image-recovery?then=%2Fadd-secret",
    );
    expect(screen.queryByRole("textbox")).not.toBeInTheDocument();
    await expectAccessible();
  });

  it("sends a text as the file secret.txt, in one request", async () => {
    const { vault, protectCalls } = createPendingVault(populatedVault);
    await renderPage(vault);
    await fillForm({ withPicture: false, confirmEmpty: false });
    await save();
    await waitFor(() => {
      expect(protectCalls).toHaveLength(1);
    });
    expect(protectCalls[0]?.request).toMatchObject({
      contentKind: "text",
      name: "secret.txt",
      mime: "text/plain",
      content: { size: "abandon ability".length },
    });
    expect(screen.queryByText(/You can go to another page/)).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
    await waitFor(() => {
      expect(screen.queryByRole("progressbar")).not.toBeInTheDocument();
    });
    expect(protectCalls[0]?.options?.signal?.aborted).toBe(true);
  });

  it.each([
    ["a small file", 1_000, false],
    ["the largest small file", maxSmallContentBytes, false],
    ["a file that is sent in parts", maxSmallContentBytes + 1, true],
  ])("sends %s unchanged, as a file instead of a text", async (_, size, inBackground) => {
    const { vault, protectCalls } = createPendingVault(populatedVault);
    await renderPage(vault);
    await userEvent.click(await screen.findByRole("radio", { name: "File" }));
    const file = new File([new Uint8Array(size)], "scan.pdf", { type: "application/pdf" });
    await userEvent.upload(screen.getByLabelText("File to protect"), file);
    expect(screen.getByRole("textbox", { name: "Title" })).toHaveValue("scan");
    await save();
    await waitFor(() => {
      expect(protectCalls).toHaveLength(1);
    });
    expect(protectCalls[0]?.request).toMatchObject({
      contentKind: "file",
      name: "scan.pdf",
      mime: "application/pdf",
      title: "scan",
    });
    expect(protectCalls[0]?.request.content).toBe(file);
    expect(screen.queryByText(/You can go to another page/) !== null).toBe(inBackground);
    await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
    await waitFor(() => {
      expect(screen.queryByRole("progressbar")).not.toBeInTheDocument();
    });
    expect(protectCalls[0]?.options?.signal?.aborted).toBe(true);
  });

  it("continues to upload a large file when the page is left, without a question", async () => {
    const { vault, protectCalls } = createPendingVault(populatedVault);
    const { goTo, getLocation, record } = await renderPage(vault);
    await userEvent.click(await screen.findByRole("radio", { name: "File" }));
    await userEvent.upload(
      screen.getByLabelText("File to protect"),
      new File([new Uint8Array(maxSmallContentBytes + 1)], "film.mp4"),
    );
    await save();
    await screen.findByText(/You can go to another page/);
    await goTo("/home");
    expect(getLocation()).toBe("/home");
    expect(record.confirms).toEqual([]);
    expect(protectCalls[0]?.options?.signal?.aborted).toBe(false);
  });

  it("protects a seed phrase with its kind", async () => {
    const { vault, getLocation } = await renderPage(createFakeVault(populatedVault));
    await userEvent.click(await screen.findByRole("radio", { name: "Seed phrase" }));
    await userEvent.click(screen.getByRole("textbox", { name: "Your seed phrase" }));
    await userEvent.paste(`${"abandon ".repeat(11)}about`);
    expect(await screen.findByText("12 words in English: the phrase is valid.")).toBeVisible();
    await userEvent.type(screen.getByRole("textbox", { name: "Title" }), "Wallet");
    await save();
    await waitFor(() => {
      expect(getLocation()).toBe("/secrets");
    });
    expect((await vault.list()).find(({ label }) => label?.title === "Wallet")?.label).toMatchObject({
      contentKind: "seed",
      name: "secret.txt",
    });
  });

  it("protects a record, once it has a value and none of its fields is wrong", async () => {
    const { vault, getLocation } = await renderPage(createFakeVault(populatedVault));
    await userEvent.click(await screen.findByRole("radio", { name: "Record" }));
    await userEvent.type(screen.getByRole("textbox", { name: "Title" }), "Mail");
    await save();
    expect(await screen.findByText("Give at least one field a value.")).toBeVisible();
    await userEvent.type(within(screen.getByRole("group", { name: "Field 1" })).getByLabelText("Value"), "ana");
    await userEvent.clear(within(screen.getByRole("group", { name: "Field 1" })).getByLabelText("Name"));
    expect(await screen.findByText("Give this field a name.")).toBeVisible();
    await expectAccessible();
    await userEvent.type(within(screen.getByRole("group", { name: "Field 1" })).getByLabelText("Name"), "User");
    await save();
    await waitFor(() => {
      expect(getLocation()).toBe("/secrets");
    });
    expect((await vault.list()).find(({ label }) => label?.title === "Mail")?.label).toMatchObject({
      contentKind: "record",
      name: "record.json",
    });
  });

  it("keeps the input when the kind is changed and changed back", async () => {
    await renderPage(createFakeVault(populatedVault));
    await userEvent.type(await screen.findByRole("textbox", { name: "Your secret" }), "words");
    await userEvent.click(screen.getByRole("radio", { name: "File" }));
    expect(screen.queryByRole("textbox", { name: "Your secret" })).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("radio", { name: "Text" }));
    expect(screen.getByRole("textbox", { name: "Your secret" })).toHaveValue("words");
  });

  it("shows the progress of each phase, and keeps the input after a cancel", async () => {
    const { vault, protectCalls } = createPendingVault();
    await renderPage(vault);
    await fillForm();
    await save();
    act(() => protectCalls[0]?.options?.onProgress?.({ phase: "sealing", done: 1, total: 2 }));
    expect(screen.getByRole("progressbar", { name: "Encrypting" })).toHaveAttribute("aria-valuenow", "50");
    expect(screen.getByRole("textbox", { name: "Title" })).toBeDisabled();
    await expectAccessible();

    await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
    await waitFor(() => {
      expect(screen.queryByRole("progressbar")).not.toBeInTheDocument();
    });
    expect(screen.queryByRole("alert")).not.toBeInTheDocument();
    expect(screen.getByRole("textbox", { name: "Your secret" })).toHaveValue("abandon ability");
  });

  it.each([
    ["service_unavailable", "The service is not responding"],
    ["token_expired", "Your sign-in has ended"],
    ["quota_exceeded", "Your storage is full"],
    ["state_conflict", "Another device is changing your account"],
  ] as const)("keeps the input when saving fails (%s)", async (code, text) => {
    const vault = createFakeVault();
    vault.failWith("protect", code);
    await renderPage(vault);
    await fillForm();
    await save();
    expect(await screen.findByRole("alert")).toHaveTextContent(text);
    expect(screen.getByRole("textbox", { name: "Your secret" })).toHaveValue("abandon ability");
    expect(screen.getByRole("textbox", { name: "Title" })).toHaveValue("Wallet");
    vault.failWith("protect", null);
    await save();
    await waitFor(() => {
      expect(vault.calls.filter((call) => call === "protect")).toHaveLength(2);
    });
  });

  it("asks for a picture in use before adding another, and keeps the input", async () => {
    const vault = createFakeVault(populatedVault);
    vault.failWith("protect", "show_opener_first");
    await renderPage(vault);
    await userEvent.click(await screen.findByRole("radio", { name: /^A new picture/ }));
    await fillForm({ confirmEmpty: false });
    await save();
    const openerPrompt = await screen.findByRole("region", { name: "First show one way to open" });
    await expectAccessible();
    const showButton = within(openerPrompt).getByRole("button", { name: "Use it and save" });
    await userEvent.click(showButton);
    expect(within(openerPrompt).getByText("Choose a picture, a recovery code or a passkey first.")).toBeInTheDocument();
    expect(vault.calls).not.toContain("unlock");
    await userEvent.upload(within(openerPrompt).getByLabelText("Choose a picture"), createPictureFile("forest"));
    await userEvent.click(showButton);
    expect(await within(openerPrompt).findByRole("alert")).toHaveTextContent(/picture/);
    vault.failWith("protect", null);
    await userEvent.upload(within(openerPrompt).getByLabelText("Choose a picture"), createPictureFile("garden"));
    await userEvent.click(showButton);
    await waitFor(() => {
      expect(vault.calls.filter((call) => call === "protect")).toHaveLength(2);
    });
    expect(vault.calls).toContain("unlock");
  });

  it("shows a picture error at the picture field", async () => {
    const vault = createFakeVault();
    vault.failWith("protect", "picture_too_plain");
    await renderPage(vault);
    await fillForm();
    await save();
    const alerts = await screen.findAllByRole("alert");
    expect(alerts).toHaveLength(1);
    expect(screen.getByRole("group", { name: "Picture" })).toContainElement(alerts[0] ?? null);
  });

  it("asks before input is lost", async () => {
    const { record, goTo, getLocation } = await renderPage(createFakeVault(), { confirmAnswer: false });
    await userEvent.type(await screen.findByRole("textbox", { name: "Title" }), "Wallet");
    await goTo("/home");
    await waitFor(() => {
      expect(record.confirms).toHaveLength(1);
    });
    expect(getLocation()).toBe("/add-secret");
    expect(screen.getByRole("textbox", { name: "Title" })).toHaveValue("Wallet");
  });

  it('warns on leaving while sealing, with "Stay" as the main answer', async () => {
    const { vault } = createPendingVault();
    const { record, goTo, getLocation } = await renderPage(vault, { confirmAnswer: false });
    await fillForm();
    await save();
    await goTo("/home");
    await waitFor(() => {
      expect(record.confirms).toEqual([
        expect.objectContaining({
          title: "It is still being encrypted",
          confirmLabel: "Leave",
          cancelLabel: "Stay",
          danger: true,
        }),
      ]);
    });
    expect(getLocation()).toBe("/add-secret");
  });

  it("leaves after a confirmation, or without a question if nothing was typed", async () => {
    const editedPage = await renderPage();
    await userEvent.type(await screen.findByRole("textbox", { name: "Title" }), "Wallet");
    await editedPage.goTo("/home");
    await waitFor(() => {
      expect(editedPage.getLocation()).toBe("/home");
    });
    editedPage.unmount();

    const untouchedPage = await renderPage();
    await screen.findByRole("textbox", { name: "Title" });
    await untouchedPage.goTo("/home");
    expect(untouchedPage.getLocation()).toBe("/home");
    expect(untouchedPage.record.confirms).toEqual([]);
  });

  it("blocks closing the page while input is unsaved", async () => {
    await renderPage();
    const isCloseBlocked = () => {
      const event = new Event("beforeunload", { cancelable: true });
      window.dispatchEvent(event);
      return event.defaultPrevented;
    };
    await screen.findByRole("textbox", { name: "Title" });
    expect(isCloseBlocked()).toBe(false);
    await userEvent.type(screen.getByRole("textbox", { name: "Title" }), "W");
    expect(isCloseBlocked()).toBe(true);
  });

  it("cancels the save on unmount", async () => {
    const { vault, protectCalls } = createPendingVault();
    const { unmount } = await renderPage(vault);
    await fillForm();
    await save();
    unmount();
    expect(protectCalls[0]?.options?.signal?.aborted).toBe(true);
  });

  it("drops the input on lock", async () => {
    const vault = createFakeVault(populatedVault);
    const { record } = await renderPage(vault);
    await userEvent.type(await screen.findByRole("textbox", { name: "Your secret" }), "abandon");
    await act(async () => {
      for (const listener of record.lockListeners) await listener("lock");
      await vault.lock();
    });
    expect(await screen.findByRole("link", { name: "Unlock with your picture" })).toBeVisible();
    expect(screen.queryByDisplayValue("abandon")).not.toBeInTheDocument();
  });

  it("disables spell check and autocomplete", async () => {
    await renderPage();
    const text = await screen.findByRole("textbox", { name: "Your secret" });
    expect(text).toHaveAttribute("spellcheck", "false");
    expect(text).toHaveAttribute("autocomplete", "off");
    expect(screen.getByRole("textbox", { name: "Title" })).toHaveAttribute("spellcheck", "false");
  });

  it("renders in Spanish and in the dark theme", async () => {
    await renderPage(createFakeVault(), { language: "es", theme: "dark" });
    expect(await screen.findByRole("textbox", { name: "Tu secreto" })).toBeVisible();
    expect(screen.getByText(/Esta cuenta todavía no tiene secretos/)).toBeVisible();
    await expectAccessible();
  });

  it("shows that the vault did not load", async () => {
    await renderApp(<AddSecretPage />, { vault: Promise.reject(new PortalError("vault_unavailable")) });
    expect(await screen.findByRole("alert")).toHaveTextContent("did not load");
  });
});

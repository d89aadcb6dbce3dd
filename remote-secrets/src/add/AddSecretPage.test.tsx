import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { maxSmallContentBytes } from "@relicario/shared/api";
import type { CallOptions, PictureFieldProps, NewSecretInput } from "@relicario/shared/contract";
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
    { vault, path: "/add-secret", route: "/add-secret", ...settings },
  );
  return { vault, ...app };
}
const populatedVault: FakeVaultSettings = {
  images: [{ name: "Garden", picture: "garden" }],
  secrets: [{ title: "Keys", content: "x", tags: ["home"] }],
};

async function fillForm({ withPicture = true, promise = true } = {}) {
  await userEvent.click(await screen.findByRole("textbox", { name: "Your secret" }));
  await userEvent.paste("abandon ability");
  await userEvent.click(screen.getByRole("textbox", { name: "Title" }));
  await userEvent.paste("Wallet");
  await userEvent.type(screen.getByLabelText("Tags"), "family,");
  if (withPicture) await userEvent.upload(screen.getByLabelText("Choose a picture"), createPictureFile("market"));
  if (promise) await userEvent.click(screen.getByRole("checkbox"));
}
const save = () => userEvent.click(screen.getByRole("button", { name: "Protect" }));

/** A vault that goes on protecting until it is told to stop. */
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

/** The field, when the picture that is chosen turns out to be an image in use. */
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

describe("AddSecretPage", () => {
  it("asks for no name of a picture that is in use already, whatever was typed before", async () => {
    const { record, location } = await renderPage({
      ...createFakeVault(populatedVault),
      PictureField: KnownImageField,
    });
    await fillForm({ withPicture: false, promise: false });
    await userEvent.click(screen.getByRole("radio", { name: /A new image/ }));
    await userEvent.clear(screen.getByLabelText("Name of the image"));
    await userEvent.click(screen.getByRole("button", { name: "Show the garden" }));
    expect(screen.queryByLabelText("Name of the image")).not.toBeInTheDocument();
    await expectAccessible();
    await save();
    await waitFor(() => {
      expect(location()).not.toBe("/add-secret");
    });
    expect(record.notices).toEqual([{ tone: "success", text: "Your secret is protected." }]);
  });

  it("protects the first secret behind a new picture, and goes on to what to keep", async () => {
    const { vault, location, record } = await renderPage();
    await fillForm();
    await expectAccessible();
    await save();
    await waitFor(() => {
      expect(location()).toMatch(/^\/congrats\?secret=[0-9a-f-]{36}$/);
    });
    expect(record.notices).toEqual([{ tone: "success", text: "Your secret is protected." }]);
    expect(record.confirms).toEqual([]);
    const [row] = await vault.list();
    expect(row?.label).toMatchObject({ title: "Wallet", tags: ["family"], name: "secret.txt", contentKind: "text" });
  });

  it("asks for the promise that nothing was protected before", async () => {
    const { vault } = await renderPage();
    await fillForm({ promise: false });
    await save();
    expect(await screen.findByText("Only you can know this. Tick it if it is true.")).toBeVisible();
    expect(vault.calls).not.toContain("protect");
    expect(
      screen.getByRole("checkbox", { name: "I have not protected anything in this account before." }),
    ).not.toBeChecked();
  });

  it("says beside each field what is missing, and sends nothing", async () => {
    const { vault } = await renderPage();
    await screen.findByRole("textbox", { name: "Your secret" });
    await save();
    expect(await screen.findByText("Type what you want to protect.")).toBeVisible();
    expect(screen.getByText("Give it a title.")).toBeVisible();
    expect(screen.getByText(/Choose a picture that is good enough/)).toBeVisible();
    expect(screen.getByRole("textbox", { name: "Your secret" })).toHaveFocus();
    expect(vault.calls).not.toContain("protect");
    await expectAccessible();
  });

  it("no longer asks for a title once the chosen file has given one", async () => {
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

  it("uses an image again, and goes back to the list", async () => {
    const { vault, location } = await renderPage(createFakeVault(populatedVault));
    await fillForm({ withPicture: false, promise: false });
    expect(screen.getByRole("radio", { name: "Your image “Garden”" })).toBeChecked();
    await save();
    await waitFor(() => {
      expect(location()).toBe("/secrets");
    });
    expect(await vault.listImages()).toHaveLength(1);
  });

  it("takes a new image beside those in use", async () => {
    const { vault } = await renderPage(createFakeVault(populatedVault));
    await vault.openers.recognise(createOpenerHandle(createPictureFile("garden"))); // one was shown on this page before
    await screen.findByRole("radio", { name: "A new image" });
    await userEvent.click(screen.getByRole("radio", { name: "A new image" }));
    await fillForm({ promise: false });
    await save();
    await waitFor(async () => {
      expect((await vault.listImages()).map(({ name }) => name)).toEqual(["Garden", "Image 2"]);
    });
  });

  it("unlocks first on a locked device", async () => {
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
    await fillForm({ withPicture: false, promise: false });
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
    ["a file that goes in parts", maxSmallContentBytes + 1, true],
  ])("sends %s as it is, and not as a text", async (_, size, large) => {
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
    expect(screen.queryByText(/You can go to another page/) !== null).toBe(large);
    await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
    await waitFor(() => {
      expect(screen.queryByRole("progressbar")).not.toBeInTheDocument();
    });
    expect(protectCalls[0]?.options?.signal?.aborted).toBe(true);
  });

  it("lets a large file go on when the page is left, without asking", async () => {
    const { vault, protectCalls } = createPendingVault(populatedVault);
    const { goTo, location, record } = await renderPage(vault);
    await userEvent.click(await screen.findByRole("radio", { name: "File" }));
    await userEvent.upload(
      screen.getByLabelText("File to protect"),
      new File([new Uint8Array(maxSmallContentBytes + 1)], "film.mp4"),
    );
    await save();
    await screen.findByText(/You can go to another page/);
    await goTo("/home");
    expect(location()).toBe("/home");
    expect(record.confirms).toEqual([]);
    expect(protectCalls[0]?.options?.signal?.aborted).toBe(false);
  });

  it("protects a seed phrase as one", async () => {
    const { vault, location } = await renderPage(createFakeVault(populatedVault));
    await userEvent.click(await screen.findByRole("radio", { name: "Seed phrase" }));
    await userEvent.click(screen.getByRole("textbox", { name: "Your seed phrase" }));
    await userEvent.paste(`${"abandon ".repeat(11)}about`);
    expect(await screen.findByText("12 words in English, and they fit together.")).toBeVisible();
    await userEvent.type(screen.getByRole("textbox", { name: "Title" }), "Wallet");
    await save();
    await waitFor(() => {
      expect(location()).toBe("/secrets");
    });
    expect((await vault.list()).find(({ label }) => label?.title === "Wallet")?.label).toMatchObject({
      contentKind: "seed",
      name: "secret.txt",
    });
  });

  it("loses nothing when the kind is changed and changed back", async () => {
    await renderPage(createFakeVault(populatedVault));
    await userEvent.type(await screen.findByRole("textbox", { name: "Your secret" }), "words");
    await userEvent.click(screen.getByRole("radio", { name: "File" }));
    expect(screen.queryByRole("textbox", { name: "Your secret" })).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("radio", { name: "Text" }));
    expect(screen.getByRole("textbox", { name: "Your secret" })).toHaveValue("words");
  });

  it("shows progress by phase, and cancels with everything kept", async () => {
    const { vault, protectCalls } = createPendingVault();
    await renderPage(vault);
    await fillForm();
    await save();
    act(() => protectCalls[0]?.options?.onProgress?.({ phase: "sealing", done: 1, total: 2 }));
    expect(screen.getByRole("progressbar", { name: "Sealing" })).toHaveAttribute("aria-valuenow", "50");
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
    ["service_unavailable", "The service does not answer right now"],
    ["token_expired", "Your session has ended"],
    ["quota_exceeded", "Your storage is full"],
    ["state_conflict", "Another device is changing your account"],
  ] as const)("keeps what was typed when saving fails (%s)", async (code, text) => {
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

  it("asks for a picture in use before it adds another on a device that shows titles without one, and keeps what was typed", async () => {
    const vault = createFakeVault(populatedVault);
    vault.failWith("protect", "show_opener_first");
    await renderPage(vault);
    await userEvent.click(await screen.findByRole("radio", { name: /^A new image/ }));
    await fillForm({ promise: false });
    await save();
    const openerPrompt = await screen.findByRole("region", { name: "First show a picture that you use already" });
    await expectAccessible();
    const showButton = within(openerPrompt).getByRole("button", { name: "Show it and save" });
    await userEvent.click(showButton);
    expect(within(openerPrompt).getByText("Choose the picture first.")).toBeInTheDocument();
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

  it("says at the picture what is wrong with the picture", async () => {
    const vault = createFakeVault();
    vault.failWith("protect", "picture_too_plain");
    await renderPage(vault);
    await fillForm();
    await save();
    const alerts = await screen.findAllByRole("alert");
    expect(alerts).toHaveLength(1);
    expect(screen.getByRole("group", { name: "Picture" })).toContainElement(alerts[0] ?? null);
  });

  it("asks before what was typed is lost", async () => {
    const { record, goTo, location } = await renderPage(createFakeVault(), { confirmAnswer: false });
    await userEvent.type(await screen.findByRole("textbox", { name: "Title" }), "Wallet");
    await goTo("/home");
    await waitFor(() => {
      expect(record.confirms).toHaveLength(1);
    });
    expect(location()).toBe("/add-secret");
    expect(screen.getByRole("textbox", { name: "Title" })).toHaveValue("Wallet");
  });

  it("says that it is still being sealed, and makes staying the main answer", async () => {
    const { vault } = createPendingVault();
    const { record, goTo, location } = await renderPage(vault, { confirmAnswer: false });
    await fillForm();
    await save();
    await goTo("/home");
    await waitFor(() => {
      expect(record.confirms).toEqual([
        expect.objectContaining({
          title: "It is still being sealed",
          confirmLabel: "Leave",
          cancelLabel: "Stay",
          danger: true,
        }),
      ]);
    });
    expect(location()).toBe("/add-secret");
  });

  it("leaves when the person says so, and without asking when nothing was typed", async () => {
    const editedPage = await renderPage();
    await userEvent.type(await screen.findByRole("textbox", { name: "Title" }), "Wallet");
    await editedPage.goTo("/home");
    await waitFor(() => {
      expect(editedPage.location()).toBe("/home");
    });
    editedPage.unmount();

    const untouchedPage = await renderPage();
    await screen.findByRole("textbox", { name: "Title" });
    await untouchedPage.goTo("/home");
    expect(untouchedPage.location()).toBe("/home");
    expect(untouchedPage.record.confirms).toEqual([]);
  });

  it("warns at closing the page while something is unsaved", async () => {
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

  it("ends what is under way when the page is left", async () => {
    const { vault, protectCalls } = createPendingVault();
    const { unmount } = await renderPage(vault);
    await fillForm();
    await save();
    unmount();
    expect(protectCalls[0]?.options?.signal?.aborted).toBe(true);
  });

  it("drops what was typed when the portal locks", async () => {
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

  it("lets no browser correct, keep or look up what is typed", async () => {
    await renderPage();
    const text = await screen.findByRole("textbox", { name: "Your secret" });
    expect(text).toHaveAttribute("spellcheck", "false");
    expect(text).toHaveAttribute("autocomplete", "off");
    expect(screen.getByRole("textbox", { name: "Title" })).toHaveAttribute("spellcheck", "false");
  });

  it("is whole in Spanish and in the dark", async () => {
    await renderPage(createFakeVault(), { language: "es", theme: "dark" });
    expect(await screen.findByRole("textbox", { name: "Tu secreto" })).toBeVisible();
    expect(screen.getByText(/Aquí todavía no hay nada guardado/)).toBeVisible();
    await expectAccessible();
  });

  it("says that the vault did not load", async () => {
    await renderApp(<AddSecretPage />, { vault: Promise.reject(new PortalError("vault_unavailable")) });
    expect(await screen.findByRole("alert")).toHaveTextContent("did not load");
  });
});

import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";

import type { CallOptions, PictureFieldProps, RecoveryImage, OpenerHandle } from "@relicario/shared/contract";
import { expectAccessible, createPictureFile, renderApp, wholeText } from "@relicario/shared/testing";
import type { PictureVerdict } from "@relicario/vault/element";

import { mockCamera, mockWindows, removeCamera, type FakeWindow } from "../testing/fake-camera.ts";
import {
  createRecoveryFakeVault,
  type RecoveryFakeVault,
  type RecoveryFakeVaultSettings,
} from "../testing/recovery-fake-vault.tsx";

let currentHandle: OpenerHandle | null = null;
let knownImage: RecoveryImage | null = null;
/** What the current handle presents. */
const getCurrentPicture = () => (currentHandle === null ? null : currentVault.getPresented(currentHandle));
let currentVault: RecoveryFakeVault;

function Form({ purpose, ...props }: Pick<PictureFieldProps, "purpose"> & Partial<PictureFieldProps>) {
  const { PictureField } = currentVault;
  const [value, setValue] = useState<OpenerHandle | null>(null);
  return (
    <main>
      <h1>Form</h1>
      <h2>Image</h2>
      <PictureField
        {...props}
        purpose={purpose}
        value={value}
        onChange={(next) => {
          currentHandle = next;
          setValue(next);
        }}
        onRecognise={(image) => {
          knownImage = image;
        }}
      />
    </main>
  );
}

async function renderField(
  purpose: "choose" | "show" = "choose",
  vaultSettings: RecoveryFakeVaultSettings = {},
  settings: Parameters<typeof renderApp>[1] = {},
  props: Partial<PictureFieldProps> = {},
) {
  const vault = createRecoveryFakeVault({
    verdicts: {
      amber: { level: "amber", reasons: ["spread"] },
      pale: { level: "amber", reasons: ["copy_bright", "copy_small"] },
      dull: { level: "amber", reasons: ["estimate", "copy_small"] },
      drawing: { level: "amber", reasons: ["drawn"] },
      cutout: { level: "red", reasons: ["transparent"] },
      red: { level: "red", reasons: ["too_small", "median", "tenth"] },
      crop: { known: { kind: "resembles", image: null } },
    },
    ...vaultSettings,
  });
  currentVault = vault;
  const app = await renderApp(<Form purpose={purpose} {...props} />, { vault, ...settings });
  await screen.findAllByRole("group");
  return { vault, ...app };
}
const choosePicture = (file: File) =>
  userEvent.upload(screen.getByLabelText("Picture file"), file, { applyAccept: false });

/** Acts as the camera's window, which gets no answer because it is closed. */
function answer(name: string, value: unknown): void {
  act(() => {
    void windows.at(-1)?.document.call("elementPage", [name], [value]);
  });
}
const capture = (text: string): void => {
  answer("done", createPictureFile(text));
};
afterEach(() => {
  removeCamera();
  Reflect.deleteProperty(HTMLInputElement.prototype, "capture");
  jest.restoreAllMocks();
});

let windows: readonly FakeWindow[];
beforeEach(() => {
  windows = mockWindows();
  currentHandle = null;
  knownImage = null;
  let urlCount = 0;
  // jsdom has no object URLs
  URL.createObjectURL = jest.fn(() => `blob:test/${String(++urlCount)}`);
  URL.revokeObjectURL = jest.fn();
});

describe("PictureField for choosing", () => {
  it("accepts a good picture, and asks for a passphrase twice", async () => {
    await renderField();
    await choosePicture(createPictureFile("garden"));
    expect(await screen.findByText("This picture has enough detail")).toBeVisible();
    expect(currentHandle).toBeNull();
    await userEvent.type(screen.getByLabelText("Passphrase"), " four words ");
    expect(currentHandle).toBeNull();
    await userEvent.type(screen.getByLabelText("Repeat the passphrase"), " four words ");
    expect(getCurrentPicture()).toMatchObject({ passphrase: " four words " });
    await expectAccessible();
  });

  it("loses nothing of a pasted passphrase while its strength is estimated", async () => {
    await renderField();
    await choosePicture(createPictureFile("garden"));
    await userEvent.click(await screen.findByLabelText("Passphrase"));
    await userEvent.paste("walnut harbour tin seventeen quilt");
    await userEvent.click(screen.getByLabelText("Repeat the passphrase"));
    await userEvent.paste("walnut harbour tin seventeen quilt");
    expect(await screen.findByText("Strength: Strong.")).toBeVisible();
    await waitFor(() => {
      expect(getCurrentPicture()).toMatchObject({ passphrase: "walnut harbour tin seventeen quilt" });
    });
  });

  it("refuses a passphrase that is easy to guess, and proposes five words, which it shows", async () => {
    await renderField();
    await choosePicture(createPictureFile("amber"));
    for (const label of ["Passphrase", "Repeat the passphrase"]) {
      await userEvent.click(await screen.findByLabelText(label));
      await userEvent.paste("harbour");
    }
    expect(await screen.findByText(/Too easy to guess: it is not accepted/)).toBeVisible();
    expect(currentHandle).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "Propose one" }));
    const proposal = (await screen.findByLabelText("Proposed passphrase")).textContent;
    expect(proposal.split(" ")).toHaveLength(5);
    expect(screen.getByLabelText("Passphrase")).toHaveValue(proposal);
    await userEvent.click(screen.getByLabelText("Repeat the passphrase"));
    await userEvent.paste(proposal);
    await waitFor(() => {
      expect(getCurrentPicture()).toMatchObject({ passphrase: proposal });
    });
    await expectAccessible();
  });

  it("rates a passphrase with the words of every language", async () => {
    await renderField();
    await choosePicture(createPictureFile("garden"));
    const field = await screen.findByLabelText("Passphrase");
    await userEvent.type(field, "password");
    expect(await screen.findByText(/Strength: (Guessed at once|Very weak)/)).toBeVisible();
    expect(screen.getByText(/Add one or two more unrelated words/)).toBeVisible();
    await userEvent.clear(field);
    await userEvent.type(field, "walnut harbour tin seventeen quilt");
    expect(await screen.findByText("Strength: Strong.")).toBeVisible();
    await expectAccessible();
  });

  it("takes a picture in a window of its own, and asks to save it", async () => {
    mockCamera(() => Promise.reject(new TypeError("an element has no camera")));
    const clickAnchor = jest.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(() => undefined);
    await renderField("choose", {}, { language: "en", theme: "dark" });
    await userEvent.click(screen.getByRole("tab", { name: "Take picture" }));
    expect(windows).toEqual([]);
    await userEvent.click(screen.getByRole("button", { name: "Open the camera" }));
    expect(screen.getByText("The camera is open in a window of its own.")).toBeVisible();
    await expectAccessible();
    expect(windows).toEqual([
      expect.objectContaining({ address: "/element", name: expect.stringMatching(/^[0-9a-f-]{36}$/), closed: false }),
    ]);
    await expect(windows[0]?.document.call("elementPage", ["start"])).resolves.toEqual({
      use: "picture",
      language: "en",
      theme: "dark",
    });
    capture("garden");
    expect(windows[0]?.closed).toBe(true);
    expect(await screen.findByText("This picture has enough detail")).toBeVisible();
    expect(screen.queryByText("The camera is open in a window of its own.")).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Save the picture" }));
    expect(clickAnchor).toHaveBeenCalledTimes(1);
  });

  it("takes a picture only from a document of its own origin", async () => {
    mockCamera(() => new Promise(() => undefined));
    await renderField();
    await userEvent.click(screen.getByRole("tab", { name: "Take picture" }));
    await userEvent.click(screen.getByRole("button", { name: "Open the camera" }));
    act(() => {
      windows[0]?.postFrom("https://portal.example.org", {
        relicario: "channel",
        kind: "call",
        id: 1,
        service: "elementPage",
        path: ["done"],
        args: [createPictureFile("garden")],
        options: [],
      });
    });
    expect(windows[0]?.closed).toBe(false);
    expect(screen.getByText("The camera is open in a window of its own.")).toBeVisible();
  });

  it("uses the camera app where a file input opens it", async () => {
    Object.defineProperty(HTMLInputElement.prototype, "capture", { configurable: true, value: "" });
    await renderField();
    await userEvent.click(screen.getByRole("tab", { name: "Take picture" }));
    const clickInput = jest.spyOn(HTMLInputElement.prototype, "click").mockImplementation(() => undefined);
    await userEvent.click(screen.getByRole("button", { name: "Open the camera" }));
    expect(clickInput).toHaveBeenCalledTimes(1);
    expect(windows).toEqual([]);
    clickInput.mockRestore();
    const input = document.querySelector<HTMLInputElement>("input[capture=environment]");
    if (input === null) throw new Error("there is no such input");
    await userEvent.upload(input, createPictureFile("garden"));
    expect(await screen.findByText("Save this picture")).toBeVisible();
    await expectAccessible();
  });

  it("returns a captured picture only after it was saved, and asks to save the next one too", async () => {
    mockCamera(() => new Promise(() => undefined));
    jest.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(() => undefined);
    await renderField();
    await userEvent.click(screen.getByRole("tab", { name: "Take picture" }));
    await userEvent.click(screen.getByRole("button", { name: "Open the camera" }));
    capture("garden");
    await userEvent.click(await screen.findByRole("checkbox", { name: /Continue without a passphrase/ }));
    expect(currentHandle).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "Save the picture" }));
    expect(getCurrentPicture()).toMatchObject({ passphrase: null });
    expect(screen.getByText("Your browser is saving the picture")).toBeVisible();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Take it again" }));
    capture("market");
    expect(await screen.findByText("Save this picture")).toBeVisible();
    expect(currentHandle).toBeNull();
  });

  it("does not ask to save a refused capture", async () => {
    mockCamera(() => new Promise(() => undefined));
    await renderField();
    await userEvent.click(screen.getByRole("tab", { name: "Take picture" }));
    await userEvent.click(screen.getByRole("button", { name: "Open the camera" }));
    capture("red");
    expect(await screen.findByText("This picture cannot be used")).toBeVisible();
    expect(screen.queryByText("Save this picture")).not.toBeInTheDocument();
  });

  it.each([
    ["refused", "The camera can't be used"],
    ["missing", "This device has no camera"],
    ["ended", "The camera was turned off"],
  ])("offers to choose a file when the camera is %s", async (problem, text) => {
    mockCamera(() => new Promise(() => undefined));
    await renderField();
    await userEvent.click(screen.getByRole("tab", { name: "Take picture" }));
    await userEvent.click(screen.getByRole("button", { name: "Open the camera" }));
    answer("endCamera", problem);
    expect(windows[0]?.closed).toBe(true);
    expect(screen.getByRole("alert")).toHaveTextContent(text);
    await userEvent.click(screen.getByRole("tab", { name: "Choose picture" }));
    expect(screen.getByRole("button", { name: "Choose a picture" })).toBeEnabled();
  });

  it("says that the window was closed too early, was blocked, or did not start, and opens it again", async () => {
    mockCamera(() => new Promise(() => undefined));
    await renderField();
    await userEvent.click(screen.getByRole("tab", { name: "Take picture" }));
    const openCamera = () => userEvent.click(screen.getByRole("button", { name: "Open the camera" }));
    await openCamera();
    Object.assign(windows[0] ?? {}, { closed: true });
    expect(await screen.findByRole("alert")).toHaveTextContent("was closed before a picture was taken");
    jest.spyOn(window, "open").mockReturnValueOnce(null);
    await openCamera();
    expect(screen.getByRole("alert")).toHaveTextContent("Your browser blocked the camera's window");
    await openCamera();
    answer("fail", "vault_unavailable");
    expect(screen.getByRole("alert")).toHaveTextContent("The camera's window could not start");
    await openCamera();
    await userEvent.click(screen.getByRole("button", { name: "Close the camera" }));
    expect(windows.map(({ closed }) => closed)).toEqual([true, true, true]);
    expect(screen.queryByRole("alert")).not.toBeInTheDocument();
  });

  it("closes the camera's window on lock", async () => {
    mockCamera(() => new Promise(() => undefined));
    const { vault } = await renderField();
    await userEvent.click(screen.getByRole("tab", { name: "Take picture" }));
    await userEvent.click(screen.getByRole("button", { name: "Open the camera" }));
    await act(() => vault.lock());
    expect(windows[0]?.closed).toBe(true);
  });

  it("offers no camera if the browser has none", async () => {
    await renderField();
    expect(screen.queryByRole("tab", { name: "Take picture" })).not.toBeInTheDocument();
  });

  it("shows that the second passphrase differs", async () => {
    await renderField();
    await choosePicture(createPictureFile("garden"));
    await userEvent.type(await screen.findByLabelText("Passphrase"), "four");
    await userEvent.type(screen.getByLabelText("Repeat the passphrase"), "fo");
    expect(screen.queryByRole("alert")).not.toBeInTheDocument();
    await userEvent.type(screen.getByLabelText("Repeat the passphrase"), "x");
    expect(screen.getByRole("alert")).toHaveTextContent("The two passphrases are not the same.");
    expect(currentHandle).toBeNull();
  });

  it("allows no passphrase after one plain sentence", async () => {
    await renderField();
    await choosePicture(createPictureFile("garden"));
    await userEvent.click(
      await screen.findByRole("checkbox", {
        name: /Anyone with this picture and your account's stored data/,
      }),
    );
    expect(getCurrentPicture()).toMatchObject({ passphrase: null });
    expect(screen.queryByLabelText("Passphrase")).not.toBeInTheDocument();
  });

  it("requires a passphrase for a marginal picture", async () => {
    await renderField();
    await choosePicture(createPictureFile("amber"));
    expect(await screen.findByText("This picture needs a passphrase")).toBeVisible();
    expect(screen.getByText("Its details are in too few places.")).toBeVisible();
    expect(screen.queryByRole("checkbox")).not.toBeInTheDocument();
    await expectAccessible();
  });

  it("requires a passphrase for a marginal picture even if the previous one had none", async () => {
    await renderField();
    await choosePicture(createPictureFile("green"));
    await userEvent.click(await screen.findByRole("checkbox", { name: /without a passphrase/ }));
    await choosePicture(createPictureFile("amber"));
    expect(await screen.findByText("This picture needs a passphrase")).toBeVisible();
    await userEvent.type(screen.getByLabelText("Passphrase"), "four words");
    await userEvent.type(screen.getByLabelText("Repeat the passphrase"), "four words");
    expect(getCurrentPicture()).toMatchObject({ passphrase: "four words" });
  });

  it("says which copies of a picture do not open, and requires a passphrase", async () => {
    await renderField();
    await choosePicture(createPictureFile("pale"));
    expect(await screen.findByText("This picture needs a passphrase")).toBeVisible();
    expect(screen.getByText(/some copies of it will not open/)).toBeVisible();
    expect(screen.getByText(/Keep copies as bright as the original/)).toBeVisible();
    expect(screen.getByText(/Keep copies at least 350 pixels wide and high/)).toBeVisible();
    expect(screen.queryByRole("checkbox")).not.toBeInTheDocument();
    await expectAccessible();
    await userEvent.type(screen.getByLabelText("Passphrase"), "four words");
    await userEvent.type(screen.getByLabelText("Repeat the passphrase"), "four words");
    expect(getCurrentPicture()).toMatchObject({ passphrase: "four words" });
  });

  it("says first that a picture has too little detail, then which of its copies do not open", async () => {
    await renderField();
    await choosePicture(createPictureFile("dull"));
    expect(await screen.findByText(/It has less detail than a key needs/)).toBeVisible();
    expect(screen.queryByText(/some copies of it will not open/)).not.toBeInTheDocument();
    expect(screen.getByText("It follows a pattern that could be guessed.")).toBeVisible();
    expect(
      screen.getByText("A small copy does not open. Keep copies at least 350 pixels wide and high."),
    ).toBeVisible();
  });

  it("requires a passphrase for a picture that looks drawn", async () => {
    await renderField();
    await choosePicture(createPictureFile("drawing"));
    expect(await screen.findByText("This picture needs a passphrase")).toBeVisible();
    expect(screen.getByText(/It looks like a screenshot or a drawing/)).toBeVisible();
  });

  it("refuses a transparent picture because of its copies, and says how to save it", async () => {
    await renderField();
    await choosePicture(createPictureFile("cutout"));
    const alert = await screen.findByRole("alert");
    expect(alert).toHaveTextContent(/This picture cannot be used.*Some of its copies would not open.*Save it as JPEG/);
    expect(alert).not.toHaveTextContent("easy to guess");
    expect(currentHandle).toBeNull();
    await expectAccessible();
  });

  it("refuses a picture and lists each reason once", async () => {
    await renderField();
    await choosePicture(createPictureFile("red"));
    const alert = await screen.findByRole("alert");
    expect(alert).toHaveTextContent("This picture cannot be used");
    expect(alert).toHaveTextContent("the short side needs at least 600 pixels");
    expect(screen.getAllByText("Its fine details have too little contrast.")).toHaveLength(1);
    expect(screen.queryByLabelText("Passphrase")).not.toBeInTheDocument();
    expect(currentHandle).toBeNull();
    await expectAccessible();
  });

  it("recognises an existing image, and asks for no passphrase if the image has none", async () => {
    await renderField("choose", { images: [{ name: "Garden", picture: "garden" }] });
    await choosePicture(createPictureFile("garden"));
    expect(await screen.findByText("You already use this picture")).toBeVisible();
    expect(screen.getByText(wholeText(/This is “Garden”.*It has no passphrase/))).toBeVisible();
    expect(screen.queryByLabelText(/Passphrase/)).not.toBeInTheDocument();
    expect(getCurrentPicture()).toMatchObject({ passphrase: null });
    expect(knownImage).toMatchObject({ name: "Garden" });
    await choosePicture(createPictureFile("lake"));
    expect(await screen.findByLabelText("Passphrase")).toHaveValue("");
    expect(knownImage).toBeNull();
  });

  it("asks once for the passphrase of an existing image", async () => {
    await renderField("choose", { images: [{ name: "Garden", picture: "garden", passphrase: "four words" }] });
    await choosePicture(createPictureFile("lake"));
    await userEvent.type(await screen.findByLabelText("Passphrase"), "of the lake");
    await choosePicture(createPictureFile("garden"));
    const passphraseField = await screen.findByLabelText("Passphrase of this picture");
    expect(screen.getByText(wholeText(/This is “Garden”.*Type the passphrase that it already has/))).toBeVisible();
    expect(passphraseField).toHaveValue("");
    expect(screen.queryByLabelText("Repeat the passphrase")).not.toBeInTheDocument();
    expect(currentHandle).toBeNull();
    await userEvent.type(passphraseField, " four words");
    expect(getCurrentPicture()).toMatchObject({ passphrase: " four words" });
    await expectAccessible();
  });

  it("says that a removed image becomes a new one", async () => {
    await renderField("choose", { verdicts: { garden: { known: { kind: "removed" } } } });
    await choosePicture(createPictureFile("garden"));
    expect(await screen.findByText("You used this picture before")).toBeVisible();
    expect(screen.getByLabelText("Repeat the passphrase")).toBeVisible();
    expect(knownImage).toBeNull();
    await expectAccessible();
  });

  it("drops picture and passphrase on lock", async () => {
    const { record } = await renderField("choose", {
      images: [{ name: "Garden", picture: "garden", passphrase: "four words" }],
    });
    await choosePicture(createPictureFile("garden"));
    await userEvent.type(await screen.findByLabelText("Passphrase of this picture"), "four words");
    const handle = currentHandle;
    expect(handle).not.toBeNull();
    act(() => {
      for (const listener of record.lockListeners) void listener("lock");
    });
    expect(currentHandle).toBeNull();
    expect(handle === null ? null : currentVault.getPresented(handle)).toBeNull();
    expect(screen.queryByLabelText("Passphrase of this picture")).not.toBeInTheDocument();
    expect(screen.queryByRole("img", { name: "The chosen picture" })).not.toBeInTheDocument();
  });

  it("refuses a changed copy of an existing image", async () => {
    await renderField();
    await choosePicture(createPictureFile("crop"));
    expect(await screen.findByRole("alert")).toHaveTextContent("This looks like an edited copy of a picture you use");
    expect(currentHandle).toBeNull();
  });

  it.each([
    ["picture_unreadable", "This file can't be read as a picture"],
    ["picture_too_large", "This picture is too large to be read here"],
  ] as const)("explains why a file failed (%s)", async (code, text) => {
    const { vault } = await renderField();
    vault.failExaminations(code);
    await choosePicture(new File(["hello"], "letter.jpg", { type: "image/jpeg" }));
    expect(await screen.findByRole("alert")).toHaveTextContent(text);
    expect(currentHandle).toBeNull();
    await expectAccessible();
  });

  it("refuses an empty file without reading it", async () => {
    const { vault } = await renderField();
    await choosePicture(new File([], "empty.jpg", { type: "image/jpeg" }));
    expect(await screen.findByRole("alert")).toHaveTextContent("This file is empty");
    expect(vault.examinedPictures).toEqual([]);
  });

  it("takes a single dropped picture", async () => {
    await renderField();
    const drop = (files: readonly File[]) =>
      fireEvent.drop(screen.getByText("Choose a picture from this device."), {
        dataTransfer: {
          files,
          items: files.map((file) => ({ kind: "file", type: file.type, getAsFile: () => file })),
          types: ["Files"],
        },
      });
    drop([createPictureFile("one"), createPictureFile("two")]);
    expect(await screen.findByRole("alert")).toHaveTextContent("Choose one picture only.");
    drop([createPictureFile("garden")]);
    expect(await screen.findByText("This picture has enough detail")).toBeVisible();
    expect(screen.queryByRole("alert")).not.toBeInTheDocument();
  });

  it("takes a picture pasted anywhere on the page, and ignores pasted text", async () => {
    const { vault } = await renderField();
    const paste = (files: readonly File[]) =>
      fireEvent.paste(document.body, {
        clipboardData: { files, items: [], types: files.length > 0 ? ["Files"] : ["text/plain"] },
      });
    expect(paste([])).toBe(true); // not prevented: the text is pasted
    expect(vault.examinedPictures).toEqual([]);
    expect(paste([createPictureFile("garden")])).toBe(false);
    expect(await screen.findByText("This picture has enough detail")).toBeVisible();
    expect(vault.examinedPictures).toHaveLength(1);
  });

  it("shows the picture from this device, and revokes its URL", async () => {
    const { unmount } = await renderField();
    await choosePicture(createPictureFile("garden", "garden.jpg"));
    expect(await screen.findByRole("img", { name: "The chosen picture" })).toHaveAttribute("src", "blob:test/1");
    expect(screen.getByText("garden.jpg")).toBeVisible();
    unmount();
    expect(URL.revokeObjectURL).toHaveBeenCalledWith("blob:test/1");
  });

  it("shows progress, and ignores the verdict on a replaced picture", async () => {
    const examinations: { resolve: (verdict: PictureVerdict) => void; options: CallOptions | undefined }[] = [];
    const vault = createRecoveryFakeVault({
      examine: (_picture: Blob, options?: CallOptions) =>
        new Promise<PictureVerdict>((resolve) => examinations.push({ resolve, options })),
    });
    currentVault = vault;
    await renderApp(<Form purpose="choose" />, { vault });
    await screen.findByLabelText("Picture file");
    await choosePicture(createPictureFile("first"));
    await waitFor(() => {
      expect(examinations).toHaveLength(1);
    });
    act(() => examinations[0]?.options?.onProgress?.({ phase: "picture", done: 1, total: 4 }));
    expect(screen.getByRole("progressbar", { name: "Checking your picture" })).toHaveAttribute("aria-valuenow", "25");
    await expectAccessible();

    await choosePicture(createPictureFile("second"));
    expect(examinations[0]?.options?.signal?.aborted).toBe(true);
    await act(async () => {
      examinations[0]?.resolve({ level: "red", reasons: [], width: 1, height: 1, known: null });
      await Promise.resolve();
    });
    expect(screen.queryByText("This picture cannot be used")).not.toBeInTheDocument();
    await act(async () => {
      examinations[1]?.resolve({ level: "green", reasons: [], width: 1, height: 1, known: null });
      await Promise.resolve();
    });
    expect(screen.getByText("This picture has enough detail")).toBeVisible();
  });

  it("says which pictures are good before one is chosen", async () => {
    await renderField();
    expect(screen.getByText(/Use a photo you took yourself/)).toBeVisible();
    expect(screen.getByText("If you lose every copy, we can't open your secrets for you.")).toBeVisible();
  });

  it("says what a picture and a passphrase do not protect against", async () => {
    await renderField();
    expect(screen.getByText("A picture is checked for detail, not for secrecy.")).toBeVisible();
    expect(screen.getByText(/^A picture needs a passphrase if it was ever online, /)).toBeVisible();
    expect(screen.getByText(/^A passphrase can be guessed without the picture/)).toBeVisible();
  });

  it("renders in Spanish and in the dark theme", async () => {
    const app = await renderField("choose", {}, { language: "es", theme: "dark" });
    expect(await app.findByText("Elige una imagen de este dispositivo.")).toBeVisible();
    await expectAccessible();
  });

  it("is reachable by keyboard", async () => {
    await renderField();
    await userEvent.tab();
    expect(screen.getByRole("button", { name: "Choose a picture" })).toHaveFocus();
  });

  it("is inert while disabled, and shows the form's error", async () => {
    await renderField("choose", {}, {}, { disabled: true, error: "Choose a picture first." });
    expect(screen.getByRole("button", { name: "Choose a picture" })).toBeDisabled();
    expect(screen.getByRole("alert")).toHaveTextContent("Choose a picture first.");
  });
});

describe("PictureField of a share", () => {
  it("takes a picture without a vault, a verdict or a passphrase", async () => {
    currentVault = createRecoveryFakeVault();
    await renderApp(<Form purpose="share" />, { vault: currentVault });
    const chosenPicture = createPictureFile("red");
    await choosePicture(chosenPicture);
    expect(getCurrentPicture()).toEqual({ picture: chosenPicture, passphrase: null });
    expect(screen.queryByLabelText(/Passphrase/)).not.toBeInTheDocument();
    expect(screen.queryByRole("alert")).not.toBeInTheDocument();
    expect(screen.getByRole("group", { name: "Picture for this share" })).toBeInTheDocument();
    await expectAccessible();
  });
});

describe("PictureField for opening", () => {
  it("does not judge a picture, and accepts an optional passphrase", async () => {
    const { vault } = await renderField("show");
    const copy = createPictureFile("red");
    await choosePicture(copy);
    expect(getCurrentPicture()).toEqual({ picture: copy, passphrase: null });
    await userEvent.type(screen.getByLabelText("Passphrase, if the picture has one"), " a b ");
    expect(getCurrentPicture()).toEqual({ picture: copy, passphrase: " a b " });
    expect([vault.calls, vault.examinedPictures]).toEqual([[], []]);
    await expectAccessible();
  });

  it("keeps the passphrase for the next picture", async () => {
    await renderField("show");
    await choosePicture(createPictureFile("one"));
    await userEvent.type(screen.getByLabelText("Passphrase, if the picture has one"), "abc");
    const secondPicture = createPictureFile("two");
    await choosePicture(secondPicture);
    expect(getCurrentPicture()).toEqual({ picture: secondPicture, passphrase: "abc" });
  });
});

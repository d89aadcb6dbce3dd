import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";

import type { CallOptions, PictureFieldProps, RecoveryImage, OpenerHandle } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { createFakeVault, expectAccessible, createPictureFile, renderApp } from "@relicario/shared/testing";
import type { PictureVerdict } from "@relicario/vault";
import { getPresentedPicture } from "@relicario/vault/presented-opener";

import { createRecoveryFakeVault, type RecoveryFakeVaultSettings } from "../testing/recovery-fake-vault.ts";
import { registerExaminer } from "./examiner.ts";
import { PictureField } from "./PictureField.tsx";

let currentHandle: OpenerHandle | null = null;
let knownImage: RecoveryImage | null = null;
/** What the handle that was given stands for. */
const currentPicture = () => (currentHandle === null ? null : getPresentedPicture(currentHandle));

function Form({ purpose, ...props }: Pick<PictureFieldProps, "purpose"> & Partial<PictureFieldProps>) {
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
      red: { level: "red", reasons: ["too_small", "median", "tenth"] },
      crop: { known: { kind: "resembles", image: null } },
    },
    ...vaultSettings,
  });
  const app = await renderApp(<Form purpose={purpose} {...props} />, { vault, ...settings });
  await screen.findAllByRole("group");
  return { vault, ...app };
}
const choosePicture = (file: File) =>
  userEvent.upload(screen.getByLabelText("Picture file"), file, { applyAccept: false });

interface FakeCamera {
  readonly id: string;
  readonly facing?: "user" | "environment";
}

/** jsdom has no camera. What was asked for is noted; `end` is what unplugging does. */
function mockCamera(
  getUserMedia: (constraints: MediaStreamConstraints) => Promise<unknown>,
  cameras: readonly FakeCamera[] = [{ id: "one" }],
) {
  const enumerateDevices = () => Promise.resolve(cameras.map(({ id }) => ({ kind: "videoinput", deviceId: id })));
  Object.defineProperty(navigator, "mediaDevices", { configurable: true, value: { getUserMedia, enumerateDevices } });
}
function fakeStream(stop: () => void = () => undefined, { id, facing }: FakeCamera = { id: "one" }) {
  const track = Object.assign(new EventTarget(), {
    stop,
    getSettings: () => ({ deviceId: id, ...(facing === undefined ? {} : { facingMode: facing }) }),
  });
  return {
    getTracks: () => [track],
    getVideoTracks: () => [track],
    end: () => track.dispatchEvent(new Event("ended")),
  };
}
/** Takes what the camera shows: a picture that says `text`. */
async function capturePictureOf(text: string) {
  HTMLCanvasElement.prototype.toBlob = (callback) => {
    callback(new Blob([text], { type: "image/jpeg" }));
  };
  fireEvent.loadedData(await screen.findByLabelText("What the camera sees"));
  await userEvent.click(screen.getByRole("button", { name: "Take the picture" }));
}
afterEach(() => {
  Reflect.deleteProperty(navigator, "mediaDevices");
  jest.restoreAllMocks();
});

beforeEach(() => {
  currentHandle = null;
  knownImage = null;
  let urlCount = 0;
  // jsdom has no object URLs
  URL.createObjectURL = jest.fn(() => `blob:test/${String(++urlCount)}`);
  URL.revokeObjectURL = jest.fn();
});

describe("PictureField for choosing", () => {
  it("says that a picture is good, and asks for a passphrase twice", async () => {
    await renderField();
    await choosePicture(createPictureFile("garden"));
    expect(await screen.findByText("This picture is good")).toBeVisible();
    expect(currentHandle).toBeNull();
    await userEvent.type(screen.getByLabelText("Passphrase"), " four words ");
    expect(currentHandle).toBeNull();
    await userEvent.type(screen.getByLabelText("Passphrase again"), " four words ");
    expect(currentPicture()).toMatchObject({ passphrase: " four words " });
    await expectAccessible();
  });

  it("says how strong a passphrase is, by words of the language, and refuses none", async () => {
    await renderField();
    await choosePicture(createPictureFile("garden"));
    const field = await screen.findByLabelText("Passphrase");
    await userEvent.type(field, "password");
    expect(await screen.findByText(/Strength: (Guessed at once|Very weak)/)).toBeVisible();
    expect(screen.getByText(/Add another word or two/)).toBeVisible();
    await userEvent.clear(field);
    await userEvent.type(field, "walnut harbour tin seventeen quilt");
    expect(await screen.findByText("Strength: Strong.")).toBeVisible();
    await expectAccessible();
  });

  it("takes a picture with the camera, and asks to keep it", async () => {
    const stopTrack = jest.fn();
    mockCamera(() => Promise.resolve(fakeStream(stopTrack)));
    const clickAnchor = jest.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(() => undefined);
    HTMLCanvasElement.prototype.toBlob = (callback) => {
      callback(new Blob(["garden"], { type: "image/jpeg" }));
    };
    await renderField();
    await userEvent.click(screen.getByRole("tab", { name: "Take picture" }));
    const view = await screen.findByLabelText("What the camera sees");
    expect(screen.getByRole("button", { name: "Take the picture" })).toBeDisabled();
    await expectAccessible();
    fireEvent.loadedData(view);
    await userEvent.click(screen.getByRole("button", { name: "Take the picture" }));
    expect(await screen.findByText("This picture is good")).toBeVisible();
    expect(stopTrack).toHaveBeenCalled();
    expect(screen.queryByLabelText("What the camera sees")).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Save the picture" }));
    expect(clickAnchor).toHaveBeenCalledTimes(1);
  });

  it("gives a taken picture out only once it was saved, and asks again for one that is taken again", async () => {
    mockCamera(() => Promise.resolve(fakeStream()));
    jest.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(() => undefined);
    await renderField();
    await userEvent.click(screen.getByRole("tab", { name: "Take picture" }));
    await capturePictureOf("garden");
    await userEvent.click(await screen.findByRole("checkbox", { name: /Go without a passphrase/ }));
    expect(currentHandle).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "Save the picture" }));
    expect(currentPicture()).toMatchObject({ passphrase: null });
    expect(screen.getByText("The picture was handed to your browser")).toBeVisible();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Take it again" }));
    await capturePictureOf("market");
    expect(await screen.findByText("Keep this picture")).toBeVisible();
    expect(currentHandle).toBeNull();
  });

  it.each<[string, readonly FakeCamera[], unknown]>([
    [
      "to the other side",
      [
        { id: "back", facing: "environment" },
        { id: "front", facing: "user" },
      ],
      { facingMode: "user" },
    ],
    [
      "to the next one, where they do not say where they look",
      [{ id: "one" }, { id: "two" }],
      { deviceId: { exact: "two" } },
    ],
  ])("turns %s", async (_case, cameras, expected) => {
    const requestedConstraints: MediaStreamConstraints[] = [];
    mockCamera((constraints) => {
      requestedConstraints.push(constraints);
      return Promise.resolve(fakeStream(undefined, cameras[requestedConstraints.length - 1]));
    }, cameras);
    await renderField();
    await userEvent.click(screen.getByRole("tab", { name: "Take picture" }));
    await userEvent.click(await screen.findByRole("button", { name: "Other camera" }));
    await waitFor(() => {
      expect(requestedConstraints).toHaveLength(2);
    });
    expect(requestedConstraints[0]?.video).toMatchObject({ facingMode: "environment" });
    expect(requestedConstraints[1]?.video).toMatchObject(expected ?? {});
  });

  it("says when the camera is switched off meanwhile, and offers no other where there is none", async () => {
    const stream = fakeStream();
    mockCamera(() => Promise.resolve(stream));
    await renderField();
    await userEvent.click(screen.getByRole("tab", { name: "Take picture" }));
    await screen.findByLabelText("What the camera sees");
    expect(screen.queryByRole("button", { name: "Other camera" })).not.toBeInTheDocument();
    act(() => {
      stream.end();
    });
    expect(await screen.findByRole("alert")).toHaveTextContent("The camera was switched off");
    expect(screen.getByRole("button", { name: "Open the camera" })).toBeEnabled();
  });

  it("does not ask to keep a picture of the camera that cannot be used", async () => {
    mockCamera(() => Promise.resolve(fakeStream()));
    HTMLCanvasElement.prototype.toBlob = (callback) => {
      callback(new Blob(["red"], { type: "image/jpeg" }));
    };
    await renderField();
    await userEvent.click(screen.getByRole("tab", { name: "Take picture" }));
    fireEvent.loadedData(await screen.findByLabelText("What the camera sees"));
    await userEvent.click(screen.getByRole("button", { name: "Take the picture" }));
    expect(await screen.findByText("This picture cannot be used")).toBeVisible();
    expect(screen.queryByText("Keep this picture")).not.toBeInTheDocument();
  });

  it.each([
    ["NotAllowedError", "The camera cannot be used"],
    ["NotFoundError", "This device has no camera"],
  ])("falls back to choosing when the camera fails (%s)", async (name, text) => {
    mockCamera(() => Promise.reject(new DOMException("", name)));
    await renderField();
    await userEvent.click(screen.getByRole("tab", { name: "Take picture" }));
    expect(await screen.findByRole("alert")).toHaveTextContent(text);
    await userEvent.click(screen.getByRole("tab", { name: "Upload" }));
    expect(screen.getByRole("button", { name: "Choose a picture" })).toBeEnabled();
  });

  it("offers no camera where the browser gives none", async () => {
    await renderField();
    expect(screen.queryByRole("tab", { name: "Take picture" })).not.toBeInTheDocument();
  });

  it("says when the second passphrase differs", async () => {
    await renderField();
    await choosePicture(createPictureFile("garden"));
    await userEvent.type(await screen.findByLabelText("Passphrase"), "four");
    await userEvent.type(screen.getByLabelText("Passphrase again"), "fo");
    expect(screen.queryByRole("alert")).not.toBeInTheDocument();
    await userEvent.type(screen.getByLabelText("Passphrase again"), "x");
    expect(screen.getByRole("alert")).toHaveTextContent("This is not what you typed above.");
    expect(currentHandle).toBeNull();
  });

  it("goes without a passphrase behind one plain sentence", async () => {
    await renderField();
    await choosePicture(createPictureFile("garden"));
    await userEvent.click(
      await screen.findByRole("checkbox", {
        name: /Anyone who gets this picture and the stored data of your account can then open everything/,
      }),
    );
    expect(currentPicture()).toMatchObject({ passphrase: null });
    expect(screen.queryByLabelText("Passphrase")).not.toBeInTheDocument();
  });

  it("does not let an amber picture go without one", async () => {
    await renderField();
    await choosePicture(createPictureFile("amber"));
    expect(await screen.findByText("This picture needs a passphrase")).toBeVisible();
    expect(screen.getByText("Its details sit in too few places.")).toBeVisible();
    expect(screen.queryByRole("checkbox")).not.toBeInTheDocument();
    await expectAccessible();
  });

  it("asks an amber picture for one, though the one before was to go without", async () => {
    await renderField();
    await choosePicture(createPictureFile("green"));
    await userEvent.click(await screen.findByRole("checkbox", { name: /without a passphrase/ }));
    await choosePicture(createPictureFile("amber"));
    expect(await screen.findByText("This picture needs a passphrase")).toBeVisible();
    await userEvent.type(screen.getByLabelText("Passphrase"), "four words");
    await userEvent.type(screen.getByLabelText("Passphrase again"), "four words");
    expect(currentPicture()).toMatchObject({ passphrase: "four words" });
  });

  it("says which copies of a picture do not open, and takes it with a passphrase alone", async () => {
    await renderField();
    await choosePicture(createPictureFile("pale"));
    expect(await screen.findByText("This picture needs a passphrase")).toBeVisible();
    expect(screen.getByText(/not every copy of it opens/)).toBeVisible();
    expect(screen.getByText(/Keep copies as bright as the original/)).toBeVisible();
    expect(screen.getByText(/Keep copies at least 350 pixels wide and high/)).toBeVisible();
    expect(screen.queryByRole("checkbox")).not.toBeInTheDocument();
    await expectAccessible();
    await userEvent.type(screen.getByLabelText("Passphrase"), "four words");
    await userEvent.type(screen.getByLabelText("Passphrase again"), "four words");
    expect(currentPicture()).toMatchObject({ passphrase: "four words" });
  });

  it("says that a picture has too little detail, where that is so, before which copies do not open", async () => {
    await renderField();
    await choosePicture(createPictureFile("dull"));
    expect(await screen.findByText(/It has less detail than a key should have/)).toBeVisible();
    expect(screen.queryByText(/not every copy of it opens/)).not.toBeInTheDocument();
    expect(screen.getByText("It follows a pattern that could be guessed.")).toBeVisible();
    expect(
      screen.getByText("A small copy does not open. Keep copies at least 350 pixels wide and high."),
    ).toBeVisible();
  });

  it("refuses a red picture with its reasons, each once", async () => {
    await renderField();
    await choosePicture(createPictureFile("red"));
    const alert = await screen.findByRole("alert");
    expect(alert).toHaveTextContent("This picture cannot be used");
    expect(alert).toHaveTextContent("the short side needs at least 600 pixels");
    expect(screen.getAllByText("It has too little fine contrast.")).toHaveLength(1);
    expect(screen.queryByLabelText("Passphrase")).not.toBeInTheDocument();
    expect(currentHandle).toBeNull();
    await expectAccessible();
  });

  it("uses an image in use again, and asks for none where it has no passphrase", async () => {
    await renderField("choose", { images: [{ name: "Garden", picture: "garden" }] });
    await choosePicture(createPictureFile("garden"));
    expect(await screen.findByText("You use this image already")).toBeVisible();
    expect(screen.getByText(/This is “Garden”.*It has no passphrase/)).toBeVisible();
    expect(screen.queryByLabelText(/Passphrase/)).not.toBeInTheDocument();
    expect(currentPicture()).toMatchObject({ passphrase: null });
    expect(knownImage).toMatchObject({ name: "Garden" });
    await choosePicture(createPictureFile("lake"));
    expect(await screen.findByLabelText("Passphrase")).toHaveValue("");
    expect(knownImage).toBeNull();
  });

  it("asks for the passphrase that an image in use has, once, and for no other", async () => {
    await renderField("choose", { images: [{ name: "Garden", picture: "garden", passphrase: "four words" }] });
    await choosePicture(createPictureFile("lake"));
    await userEvent.type(await screen.findByLabelText("Passphrase"), "of the lake");
    await choosePicture(createPictureFile("garden"));
    const passphraseField = await screen.findByLabelText("Passphrase of this image");
    expect(screen.getByText(/This is “Garden”.*type it below/)).toBeVisible();
    expect(passphraseField).toHaveValue("");
    expect(screen.queryByLabelText("Passphrase again")).not.toBeInTheDocument();
    expect(currentHandle).toBeNull();
    await userEvent.type(passphraseField, " four words");
    expect(currentPicture()).toMatchObject({ passphrase: " four words" });
    await expectAccessible();
  });

  it("says of an image that was removed that it becomes a new one", async () => {
    await renderField("choose", { verdicts: { garden: { known: { kind: "removed" } } } });
    await choosePicture(createPictureFile("garden"));
    expect(await screen.findByText("You used this image before")).toBeVisible();
    expect(screen.getByLabelText("Passphrase again")).toBeVisible();
    expect(knownImage).toBeNull();
    await expectAccessible();
  });

  it("lets go of picture and passphrase when the portal locks", async () => {
    const { record } = await renderField("choose", {
      images: [{ name: "Garden", picture: "garden", passphrase: "four words" }],
    });
    await choosePicture(createPictureFile("garden"));
    await userEvent.type(await screen.findByLabelText("Passphrase of this image"), "four words");
    const handle = currentHandle;
    expect(handle).not.toBeNull();
    act(() => {
      for (const listener of record.lockListeners) void listener("lock");
    });
    expect(currentHandle).toBeNull();
    expect(handle === null ? null : getPresentedPicture(handle)).toBeNull();
    expect(screen.queryByLabelText("Passphrase of this image")).not.toBeInTheDocument();
    expect(screen.queryByRole("img", { name: "The chosen picture" })).not.toBeInTheDocument();
  });

  it("refuses a changed copy of an image in use", async () => {
    await renderField();
    await choosePicture(createPictureFile("crop"));
    expect(await screen.findByRole("alert")).toHaveTextContent("This looks like a changed copy of an image you use");
    expect(currentHandle).toBeNull();
  });

  it.each([
    ["picture_unreadable", "This file cannot be read as a picture"],
    ["picture_too_large", "This picture is larger than can be read here"],
  ] as const)("says what is wrong with a file (%s)", async (code, text) => {
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

  it("takes a dropped picture, and one only", async () => {
    await renderField();
    const drop = (files: readonly File[]) =>
      fireEvent.drop(screen.getByText("Drop a picture here, paste it, or choose a file."), {
        dataTransfer: {
          files,
          items: files.map((file) => ({ kind: "file", type: file.type, getAsFile: () => file })),
          types: ["Files"],
        },
      });
    drop([createPictureFile("one"), createPictureFile("two")]);
    expect(await screen.findByRole("alert")).toHaveTextContent("Choose one picture only.");
    drop([createPictureFile("garden")]);
    expect(await screen.findByText("This picture is good")).toBeVisible();
    expect(screen.queryByRole("alert")).not.toBeInTheDocument();
  });

  it("takes a picture that is pasted anywhere on the page, and leaves pasted text alone", async () => {
    const { vault } = await renderField();
    const paste = (files: readonly File[]) =>
      fireEvent.paste(document.body, {
        clipboardData: { files, items: [], types: files.length > 0 ? ["Files"] : ["text/plain"] },
      });
    expect(paste([])).toBe(true); // not prevented
    expect(vault.examinedPictures).toEqual([]);
    expect(paste([createPictureFile("garden")])).toBe(false);
    expect(await screen.findByText("This picture is good")).toBeVisible();
    expect(vault.examinedPictures).toHaveLength(1);
  });

  it("shows the picture from this device, and lets go of it", async () => {
    const { unmount } = await renderField();
    await choosePicture(createPictureFile("garden", "garden.jpg"));
    expect(await screen.findByRole("img", { name: "The chosen picture" })).toHaveAttribute("src", "blob:test/1");
    expect(screen.getByText("garden.jpg")).toBeVisible();
    unmount();
    expect(URL.revokeObjectURL).toHaveBeenCalledWith("blob:test/1");
  });

  it("shows progress, and forgets the judgement of a picture that was replaced", async () => {
    const vault = createFakeVault();
    const examinations: { resolve: (verdict: PictureVerdict) => void; options: CallOptions | undefined }[] = [];
    registerExaminer(
      vault,
      (_picture: Blob, options?: CallOptions) =>
        new Promise<PictureVerdict>((resolve) => examinations.push({ resolve, options })),
    );
    await renderApp(<Form purpose="choose" />, { vault });
    await screen.findByLabelText("Picture file");
    await choosePicture(createPictureFile("first"));
    await waitFor(() => {
      expect(examinations).toHaveLength(1);
    });
    act(() => examinations[0]?.options?.onProgress?.({ phase: "picture", done: 1, total: 4 }));
    expect(screen.getByRole("progressbar", { name: "Looking at your picture" })).toHaveAttribute("aria-valuenow", "25");
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
    expect(screen.getByText("This picture is good")).toBeVisible();
  });

  it("tells which picture is good before one is chosen", async () => {
    await renderField();
    expect(screen.getByText(/A photo you took yourself/)).toBeVisible();
    expect(screen.getByText("If you lose every copy, no one can recover it, not even us.")).toBeVisible();
  });

  it("is whole in Spanish and in the dark", async () => {
    const app = await renderField("choose", {}, { language: "es", theme: "dark" });
    expect(await app.findByText("Suelta aquí una imagen, pégala o elige un archivo.")).toBeVisible();
    await expectAccessible();
  });

  it("can be worked by keyboard alone", async () => {
    await renderField();
    await userEvent.tab();
    expect(screen.getByRole("button", { name: "Choose a picture" })).toHaveFocus();
  });

  it("does nothing while it is disabled, and shows the form's error", async () => {
    await renderField("choose", {}, {}, { disabled: true, error: "Choose a picture first." });
    expect(screen.getByRole("button", { name: "Choose a picture" })).toBeDisabled();
    expect(screen.getByRole("alert")).toHaveTextContent("Choose a picture first.");
  });

  it("says that the vault did not load", async () => {
    await renderApp(<Form purpose="choose" />, { vault: Promise.reject(new PortalError("vault_unavailable")) });
    expect(await screen.findByRole("alert")).toHaveTextContent("did not load");
  });
});

describe("PictureField of a share", () => {
  it("takes a picture without a vault, judges nothing and asks for no passphrase", async () => {
    const unavailableVault = Promise.reject(new PortalError("vault_unavailable"));
    unavailableVault.catch(() => undefined); // nobody asks for it
    await renderApp(<Form purpose="share" />, { vault: unavailableVault });
    const chosenPicture = createPictureFile("red");
    await choosePicture(chosenPicture);
    expect(currentPicture()).toEqual({ picture: chosenPicture, passphrase: null });
    expect(screen.queryByLabelText(/Passphrase/)).not.toBeInTheDocument();
    expect(screen.queryByRole("alert")).not.toBeInTheDocument();
    expect(screen.getByRole("group", { name: "The picture for this share" })).toBeInTheDocument();
    await expectAccessible();
  });
});

describe("PictureField for opening", () => {
  it("judges nothing, and takes a passphrase if there is one", async () => {
    const { vault } = await renderField("show");
    const copy = createPictureFile("red");
    await choosePicture(copy);
    expect(currentPicture()).toEqual({ picture: copy, passphrase: null });
    await userEvent.type(screen.getByLabelText("Passphrase, if the picture has one"), " a b ");
    expect(currentPicture()).toEqual({ picture: copy, passphrase: " a b " });
    expect([vault.calls, vault.examinedPictures]).toEqual([[], []]);
    await expectAccessible();
  });

  it("keeps the passphrase for the next picture", async () => {
    await renderField("show");
    await choosePicture(createPictureFile("one"));
    await userEvent.type(screen.getByLabelText("Passphrase, if the picture has one"), "abc");
    const secondPicture = createPictureFile("two");
    await choosePicture(secondPicture);
    expect(currentPicture()).toEqual({ picture: secondPicture, passphrase: "abc" });
  });
});

import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";

import type { Drives } from "@relicario/shared/contract";
import { createPictureFile, renderApp } from "@relicario/shared/testing";

import { clearDriveMemory, saveToken } from "../drives/drive-memory.ts";
import { createRecoveryFakeVault } from "../testing/recovery-fake-vault.tsx";
import { emptyPictureDraft, type PictureDraft } from "./picture-draft.ts";
import { PictureForm } from "./PictureForm.tsx";

const drives: Drives = {
  google: { client_id: "g", authorize_url: "https://accounts.example/auth", api_origin: "https://drive.example" },
  onedrive: {
    client_id: "m",
    authority: "https://login.example/consumers",
    graph_url: "https://graph.example/v1.0",
    picker_url: "https://picker.example/picker",
    content_origins: ["https://content.example"],
  },
};

let draft: PictureDraft = emptyPictureDraft;

function Form() {
  const [value, setValue] = useState(draft);
  return (
    <main>
      <h1>Form</h1>
      <PictureForm
        purpose="show"
        draft={value}
        disabled={false}
        examine={null}
        onChange={(next) => {
          draft = next;
          setValue(next);
        }}
      />
    </main>
  );
}

const popup = { closed: false, location: { replace: () => undefined }, close: () => undefined };
/** Fake of BroadcastChannel, which jsdom lacks, and the messages that the page sent. */
let channel: { readonly name: string; onmessage: ((event: { readonly data: unknown }) => void) | null };
let windowMessages: unknown[];
/** Resolves the download. */
let resolveBytes: (text: string) => void;

/** Called with `new`, like the browser's own. */
function FakeChannel(name: string) {
  channel = { name, onmessage: null };
  return Object.assign(channel, {
    postMessage: (message: unknown) => {
      windowMessages.push(message);
    },
    close: () => undefined,
  });
}

beforeEach(async () => {
  draft = emptyPictureDraft;
  windowMessages = [];
  clearDriveMemory();
  saveToken("google", "t", 3600);
  saveToken("onedrive choose", "t", 3600);
  URL.createObjectURL = jest.fn(() => "blob:test/1"); // jsdom has no object URLs
  URL.revokeObjectURL = jest.fn();
  jest.spyOn(window, "open").mockReturnValue(popup as unknown as Window);
  Object.defineProperty(globalThis, "BroadcastChannel", { configurable: true, value: FakeChannel });
  const bytesPromise = new Promise<string>((resolve) => {
    resolveBytes = resolve;
  });
  jest.spyOn(globalThis, "fetch").mockImplementation(async (url) => {
    if (/alt=media|\/bytes$/.test(url as string)) return new Response(await bytesPromise);
    return Response.json({
      name: "from-the-drive.jpg",
      size: 9,
      "@content.downloadUrl": "https://content.example/bytes",
    });
  });
  await renderApp(<Form />, { vault: createRecoveryFakeVault(), drives });
  await userEvent.upload(screen.getByLabelText("Picture file"), createPictureFile("garden"));
  await userEvent.type(getPassphraseField(), "four");
});
afterEach(() => {
  jest.restoreAllMocks();
  Reflect.deleteProperty(globalThis, "BroadcastChannel");
  clearDriveMemory();
});

const getPassphraseField = () => screen.getByLabelText("Passphrase, if the picture has one");
const sendRedirect = (parameters: string) =>
  channel.onmessage?.({ data: { answer: `state=${channel.name.replace("drive-answer:", "")}&${parameters}` } });

/** Acts as each drive's popup after a file was picked. */
const fileSelections: Readonly<Record<string, () => Promise<void>>> = {
  "Google Drive": async () => {
    sendRedirect("picked_file_ids=1");
    await Promise.resolve();
  },
  OneDrive: async () => {
    sendRedirect("");
    await waitFor(() => {
      expect(windowMessages).toMatchObject([{ next: "post" }]);
    });
    const [{ address }] = windowMessages as [{ address: string }];
    const { messaging } = JSON.parse(new URL(address).searchParams.get("filePicker") ?? "") as {
      messaging: { channelId: string };
    };
    const port: { onmessage: ((event: { data: unknown }) => void) | null; postMessage: () => void } = {
      onmessage: null,
      postMessage: () => undefined,
    };
    window.dispatchEvent(
      Object.assign(new Event("message"), {
        source: popup,
        origin: "https://picker.example",
        data: { type: "initialize", channelId: messaging.channelId },
        ports: [port],
      }),
    );
    const item = {
      id: "i",
      parentReference: { driveId: "d" },
      "@sharePoint.endpoint": "https://content.example/_api/v2.0",
    };
    port.onmessage?.({ data: { type: "command", id: "1", data: { command: "pick", items: [item] } } });
  },
};

describe("PictureForm", () => {
  it.each(Object.entries(fileSelections))(
    "keeps input that is typed while %s picks and downloads a file",
    async (drive, selectFile) => {
      await userEvent.click(screen.getByRole("button", { name: `Choose from ${drive}` }));
      await userEvent.type(getPassphraseField(), " words");
      await act(selectFile);
      await userEvent.type(getPassphraseField(), " and");
      act(() => {
        resolveBytes("a picture");
      });
      expect(await screen.findByText("from-the-drive.jpg")).toBeVisible();
      expect(getPassphraseField()).toHaveValue("four words and");
      expect(draft).toMatchObject({
        passphrase: "four words and",
        state: { status: "for_opening", picture: { name: "from-the-drive.jpg" } },
      });
    },
  );
});

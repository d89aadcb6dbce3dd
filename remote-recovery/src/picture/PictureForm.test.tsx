import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";

import type { Drives } from "@relicario/shared/contract";
import { picture, renderApp } from "@relicario/shared/testing";

import { forgetDrives, keepToken } from "../drives/drive-memory.ts";
import { createAreaVault } from "../testing/area-vault.ts";
import { noPicture, type PictureDraft } from "./picture-draft.ts";
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

let draft: PictureDraft = noPicture;

function Form() {
  const [value, setValue] = useState(draft);
  return (
    <main>
      <h1>Form</h1>
      <PictureForm
        purpose="show"
        draft={value}
        disabled={false}
        error={null}
        onChange={(next) => {
          draft = next;
          setValue(next);
        }}
      />
    </main>
  );
}

const popup = { closed: false, location: { replace: () => undefined }, close: () => undefined };
/** The channel on which the page hears the window, and what it told the window. jsdom has none. */
let channel: { readonly name: string; onmessage: ((event: { readonly data: unknown }) => void) | null };
let toWindow: unknown[];
/** Bytes of the file arrive when they are given. */
let giveBytes: (text: string) => void;

/** Made with `new`, as the browser's own. */
function FakeChannel(name: string) {
  channel = { name, onmessage: null };
  return Object.assign(channel, {
    postMessage: (message: unknown) => {
      toWindow.push(message);
    },
    close: () => undefined,
  });
}

beforeEach(async () => {
  draft = noPicture;
  toWindow = [];
  forgetDrives();
  keepToken("google", "t", 3600);
  keepToken("onedrive choose", "t", 3600);
  URL.createObjectURL = jest.fn(() => "blob:test/1"); // jsdom has no object URLs
  URL.revokeObjectURL = jest.fn();
  jest.spyOn(window, "open").mockReturnValue(popup as unknown as Window);
  Object.defineProperty(globalThis, "BroadcastChannel", { configurable: true, value: FakeChannel });
  const bytes = new Promise<string>((resolve) => {
    giveBytes = resolve;
  });
  jest.spyOn(globalThis, "fetch").mockImplementation(async (address) => {
    if (/alt=media|\/bytes$/.test(address as string)) return new Response(await bytes);
    return Response.json({
      name: "from-the-drive.jpg",
      size: 9,
      "@content.downloadUrl": "https://content.example/bytes",
    });
  });
  await renderApp(<Form />, { vault: createAreaVault(), drives });
  await userEvent.upload(screen.getByLabelText("Picture file"), picture("garden"));
  await userEvent.type(passphrase(), "four");
});
afterEach(() => {
  jest.restoreAllMocks();
  Reflect.deleteProperty(globalThis, "BroadcastChannel");
  forgetDrives();
});

const passphrase = () => screen.getByLabelText("Passphrase, if the picture has one");
const answer = (more: string) =>
  channel.onmessage?.({ data: { answer: `state=${channel.name.replace("drive-answer:", "")}&${more}` } });

/** What each window does once somebody has chosen a file in it. */
const choices: Readonly<Record<string, () => Promise<void>>> = {
  "Google Drive": async () => {
    answer("picked_file_ids=1");
    await Promise.resolve();
  },
  OneDrive: async () => {
    answer("");
    await waitFor(() => {
      expect(toWindow).toMatchObject([{ next: "post" }]);
    });
    const [{ address }] = toWindow as [{ address: string }];
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
  it.each(Object.entries(choices))(
    "keeps what is typed while %s is asked and the file is on its way",
    async (drive, choose) => {
      await userEvent.click(screen.getByRole("button", { name: `Choose from ${drive}` }));
      await userEvent.type(passphrase(), " words");
      await act(choose);
      await userEvent.type(passphrase(), " and");
      act(() => {
        giveBytes("a picture");
      });
      expect(await screen.findByText("from-the-drive.jpg")).toBeVisible();
      expect(passphrase()).toHaveValue("four words and");
      expect(draft).toMatchObject({
        passphrase: "four words and",
        standing: { status: "shown", picture: { name: "from-the-drive.jpg" } },
      });
    },
  );
});

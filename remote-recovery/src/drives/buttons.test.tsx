import type { Drives } from "@relicario/shared/contract";
import { expectAccessible, renderApp } from "@relicario/shared/testing";
import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { ChooseFromDrive } from "./ChooseFromDrive.tsx";
import { clearDriveMemory, saveToken } from "./drive-memory.ts";
import { SaveToDrive } from "./SaveToDrive.tsx";

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
const makePictures = () => [new File(["a picture"], "p.jpg", { type: "image/jpeg" })];
const renderPage = async (ui: React.ReactNode, settings: Parameters<typeof renderApp>[1] = {}) =>
  renderApp(
    <main>
      <h1>Page</h1>
      {ui}
    </main>,
    { drives, ...settings },
  );

/** Mocks the drive's responses in order; returns the called paths. */
function mockResponses(...responses: readonly { readonly status?: number; readonly json: unknown }[]): string[] {
  const calledPaths: string[] = [];
  const remainingResponses = [...responses];
  jest.spyOn(globalThis, "fetch").mockImplementation((url) => {
    calledPaths.push(new URL(url as string).pathname);
    const { status = 200, json } = remainingResponses.shift() ?? { status: 500, json: null };
    return Promise.resolve(new Response(JSON.stringify(json), { status }));
  });
  return calledPaths;
}

beforeEach(() => {
  clearDriveMemory();
  jest.spyOn(window, "open").mockReturnValue(null);
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe("the drive buttons", () => {
  it("match the deployment's drives, and are absent without drives", async () => {
    const { unmount } = await renderPage(<SaveToDrive kind="picture" files={makePictures} />);
    expect(screen.getAllByRole("button").map(({ textContent }) => textContent)).toEqual([
      "Save to Google Drive",
      "Save to OneDrive",
    ]);
    await expectAccessible();
    unmount();
    await renderPage(
      <>
        <SaveToDrive kind="picture" files={makePictures} />
        <ChooseFromDrive disabled={false} onChosen={() => undefined} />
      </>,
      { drives: {} },
    );
    expect(screen.queryByRole("button")).toBeNull();
  });

  it("are replaced by an explanation for a kit without a passphrase", async () => {
    await renderPage(<SaveToDrive kind="kit" files={makePictures} blocked />, { language: "es" });
    expect(screen.getByText("No guardes este kit en una nube")).toBeVisible();
    expect(screen.queryByRole("button")).toBeNull();
    await expectAccessible();
  });

  it.each([
    ["en", "Choose from Google Drive", /^Your browser blocked the Google Drive window/],
    ["es", "Elegir en Google Drive", /^Tu navegador ha bloqueado la ventana de Google Drive/],
  ] as const)("say that the popup was blocked, in %s", async (language, button, message) => {
    await renderPage(<ChooseFromDrive disabled={false} onChosen={() => undefined} />, { language });
    await userEvent.click(screen.getByRole("button", { name: button }));
    expect(await screen.findByRole("alert")).toHaveTextContent(message);
    await expectAccessible();
  });

  it("report a closed popup, and stop when the person cancels", async () => {
    jest.useFakeTimers({ advanceTimers: true });
    try {
      const popup = { closed: false, location: { replace: () => undefined }, close: () => undefined };
      jest.spyOn(window, "open").mockReturnValue(popup as unknown as Window);
      Object.defineProperty(globalThis, "BroadcastChannel", {
        configurable: true,
        value: class {
          postMessage() {}
          close() {}
        },
      });
      await renderPage(<SaveToDrive kind="picture" files={makePictures} />);
      await userEvent
        .setup({ advanceTimers: jest.advanceTimersByTime })
        .click(screen.getByRole("button", { name: "Save to OneDrive" }));
      expect(await screen.findByText("Continue in the OneDrive window.")).toBeVisible();
      popup.closed = true;
      act(() => {
        jest.advanceTimersByTime(1000);
      });
      expect(screen.getByRole("status")).toHaveTextContent("The OneDrive window was closed too early.");
      await userEvent
        .setup({ advanceTimers: jest.advanceTimersByTime })
        .click(screen.getByRole("button", { name: "Close" }));
      await waitFor(() => {
        expect(screen.queryByRole("status")).toBeNull();
      });
    } finally {
      jest.useRealTimers();
      Reflect.deleteProperty(globalThis, "BroadcastChannel");
    }
  });

  it("save with the stored token, and report the drive", async () => {
    saveToken("google", "t", 3600);
    const calledPaths = mockResponses({ json: { files: [] } }, { json: { id: "1" } });
    const onSaved = jest.fn();
    await renderPage(<SaveToDrive kind="picture" files={makePictures} onSaved={onSaved} />);
    await userEvent.click(screen.getByRole("button", { name: "Save to Google Drive" }));
    expect(await screen.findByText(/^Saved to Google Drive\./)).toBeVisible();
    expect(calledPaths).toEqual(["/drive/v3/files", "/upload/drive/v3/files"]);
    expect(onSaved).toHaveBeenCalledWith("google");
  });

  it("warn before saving a kit on the drive of its picture, and save nothing if declined", async () => {
    saveToken("google", "t", 3600);
    const calledPaths = mockResponses({ json: { files: [{ id: "1" }] } });
    const { record } = await renderPage(<SaveToDrive kind="kit" files={makePictures} />, { confirmAnswer: false });
    await userEvent.click(screen.getByRole("button", { name: "Save to Google Drive" }));
    await screen.findByRole("button", { name: "Save to Google Drive" });
    expect(record.confirms).toMatchObject([{ title: "Both on Google Drive?", danger: true }]);
    expect(calledPaths).toEqual(["/drive/v3/files"]);
    expect(screen.queryByText(/^Saved to/)).toBeNull();
  });

  it.each([
    [403, { error: { code: 403, errors: [{ reason: "storageQuotaExceeded" }] } }, /^Google Drive is full/],
    [401, {}, /^Google Drive asks you to sign in again/],
    [503, {}, /^Google Drive can't be reached/],
    [418, {}, /^Google Drive gave an unexpected answer/],
  ])("explain status %i", async (status, json, message) => {
    saveToken("google", "t", 3600);
    mockResponses({ json: { files: [] } }, { status, json });
    const onSaved = jest.fn();
    await renderPage(<SaveToDrive kind="picture" files={makePictures} onSaved={onSaved} />);
    await userEvent.click(screen.getByRole("button", { name: "Save to Google Drive" }));
    expect(await screen.findByRole("alert")).toHaveTextContent(message);
    expect(onSaved).not.toHaveBeenCalled();
  });

  it("cancel the operation and delete the token on lock", async () => {
    saveToken("google", "t", 3600);
    jest.spyOn(globalThis, "fetch").mockReturnValue(new Promise(() => undefined));
    const { record } = await renderPage(<SaveToDrive kind="picture" files={makePictures} />);
    await userEvent.click(screen.getByRole("button", { name: "Save to Google Drive" }));
    expect(await screen.findByRole("progressbar")).toBeVisible();
    act(() => {
      for (const listener of [...record.lockListeners]) void listener("lock");
    });
    expect(screen.queryByRole("progressbar")).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "Save to Google Drive" }));
    // a new sign-in proves that the token is gone
    expect(await screen.findByText(/^Your browser blocked/)).toBeVisible();
  });
});

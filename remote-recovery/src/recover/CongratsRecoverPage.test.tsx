import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import type { OpenedSecret } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { revealMilliseconds } from "@relicario/shared/forms";
import { createFakePortal, expectAccessible, renderApp, wholeText } from "@relicario/shared/testing";
import CongratsRecoverPage from "./CongratsRecoverPage.tsx";
import { clearOpenedSecret, setOpenedSecret } from "./opened-secret.ts";

const phrase = "abandon ability able";
const downloads: { name: string; text: string }[] = [];

function makeOpenedSecret(overrides: Partial<OpenedSecret> = {}): OpenedSecret {
  const content = Uint8Array.from(new TextEncoder().encode(phrase));
  return {
    secretId: "01890a5d-ac96-7000-8000-000000000001",
    version: 1,
    title: "Wallet",
    signedTitle: null,
    tags: [],
    contentKind: "text",
    name: "secret.txt",
    mime: "text/plain",
    size: content.length,
    current: true,
    content,
    signatureStatus: "verified",
    save: () => Promise.resolve(new Blob([content])),
    exportAgeFile: () =>
      Promise.resolve({
        sealedContent: Uint8Array.of(1, 2, 3),
        identity: "AGE-SECRET-KEY-PQ-1X",
        size: content.length,
      }),
    dispose: jest.fn(),
    ...overrides,
  };
}

async function renderPage(
  secret: OpenedSecret | null = makeOpenedSecret(),
  settings: Parameters<typeof renderApp>[1] = {},
) {
  const { portal, record } = createFakePortal();
  if (secret !== null) setOpenedSecret(secret, portal);
  const app = await renderApp(
    <main>
      <CongratsRecoverPage />
    </main>,
    { path: "/congrats-recover", routePattern: "/congrats-recover", ...settings },
  );
  return { ...app, record };
}

/** jsdom has neither object URLs nor downloads: records what would be saved. */
beforeEach(() => {
  downloads.length = 0;
  const blobs = new Map<string, Blob>();
  URL.createObjectURL = (blob: Blob) => {
    const url = `blob:test/${String(blobs.size)}`;
    blobs.set(url, blob);
    return url;
  };
  URL.revokeObjectURL = jest.fn();
  jest.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
    const reader = new FileReader();
    const name = this.download;
    reader.onload = () => downloads.push({ name, text: typeof reader.result === "string" ? reader.result : "" });
    reader.readAsText(blobs.get(this.href) ?? new Blob());
  });
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
  act(clearOpenedSecret);
});

describe("an opened text", () => {
  it("is hidden until it is asked for", async () => {
    await renderPage();
    expect(screen.getByRole("heading", { level: 1, name: "Wallet" })).toBeVisible();
    expect(screen.queryByText(phrase)).not.toBeInTheDocument();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Show" }));
    expect(screen.getByText(phrase)).toBeVisible();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Hide" }));
    expect(screen.queryByText(phrase)).not.toBeInTheDocument();
  });

  it("hides when the window loses focus", async () => {
    await renderPage();
    await userEvent.click(screen.getByRole("button", { name: "Show" }));
    fireEvent.blur(window);
    expect(screen.queryByText(phrase)).not.toBeInTheDocument();
  });

  it("hides when the page is covered", async () => {
    await renderPage();
    await userEvent.click(screen.getByRole("button", { name: "Show" }));
    jest.spyOn(document, "visibilityState", "get").mockReturnValue("hidden");
    fireEvent(document, new Event("visibilitychange"));
    expect(screen.queryByText(phrase)).not.toBeInTheDocument();
  });

  it("hides after a minute", async () => {
    jest.useFakeTimers();
    await renderPage();
    fireEvent.click(screen.getByRole("button", { name: "Show" }));
    await act(() => jest.advanceTimersByTimeAsync(revealMilliseconds - 1));
    expect(screen.getByText(phrase)).toBeVisible();
    await act(() => jest.advanceTimersByTimeAsync(1));
    expect(screen.queryByText(phrase)).not.toBeInTheDocument();
  });

  it("is shown as text, never as markup", async () => {
    const markup = "<script>alert(1)</script>";
    await renderPage(
      makeOpenedSecret({ content: Uint8Array.from(new TextEncoder().encode(markup)), title: "<b>Wallet</b>" }),
    );
    await userEvent.click(screen.getByRole("button", { name: "Show" }));
    expect(screen.getByText(markup)).toBeVisible();
    expect(screen.getByRole("heading", { level: 1, name: "<b>Wallet</b>" })).toBeVisible();
  });

  it("is a numbered list for a seed phrase", async () => {
    await renderPage(makeOpenedSecret({ contentKind: "seed" }));
    await userEvent.click(screen.getByRole("button", { name: "Show" }));
    expect(screen.getAllByRole("listitem").map(({ textContent }) => textContent.trim())).toEqual([
      "abandon",
      "ability",
      "able",
    ]);
    await expectAccessible();
  });

  it("is downloaded unchanged", async () => {
    await renderPage();
    await userEvent.click(screen.getByRole("button", { name: "Save as text" }));
    await waitFor(() => {
      expect(downloads).toEqual([{ name: "secret.txt", text: phrase }]);
    });
  });

  it("shows the signed title where the list has another", async () => {
    await renderPage(makeOpenedSecret({ signedTitle: "Seed of the wallet" }));
    expect(screen.getByText(/Seed of the wallet/)).toBeVisible();
    await expectAccessible();
  });

  it("warns if the author is not verified", async () => {
    await renderPage(makeOpenedSecret({ signatureStatus: "not_verified" }));
    expect(screen.getByText("Author not verified")).toBeVisible();
    await expectAccessible();
  });
});

it("an opened file is saved, never displayed", async () => {
  await renderPage(makeOpenedSecret({ contentKind: "file", name: "passport.pdf", mime: "application/pdf" }));
  expect(screen.getByText(wholeText("passport.pdf, 20 bytes"))).toBeVisible();
  expect(screen.queryByRole("button", { name: "Show" })).not.toBeInTheDocument();
  await userEvent.click(screen.getByRole("button", { name: "Save the file" }));
  await waitFor(() => {
    expect(downloads).toEqual([{ name: "passport.pdf", text: phrase }]);
  });
  await expectAccessible();
});

describe("saving as an age file", () => {
  it("saves the sealed file and its identity, with the command that opens them", async () => {
    await renderPage();
    await userEvent.click(screen.getByRole("button", { name: "Save as an .age file" }));
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Save the encrypted file" }));
    await userEvent.click(screen.getByRole("button", { name: "Save its key" }));
    await waitFor(() => {
      expect(downloads).toEqual([
        { name: "secret.txt.age", text: "\u0001\u0002\u0003" },
        { name: "secret.txt.identity.txt", text: "AGE-SECRET-KEY-PQ-1X\n" },
      ]);
    });
    expect(screen.getByText("age -d -i secret.txt.identity.txt secret.txt.age | head -c 20")).toBeVisible();
  });

  it("asks the vault for the identity only when a file is saved", async () => {
    const exportAgeFile = jest.fn(() => Promise.reject(new PortalError("vault_locked")));
    await renderPage(makeOpenedSecret({ exportAgeFile }));
    await userEvent.click(screen.getByRole("button", { name: "Save as an .age file" }));
    expect(exportAgeFile).not.toHaveBeenCalled();
    await userEvent.click(screen.getByRole("button", { name: "Save its key" }));
    expect(await screen.findByRole("alert")).toHaveTextContent("Your secrets are locked on this device");
    expect(downloads).toEqual([]);
  });
});

describe("an opened secret is wiped", () => {
  const expectDisposed = (secret: OpenedSecret) => {
    expect([...(secret.content ?? [1])].every((byte) => byte === 0)).toBe(true);
    expect(secret.dispose).toHaveBeenCalledTimes(1);
  };

  it("on close", async () => {
    const secret = makeOpenedSecret();
    const { getLocation } = await renderPage(secret);
    expect(screen.getByRole("link", { name: "Share" })).toHaveAttribute(
      "href",
      "/share/01890a5d-ac96-7000-8000-000000000001",
    );
    await userEvent.click(screen.getByRole("button", { name: "Close" }));
    expect(getLocation()).toBe("/secrets");
    expectDisposed(secret);
  });

  it("when the page is left", async () => {
    const secret = makeOpenedSecret();
    const { goTo } = await renderPage(secret);
    await goTo("/home");
    await waitFor(() => {
      expectDisposed(secret);
    });
  });

  it("on lock", async () => {
    const secret = makeOpenedSecret();
    const { record } = await renderPage(secret);
    await act(async () => {
      for (const listener of record.lockListeners) await listener("lock");
    });
    expect(screen.getByRole("heading", { level: 1, name: "Nothing is open" })).toBeVisible();
    expectDisposed(secret);
    expect(record.lockListeners.size).toBe(0);
    await expectAccessible();
  });
});

it("renders in Spanish and in the dark theme", async () => {
  await renderPage(makeOpenedSecret(), { language: "es", theme: "dark" });
  await userEvent.click(screen.getByRole("button", { name: "Mostrar" }));
  expect(screen.getByText(phrase)).toBeVisible();
  await expectAccessible();
});

it("marks an older version", async () => {
  await renderPage(makeOpenedSecret({ current: false, version: 2 }));
  expect(screen.getByText("This is version 2, not the latest")).toBeVisible();
  await expectAccessible();
});

describe("a file too large for memory", () => {
  const makeLargeSecret = (overrides: Partial<OpenedSecret> = {}) =>
    makeOpenedSecret({ contentKind: "file", name: "film.mp4", size: 3_000_000_000, content: null, ...overrides });
  const download = () => userEvent.click(screen.getByRole("button", { name: "Save the file" }));
  afterEach(() => {
    Reflect.deleteProperty(window, "showSaveFilePicker");
  });

  it("is saved to the chosen file, and offers no age export", async () => {
    const handle = {};
    const showSaveFilePicker = jest.fn(() => Promise.resolve(handle));
    Object.defineProperty(window, "showSaveFilePicker", { configurable: true, value: showSaveFilePicker });
    const save = jest.fn(() => Promise.resolve(null));
    await renderPage(makeLargeSecret({ save }));
    expect(screen.queryByRole("button", { name: "Save as an .age file" })).not.toBeInTheDocument();
    await download();
    expect(await screen.findByText("Saved and verified.")).toBeVisible();
    expect(showSaveFilePicker).toHaveBeenCalledWith({ suggestedName: "film.mp4" });
    expect(save).toHaveBeenCalledWith(handle, expect.anything());
    expect(downloads).toEqual([]);
    await expectAccessible();
  });

  it("is downloaded if no file can be chosen", async () => {
    await renderPage(makeLargeSecret({ save: () => Promise.resolve(new Blob(["film"])) }));
    await download();
    await waitFor(() => {
      expect(downloads).toEqual([{ name: "film.mp4", text: "film" }]);
    });
  });

  it("shows progress, and can be cancelled", async () => {
    let signal: AbortSignal | undefined;
    const save: OpenedSecret["save"] = (_target, options) => {
      signal = options?.signal;
      options?.onProgress?.({ phase: "fetching", done: 1, total: 4 });
      return new Promise((_resolve, reject) => {
        signal?.addEventListener("abort", () => {
          reject(new PortalError("cancelled"));
        });
      });
    };
    await renderPage(makeLargeSecret({ save }));
    await download();
    expect(screen.getByRole("progressbar", { name: "Downloading" })).toHaveAttribute("aria-valuenow", "25");
    await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
    expect(signal?.aborted).toBe(true);
    expect(screen.queryByRole("progressbar")).not.toBeInTheDocument();
    expect(screen.queryByRole("alert")).not.toBeInTheDocument();
  });

  it("saves nothing if no file is chosen, and shows a failure", async () => {
    Object.defineProperty(window, "showSaveFilePicker", {
      configurable: true,
      value: () => Promise.reject(new DOMException("", "AbortError")),
    });
    const save = jest.fn(() => Promise.reject(new PortalError("decryption_failed")));
    await renderPage(makeLargeSecret({ save }));
    await download();
    expect(save).not.toHaveBeenCalled();
    Reflect.deleteProperty(window, "showSaveFilePicker");
    await download();
    expect(await screen.findByRole("alert")).toHaveTextContent("This could not be opened");
  });
});

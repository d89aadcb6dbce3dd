import { PortalError } from "@relicario/shared/errors";
import { expectAccessible, renderApp, wholeText } from "@relicario/shared/testing";
import type { AgeFile, ShownContent } from "@relicario/vault/element";
import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { PressGuardContext } from "../openers/GuardedButton.tsx";
import { OpenedContentView, type OpenedContentViewProps } from "./OpenedContentView.tsx";
import { revealMilliseconds } from "./useReveal.ts";

const phrase = "abandon ability able";
const downloads: { name: string; text: string }[] = [];
let copied: string[] = [];

const encode = (text: string) => Uint8Array.from(new TextEncoder().encode(text));

interface Given extends Partial<ShownContent> {
  readonly saveOpened?: OpenedContentViewProps["vault"]["saveOpened"];
  readonly exportAgeFile?: () => Promise<AgeFile>;
  readonly clearClipboard?: () => Promise<void>;
  readonly isGuarded?: boolean;
}

async function renderView(
  {
    saveOpened = () => Promise.resolve(new Blob([phrase])),
    exportAgeFile = () =>
      Promise.resolve({ sealedContent: Uint8Array.of(1, 2, 3), identity: "AGE-SECRET-KEY-PQ-1X", size: 20 }),
    clearClipboard = () => new Promise(() => undefined),
    isGuarded = false,
    ...overrides
  }: Given = {},
  settings: Parameters<typeof renderApp>[1] = {},
) {
  const content: ShownContent = {
    contentKind: "text",
    name: "secret.txt",
    mime: "text/plain",
    size: 20,
    title: "Wallet",
    content: encode(phrase),
    hasAgeFile: true,
    ...overrides,
  };
  const readOpened = jest.fn(() => Promise.resolve(content));
  const view = (
    <OpenedContentView
      openedId="one"
      title="Answer"
      vault={{ readOpened, saveOpened, exportAgeFile }}
      clearClipboard={clearClipboard}
    />
  );
  const onPress = jest.fn();
  const app = await renderApp(
    <main>
      <h1>Wallet</h1>
      {isGuarded ? (
        <PressGuardContext value={{ inSightSince: null, isReady: false, onPress }}>{view}</PressGuardContext>
      ) : (
        view
      )}
    </main>,
    settings,
  );
  return { ...app, content, readOpened, onPress };
}

/** jsdom has no clipboard, object URLs or downloads: records what would be copied and saved. */
beforeEach(() => {
  downloads.length = 0;
  copied = [];
  Object.defineProperty(navigator, "clipboard", {
    configurable: true,
    value: {
      writeText: (text: string) => {
        copied.push(text);
        return Promise.resolve();
      },
    },
  });
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
});

const press = (name: string) => userEvent.click(screen.getByRole("button", { name }));

describe("an opened text", () => {
  it("is hidden until it is asked for", async () => {
    await renderView();
    expect(screen.queryByText(phrase)).not.toBeInTheDocument();
    await expectAccessible();
    await press("Show");
    expect(screen.getByText(phrase)).toBeVisible();
    await expectAccessible();
    await press("Hide");
    expect(screen.queryByText(phrase)).not.toBeInTheDocument();
  });

  it("hides when the window loses focus", async () => {
    await renderView();
    await press("Show");
    fireEvent.blur(window);
    expect(screen.queryByText(phrase)).not.toBeInTheDocument();
  });

  it("hides when the page is covered", async () => {
    await renderView();
    await press("Show");
    jest.spyOn(document, "visibilityState", "get").mockReturnValue("hidden");
    fireEvent(document, new Event("visibilitychange"));
    expect(screen.queryByText(phrase)).not.toBeInTheDocument();
  });

  it("hides after a minute", async () => {
    await renderView();
    jest.useFakeTimers();
    fireEvent.click(screen.getByRole("button", { name: "Show" }));
    await act(() => jest.advanceTimersByTimeAsync(revealMilliseconds - 1));
    expect(screen.getByText(phrase)).toBeVisible();
    await act(() => jest.advanceTimersByTimeAsync(1));
    expect(screen.queryByText(phrase)).not.toBeInTheDocument();
  });

  it("is shown as text, never as markup", async () => {
    const markup = "<script>alert(1)</script>";
    await renderView({ content: encode(markup) });
    await press("Show");
    expect(screen.getByText(markup)).toBeVisible();
  });

  it.each(["text", "seed"] as const)("is not translated by a page translator: %s", async (contentKind) => {
    await renderView({ contentKind });
    await press("Show");
    const shown = screen.getByLabelText("Content of the secret");
    expect(shown).toHaveTextContent(/abandon ability/);
    expect(shown).toHaveAttribute("translate", "no");
  });

  it("has the direction of its text", async () => {
    await renderView({ content: encode("\u05e9\u05dc\u05d5\u05dd 1") });
    await press("Show");
    expect(screen.getByLabelText("Content of the secret")).toHaveAttribute("dir", "auto");
  });

  it("is a numbered list for a seed phrase", async () => {
    await renderView({ contentKind: "seed" });
    await press("Show");
    expect(screen.getAllByRole("listitem").map(({ textContent }) => textContent.trim())).toEqual([
      "abandon",
      "ability",
      "able",
    ]);
    await expectAccessible();
  });

  it("is downloaded unchanged", async () => {
    await renderView();
    await press("Save as text");
    await waitFor(() => {
      expect(downloads).toEqual([{ name: "secret.txt", text: phrase }]);
    });
  });

  it("is copied, and the page is asked to clear the clipboard, which outlives the element", async () => {
    let end = (): void => undefined;
    const clearClipboard = jest.fn(
      () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
    );
    await renderView({ clearClipboard });
    await press("Copy");
    expect(copied).toEqual([phrase]);
    expect(await screen.findByText("Copied. Clipboard clears in 30 s.")).toBeVisible();
    expect(clearClipboard).toHaveBeenCalledTimes(1);
    await act(async () => {
      end();
      await Promise.resolve();
    });
    expect(screen.getByText("Clipboard cleared.")).toBeVisible();
    expect(copied).toEqual([phrase]);
  });

  it.each([
    ["its own title", "Wallet"],
    [null, "Answer"],
  ])("is printed under %s", async (given, heading) => {
    window.print = jest.fn();
    await renderView({ title: given === null ? null : heading });
    await press("Print");
    expect(window.print).toHaveBeenCalledTimes(1);
    expect(document.querySelector("[data-print] h1")).toHaveTextContent(heading);
    expect(document.querySelector("[data-print] pre")).toHaveTextContent(phrase);
    fireEvent(window, new Event("afterprint"));
    expect(document.querySelector("[data-print]")).toBeNull();
  });

  it("is shown in Spanish and in the dark theme", async () => {
    await renderView({}, { language: "es", theme: "dark" });
    await press("Mostrar");
    expect(screen.getByText(phrase)).toBeVisible();
    await expectAccessible();
  });
});

describe("an element that was not in sight", () => {
  it.each(["Show", "Save as text", "Copy", "Print"])("ignores a press of %s", async (name) => {
    window.print = jest.fn();
    const { onPress } = await renderView({ isGuarded: true });
    await press(name);
    expect(onPress).toHaveBeenCalledWith(false);
    await Promise.resolve();
    expect(screen.queryByText(phrase)).not.toBeInTheDocument();
    expect([copied, downloads]).toEqual([[], []]);
    expect(window.print).not.toHaveBeenCalled();
  });

  it.each(["Save the encrypted file", "Save its key"])("exports nothing by a press of %s", async (name) => {
    const exportAgeFile = jest.fn(() => Promise.reject(new PortalError("vault_locked")));
    await renderView({ isGuarded: true, exportAgeFile });
    await press("Save as an .age file");
    await press(name);
    expect(exportAgeFile).not.toHaveBeenCalled();
  });

  it("saves no file", async () => {
    const saveOpened = jest.fn(() => Promise.resolve(new Blob()));
    await renderView({ isGuarded: true, contentKind: "file", saveOpened });
    await press("Save the file");
    expect(saveOpened).not.toHaveBeenCalled();
  });
});

it("an opened file is saved under a safe name, never displayed", async () => {
  await renderView({ contentKind: "file", name: "passport.pdf", mime: "application/pdf" });
  expect(screen.getByText(wholeText("passport.pdf, 20 bytes"))).toBeVisible();
  expect(screen.queryByRole("button", { name: "Show" })).not.toBeInTheDocument();
  await press("Save the file");
  await waitFor(() => {
    expect(downloads).toEqual([{ name: "passport.pdf", text: phrase }]);
  });
  expect(screen.getByText("Saved and verified.")).toBeVisible();
  await expectAccessible();
});

describe("a file too large for memory", () => {
  const large = { contentKind: "file", name: "film.mp4", size: 3_000_000_000, content: null } as const;

  it("is saved, and offers no age export", async () => {
    await renderView({ ...large, saveOpened: () => Promise.resolve(new Blob(["film"])) });
    expect(screen.queryByRole("button", { name: "Save as an .age file" })).not.toBeInTheDocument();
    await press("Save the file");
    await waitFor(() => {
      expect(downloads).toEqual([{ name: "film.mp4", text: "film" }]);
    });
  });

  it("shows progress, and can be cancelled", async () => {
    let signal: AbortSignal | undefined;
    await renderView({
      ...large,
      saveOpened: (_id, options) => {
        signal = options?.signal;
        options?.onProgress?.({ phase: "fetching", done: 1, total: 4 });
        return new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => {
            reject(new PortalError("cancelled"));
          });
        });
      },
    });
    await press("Save the file");
    expect(screen.getByRole("progressbar", { name: "Downloading" })).toHaveAttribute("aria-valuenow", "25");
    await press("Cancel");
    expect(signal?.aborted).toBe(true);
    expect(screen.queryByRole("progressbar")).not.toBeInTheDocument();
    expect(screen.queryByRole("alert")).not.toBeInTheDocument();
  });

  it("shows a failure", async () => {
    await renderView({ ...large, saveOpened: () => Promise.reject(new PortalError("decryption_failed")) });
    await press("Save the file");
    expect(await screen.findByRole("alert")).toHaveTextContent("This could not be opened");
    expect(downloads).toEqual([]);
  });
});

describe("saving as an age file", () => {
  it("saves the sealed file and its identity, with the command that opens them", async () => {
    await renderView();
    await press("Save as an .age file");
    await expectAccessible();
    await press("Save the encrypted file");
    await press("Save its key");
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
    await renderView({ exportAgeFile });
    await press("Save as an .age file");
    expect(exportAgeFile).not.toHaveBeenCalled();
    await press("Save its key");
    expect(await screen.findByRole("alert")).toHaveTextContent("Your secrets are locked on this device");
    expect(downloads).toEqual([]);
  });

  it("is not offered for a content of another person", async () => {
    await renderView({ hasAgeFile: false });
    expect(screen.queryByRole("button", { name: "Save as an .age file" })).not.toBeInTheDocument();
  });
});

it("wipes its copy of the bytes when it is left", async () => {
  const { unmount, content } = await renderView();
  unmount();
  expect([...(content.content ?? [1])].every((byte) => byte === 0)).toBe(true);
});

it("says that a content is no longer open", async () => {
  const { readOpened } = await renderView();
  readOpened.mockRejectedValue(new PortalError("vault_locked"));
  await renderApp(
    <OpenedContentView
      openedId="one"
      title="Answer"
      vault={{ readOpened, saveOpened: jest.fn(), exportAgeFile: jest.fn() }}
      clearClipboard={() => Promise.resolve()}
    />,
  );
  expect(await screen.findByRole("alert")).toHaveTextContent("Your secrets are locked on this device");
});

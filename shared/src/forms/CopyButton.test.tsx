import { act, fireEvent, screen } from "@testing-library/react";

import { expectAccessible, renderApp } from "../testing/index.ts";
import { clipboardClearMilliseconds } from "./clipboard.ts";
import { CopyButton } from "./CopyButton.tsx";

/** Clipboard for jsdom, which has none; can refuse one write. */
const clipboard = {
  text: "",
  isRefusing: false,
  writeText: async (text: string): Promise<void> => {
    if (clipboard.isRefusing) {
      clipboard.isRefusing = false;
      throw new DOMException("Document is not focused", "NotAllowedError");
    }
    clipboard.text = text;
    return Promise.resolve();
  },
};

describe("CopyButton", () => {
  beforeEach(() => {
    Object.defineProperty(navigator, "clipboard", { value: clipboard, configurable: true });
    clipboard.text = "";
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
    Reflect.deleteProperty(navigator, "clipboard");
  });

  const renderAndCopy = async () => {
    await renderApp(<CopyButton sensitive label="Copy" getText={() => "abandon ability"} />);
    await act(async () => {
      fireEvent.click(screen.getByRole("button", { name: "Copy" }));
      await Promise.resolve();
    });
  };

  it("clears the clipboard after 30 seconds", async () => {
    await renderAndCopy();
    expect(clipboard.text).toBe("abandon ability");
    expect(screen.getByRole("status")).toHaveTextContent("Copied. Clipboard clears in 30 s.");
    await act(() => jest.advanceTimersByTimeAsync(clipboardClearMilliseconds - 1));
    expect(clipboard.text).toBe("abandon ability");
    await act(() => jest.advanceTimersByTimeAsync(1));
    expect(clipboard.text).toBe("");
    expect(screen.getByRole("status")).toHaveTextContent("Clipboard cleared.");
  });

  it("clears the clipboard on the next focus when the browser refused without focus", async () => {
    await renderAndCopy();
    clipboard.isRefusing = true;
    await act(() => jest.advanceTimersByTimeAsync(clipboardClearMilliseconds));
    expect(clipboard.text).toBe("abandon ability");
    await act(async () => {
      window.dispatchEvent(new Event("focus"));
      await Promise.resolve();
    });
    expect(clipboard.text).toBe("");
  });

  it("clears the clipboard after the button was unmounted", async () => {
    const { unmount } = await renderApp(<CopyButton sensitive label="Copy" getText={() => "abandon ability"} />);
    await act(async () => {
      fireEvent.click(screen.getByRole("button", { name: "Copy" }));
      await Promise.resolve();
    });
    unmount();
    await act(() => jest.advanceTimersByTimeAsync(clipboardClearMilliseconds));
    expect(clipboard.text).toBe("");
  });

  it("shows an error when the browser refuses to copy", async () => {
    clipboard.isRefusing = true;
    await renderAndCopy();
    expect(screen.getByRole("alert")).toHaveTextContent("copy it yourself");
    jest.useRealTimers();
    await expectAccessible();
  });
});

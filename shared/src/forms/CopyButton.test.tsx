import { act, fireEvent, screen } from "@testing-library/react";

import { expectAccessible, renderApp } from "../testing/index.ts";
import { clipboardClearMilliseconds } from "./clipboard.ts";
import { CopyButton } from "./CopyButton.tsx";

/** jsdom has no clipboard: one that holds a text, and can refuse once. */
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
    await renderApp(<CopyButton secret label="Copy" text={() => "abandon ability"} />);
    await act(async () => {
      fireEvent.click(screen.getByRole("button", { name: "Copy" }));
      await Promise.resolve();
    });
  };

  it("clears the clipboard after 30 seconds", async () => {
    await renderAndCopy();
    expect(clipboard.text).toBe("abandon ability");
    expect(screen.getByRole("status")).toHaveTextContent("Copied. It leaves the clipboard after 30 seconds.");
    await act(() => jest.advanceTimersByTimeAsync(clipboardClearMilliseconds - 1));
    expect(clipboard.text).toBe("abandon ability");
    await act(() => jest.advanceTimersByTimeAsync(1));
    expect(clipboard.text).toBe("");
    expect(screen.getByRole("status")).toHaveTextContent("The clipboard is empty again.");
  });

  it("clears it when the window has focus again, where the browser refused without", async () => {
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

  it("clears what was copied by a button that is gone", async () => {
    const { unmount } = await renderApp(<CopyButton secret label="Copy" text={() => "abandon ability"} />);
    await act(async () => {
      fireEvent.click(screen.getByRole("button", { name: "Copy" }));
      await Promise.resolve();
    });
    unmount();
    await act(() => jest.advanceTimersByTimeAsync(clipboardClearMilliseconds));
    expect(clipboard.text).toBe("");
  });

  it("says so when the browser does not allow copying", async () => {
    clipboard.isRefusing = true;
    await renderAndCopy();
    expect(screen.getByRole("alert")).toHaveTextContent("copy it by hand");
    jest.useRealTimers();
    await expectAccessible();
  });
});

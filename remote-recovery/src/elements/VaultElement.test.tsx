import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { createChannel, type Channel } from "@relicario/shared/contract";
import { clipboardClearMilliseconds } from "@relicario/shared/forms";
import { expectAccessible, renderApp } from "@relicario/shared/testing";
import { emptyElementState, type ElementState } from "@relicario/vault";

import { createOpenedView } from "./OpenedView.tsx";
import { createVaultElement } from "./VaultElement.tsx";

const vaultOrigin = "https://vault.example";
const heldId = "0b3c4f9e-2f0e-4a0a-9d7c-0d1f6a2b7c11";
const readyState: ElementState = { ...emptyElementState, heldId, ready: true, kind: "picture", problem: null };

let closeVaultFrame: () => void;

async function renderElement() {
  const states: ElementState[] = [];
  const submit = jest.fn((event: { preventDefault: () => void }) => {
    event.preventDefault();
  });
  const closeListeners: (() => void)[] = [];
  closeVaultFrame = () => {
    for (const listener of closeListeners) listener();
  };
  const VaultElement = createVaultElement({
    channel: { onClose: (listener) => closeListeners.push(listener) },
    vaultOrigin,
    vaultId: 3,
  });
  await renderApp(
    <main>
      <h1>Form</h1>
      <form onSubmit={submit}>
        <VaultElement
          field={{ kind: "picture", purpose: "show", pictureOnly: false, keepsDraft: false, search: null }}
          onChange={(state) => states.push(state)}
        />
        <button type="submit">Open</button>
      </form>
    </main>,
  );
  return { states, submit, frame: screen.getByTitle<HTMLIFrameElement>("Way to open") };
}

async function renderOpenedView() {
  const OpenedView = createOpenedView(
    createVaultElement({ channel: { onClose: () => undefined }, vaultOrigin, vaultId: null }),
    heldId,
    "text",
  );
  const { unmount } = await renderApp(
    <main>
      <OpenedView title="Wallet" />
    </main>,
  );
  return { unmount, frame: screen.getByTitle<HTMLIFrameElement>("Opened content") };
}

/** The element's side of the channel, as messages of a window at an origin. */
function connect(frame: HTMLIFrameElement, { origin = vaultOrigin, source = frame.contentWindow } = {}): Channel {
  const listeners = new Set<(message: unknown) => void>();
  if (frame.contentWindow !== null)
    frame.contentWindow.postMessage = (message: unknown) => {
      for (const listener of listeners) listener(message);
    };
  return createChannel({
    post: (data) => {
      act(() => {
        window.dispatchEvent(new MessageEvent("message", { data, origin, source }));
      });
    },
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  });
}

describe("VaultElement", () => {
  it("shows a frame of the vault's origin, names the page in its address, and lets it use passkeys", async () => {
    const { frame } = await renderElement();
    expect(frame.src).toBe(`${vaultOrigin}/element#portal=${encodeURIComponent(window.location.origin)}`);
    expect(frame.getAttribute("allow")).toContain("publickey-credentials-get");
    expect(frame.getAttribute("allow")).not.toContain("publickey-credentials-create");
    await expectAccessible();
  });

  it("gives settings, takes states, and follows the height", async () => {
    const { frame, states, submit } = await renderElement();
    const element = connect(frame);
    element.serve("element", { update: () => undefined });
    await expect(element.call("elementPage", ["start"])).resolves.toMatchObject({
      language: "en",
      theme: "light",
      vaultId: 3,
      heldId: null,
      field: { kind: "picture", purpose: "show" },
    });
    await element.call("elementPage", ["resize"], [400, null]);
    expect(frame).toHaveStyle({ height: "408px" });
    await element.call("elementPage", ["change"], [readyState]);
    expect(states).toEqual([readyState]);
    await element.call("elementPage", ["submit"]);
    expect(submit).toHaveBeenCalledTimes(1);
  });

  it("drops the input of an element that loads again, because its controller is gone", async () => {
    const { frame, states } = await renderElement();
    const element = connect(frame);
    element.serve("element", { update: () => undefined });
    await element.call("elementPage", ["start"]);
    await element.call("elementPage", ["resize"], [400, null]);
    await element.call("elementPage", ["change"], [readyState]);
    await expect(element.call("elementPage", ["start"])).resolves.toMatchObject({ heldId: null });
    expect(states).toEqual([readyState, emptyElementState]);
  });

  it("takes no value beyond the state", async () => {
    const { frame, states } = await renderElement();
    const element = connect(frame);
    for (const state of [{ ...readyState, passphrase: "four words" }, { ...readyState, heldId: "1" }, "state"])
      await expect(element.call("elementPage", ["change"], [state])).rejects.toBeDefined();
    expect(states).toEqual([]);
  });

  it("clears the clipboard for an element that shows a content, also after it is left", async () => {
    const written: string[] = [];
    Object.defineProperty(navigator, "clipboard", {
      configurable: true,
      value: { writeText: (text: string) => Promise.resolve(written.push(text)) },
    });
    const { frame, unmount } = await renderOpenedView();
    expect(frame.getAttribute("allow")).toBe("clipboard-write");
    const element = connect(frame);
    await expect(element.call("elementPage", ["start"])).resolves.toMatchObject({
      field: { kind: "opened", openedId: heldId, title: "Wallet" },
    });
    jest.useFakeTimers();
    try {
      void element.call("elementPage", ["copied"]);
      unmount();
      await act(() => jest.advanceTimersByTimeAsync(clipboardClearMilliseconds));
    } finally {
      jest.useRealTimers();
      Reflect.deleteProperty(navigator, "clipboard");
    }
    expect(written).toEqual([""]);
  });

  it.each([
    ["of another origin", { origin: "https://elsewhere.example" }],
    ["of another window", { source: window }],
  ])("hears no message %s", async (_, from) => {
    const { frame, states } = await renderElement();
    void connect(frame, from).call("elementPage", ["change"], [readyState]);
    await act(() => Promise.resolve());
    expect(states).toEqual([]);
  });

  it("says in its place that the vault failed, and starts again on request", async () => {
    const { frame } = await renderElement();
    void connect(frame).call("elementPage", ["fail"], ["remote_unreachable"]); // ends before it is answered
    await userEvent.click(await screen.findByRole("button", { name: "Try again" }));
    const nextFrame = screen.getByTitle("Way to open");
    expect(nextFrame).not.toBe(frame);
    act(() => {
      closeVaultFrame();
    });
    expect(await screen.findByRole("alert")).toHaveTextContent("did not load");
  });

  it("fails when the element does not start", async () => {
    jest.useFakeTimers({ doNotFake: ["queueMicrotask", "setImmediate"] });
    try {
      await renderElement();
      act(() => {
        jest.advanceTimersByTime(20_000);
      });
    } finally {
      jest.useRealTimers();
    }
    await waitFor(() => {
      expect(screen.getByRole("alert")).toHaveTextContent("did not load");
    });
  });
});

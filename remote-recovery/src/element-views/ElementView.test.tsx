import { PortalError } from "@relicario/shared/errors";
import { renderApp } from "@relicario/shared/testing";
import type { ElementVault, ShownContent } from "@relicario/vault/element";
import { act, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { ElementView } from "./ElementView.tsx";

const openedId = "0b3c4f9e-2f0e-4a0a-9d7c-0d1f6a2b7c11";
const phrase = "abandon ability able";

async function renderOpened() {
  const listeners: { lock: () => void; release: (id: string) => void } = {
    lock: () => undefined,
    release: () => undefined,
  };
  const content: ShownContent = {
    contentKind: "text",
    name: "secret.txt",
    mime: "text/plain",
    size: phrase.length,
    title: "Wallet",
    content: Uint8Array.from(new TextEncoder().encode(phrase)),
    hasAgeFile: false,
  };
  const readOpened = jest.fn(() => Promise.resolve(content));
  const refuse = () => Promise.reject(new PortalError("forbidden"));
  const vault: ElementVault = {
    examine: null,
    hold: refuse,
    getDraft: refuse,
    release: () => undefined,
    generateRecoveryCode: refuse,
    mark: { read: refuse, acknowledge: refuse },
    getMarkQuestion: refuse,
    answerMark: refuse,
    readOpened,
    saveOpened: refuse,
    exportAgeFile: refuse,
    disconnect: () => undefined,
    onControllerGone: () => undefined,
    onLock: (listener) => {
      listeners.lock = listener;
      return () => undefined;
    },
    onRelease: (listener) => {
      listeners.release = listener;
      return () => undefined;
    },
  };
  const told: unknown[] = [];
  const tell = (...args: readonly unknown[]): void => {
    told.push(args);
  };
  await renderApp(
    <ElementView
      settings={{ field: { kind: "opened", openedId, title: "Answer" }, disabled: false, userName: "alba" }}
      initialDraft={null}
      productName="Relicario"
      portalOrigin="https://portal.example.org"
      vault={vault}
      onChange={tell}
      onSearch={tell}
      onSubmit={tell}
      onCancel={tell}
      onDeviceCode={tell}
      onCopied={() => Promise.resolve()}
    />,
  );
  await userEvent.click(await screen.findByRole("button", { name: "Show" }));
  expect(screen.getByText(phrase)).toBeVisible();
  readOpened.mockRejectedValue(new PortalError("vault_locked"));
  return { listeners, told, content };
}

describe("an element that shows an opened content", () => {
  it("tells the page nothing of it", async () => {
    const { told } = await renderOpened();
    expect(told).toEqual([]);
  });

  it("keeps it when another content is disposed of", async () => {
    const { listeners } = await renderOpened();
    act(() => {
      listeners.release("3f8f4b0e-6a2f-4a57-8a51-0d9e2c6b1a77");
    });
    expect(screen.getByText(phrase)).toBeVisible();
  });

  it.each([
    ["at a lock", ({ lock }: Awaited<ReturnType<typeof renderOpened>>["listeners"]) => lock],
    ["when it is disposed of", ({ release }: Awaited<ReturnType<typeof renderOpened>>["listeners"]) => release],
  ])("clears it %s, on the screen and in memory", async (_, getListener) => {
    const { listeners, content } = await renderOpened();
    act(() => {
      getListener(listeners)(openedId);
    });
    expect(screen.queryByText(phrase)).not.toBeInTheDocument();
    expect([...(content.content ?? [1])].every((byte) => byte === 0)).toBe(true);
    expect(await screen.findByRole("alert")).toHaveTextContent("Your secrets are locked on this device");
  });
});

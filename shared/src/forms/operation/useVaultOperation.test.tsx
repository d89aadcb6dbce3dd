import { act, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";

import type { KeepOpenStatus, OpenerHandle, LockReason, VaultProgress } from "../../contract/index.ts";
import { PortalError } from "../../errors/index.ts";
import { createFakeVault, createPictureFile, renderApp } from "../../testing/index.ts";
import { OpenerPrompt, RequestedOpener } from "./OpenerPrompt.tsx";
import {
  useVaultOperation,
  type OperationOptions,
  type OperationPlan,
  type VaultOperation,
} from "./useVaultOperation.ts";

const progress: VaultProgress = { phase: "sealing", done: 1, total: 2 };

/** A run that the test ends. */
interface Run {
  readonly options: OperationOptions;
  readonly opener: OpenerHandle | null;
  readonly succeed: (result: string) => Promise<void>;
  readonly fail: (code: ConstructorParameters<typeof PortalError>[0]) => Promise<void>;
}

async function renderOperation(
  asksOpener: boolean,
  changes: Partial<OperationPlan<string>> = {},
  kept: { status: KeepOpenStatus } | null = null,
) {
  const runs: Run[] = [];
  const callbackCalls: string[] = [];
  let operation: VaultOperation | null = null;
  const vault = createFakeVault();
  const releasedHandles: OpenerHandle[] = [];
  const owner = { ...vault, releaseOpener: (handle: OpenerHandle) => releasedHandles.push(handle) };
  const plan: OperationPlan<string> = {
    run: (options, opener) =>
      new Promise((resolve, reject) => {
        runs.push({
          options,
          opener,
          succeed: (result) =>
            act(async () => {
              resolve(result);
              await Promise.resolve();
            }),
          fail: (code) =>
            act(async () => {
              reject(new PortalError(code));
              await Promise.resolve();
            }),
        });
      }),
    onDone: (result) => callbackCalls.push(`done ${result}`),
    onFailed: ({ code }) => callbackCalls.push(`failed ${code}`),
    onLateResult: (result) => callbackCalls.push(`late ${result}`),
    onSettled: () => callbackCalls.push("settled"),
    ...changes,
  };
  function Screen() {
    operation = useVaultOperation({
      vault: owner,
      asksOpener,
      ...(kept === null ? {} : { keepOpen: { ...vault.keepOpen, getStatus: () => kept.status } }),
    });
    const { start } = operation;
    return asksOpener ? (
      <OpenerPrompt
        vault={vault}
        operation={operation}
        label="Go"
        onSubmit={() => {
          start(plan);
        }}
      />
    ) : (
      <>
        <button
          type="button"
          onClick={() => {
            start(plan);
          }}
        >
          Begin
        </button>
        <RequestedOpener vault={vault} operation={operation} label="Go" reason="It takes a picture." />
      </>
    );
  }
  const app = await renderApp(<Screen />);
  const getState = () => {
    if (operation === null) throw new Error("nothing was rendered");
    const { running, error, asksOpener: needsOpener } = operation;
    return { running, error: error?.code ?? null, asks: needsOpener };
  };
  const lock = (reason: LockReason) =>
    act(async () => {
      await Promise.all([...app.record.lockListeners].map(async (listener) => listener(reason)));
    });
  return {
    ...app,
    runs,
    callbackCalls,
    releasedHandles,
    getState,
    lock,
    press: (name: string) => userEvent.click(screen.getByRole("button", { name })),
  };
}

const startRun = async (asksOpener = false, changes: Partial<OperationPlan<string>> = {}) => {
  const rendered = await renderOperation(asksOpener, changes);
  if (asksOpener) await userEvent.upload(screen.getByLabelText("Choose a picture"), createPictureFile("lake"));
  await rendered.press(asksOpener ? "Go" : "Begin");
  return rendered;
};

describe("useVaultOperation", () => {
  it("reports progress and the result", async () => {
    const { runs, callbackCalls, getState } = await startRun();
    act(() => {
      runs[0]?.options.onProgress(progress);
    });
    expect(screen.getByRole("progressbar", { name: "Encrypting" })).toBeVisible();
    await runs[0]?.succeed("one");
    expect([getState(), callbackCalls]).toEqual([
      { running: false, error: null, asks: false },
      ["settled", "done one"],
    ]);
  });

  it("shows an error until the next run", async () => {
    const { runs, callbackCalls, getState, press } = await startRun();
    await runs[0]?.fail("storage_full");
    expect(screen.getByRole("alert")).toBeVisible();
    expect([getState().error, callbackCalls]).toEqual(["storage_full", ["settled", "failed storage_full"]]);
    await press("Begin");
    expect(getState()).toEqual({ running: true, error: null, asks: false });
  });

  it("asks for an opener on show_opener_first, and runs again with it", async () => {
    const { runs, callbackCalls, getState, press, releasedHandles } = await startRun();
    expect(runs[0]?.opener).toBeNull();
    await runs[0]?.fail("show_opener_first");
    expect(getState()).toEqual({ running: false, error: null, asks: true });
    await press("Go");
    expect(screen.getByRole("alert")).toHaveTextContent("Choose a picture, a recovery code or a passkey first.");
    await userEvent.upload(screen.getByLabelText("Choose a picture"), createPictureFile("lake"));
    expect(screen.queryByRole("alert")).not.toBeInTheDocument();
    await press("Go");
    const opener = runs[1]?.opener;
    expect(opener).not.toBeNull();
    await runs[1]?.fail("not_this_picture"); // another opener may work, so the operation keeps asking
    expect(getState()).toEqual({ running: false, error: "not_this_picture", asks: true });
    await press("Go");
    await runs[2]?.succeed("two");
    expect([getState().asks, callbackCalls.at(-1), releasedHandles]).toEqual([false, "done two", [opener]]);
  });

  it("aborts on cancel, and ignores the failure that follows", async () => {
    const { runs, callbackCalls, getState, press } = await startRun(true);
    await press("Cancel");
    expect([runs[0]?.options.signal.aborted, getState().running]).toEqual([true, true]); // until the run stops
    await runs[0]?.fail("storage_full");
    expect([getState(), callbackCalls]).toEqual([{ running: false, error: null, asks: true }, ["settled"]]);
  });

  it("passes a result that arrives after a cancel to onLateResult", async () => {
    const { runs, callbackCalls, getState, press } = await startRun(true);
    await press("Cancel");
    await runs[0]?.succeed("one");
    expect([getState().running, callbackCalls]).toEqual([false, ["settled", "late one"]]);
  });

  it("is superseded by a newer run", async () => {
    const { runs, callbackCalls, getState, press } = await startRun();
    await press("Begin");
    expect(runs.map(({ options }) => options.signal.aborted)).toEqual([true, false]);
    await runs[0]?.succeed("one");
    expect([getState().running, callbackCalls]).toEqual([true, ["settled", "late one"]]);
    await runs[1]?.succeed("two");
    expect(callbackCalls.slice(2)).toEqual(["settled", "done two"]);
  });

  it("aborts when its screen unmounts", async () => {
    const { runs, callbackCalls, unmount, releasedHandles } = await startRun(true);
    unmount();
    expect([runs[0]?.options.signal.aborted, releasedHandles]).toEqual([true, [runs[0]?.opener]]);
    await runs[0]?.succeed("one");
    expect(callbackCalls).toEqual(["settled", "late one"]);
  });

  it("aborts on a lock with vault_locked", async () => {
    const { runs, callbackCalls, getState, lock } = await startRun(true);
    await lock("lock");
    expect(runs[0]?.options.signal.aborted).toBe(true);
    expect([getState(), callbackCalls]).toEqual([
      { running: false, error: "vault_locked", asks: true },
      ["failed vault_locked"],
    ]);
    await runs[0]?.fail("cancelled");
    expect([getState().error, callbackCalls.at(-1)]).toEqual(["vault_locked", "settled"]);
  });

  it("stops asking for an opener after a lock", async () => {
    const { runs, getState, lock } = await startRun();
    await runs[0]?.fail("show_opener_first");
    await lock("lock");
    expect(getState()).toEqual({ running: false, error: null, asks: false });
  });

  it("continues with `continues` while locked and after unmounting", async () => {
    const { runs, callbackCalls, getState, lock, unmount } = await startRun(false, { continues: true });
    await lock("lock");
    expect(getState().running).toBe(true);
    unmount();
    expect(runs[0]?.options.signal.aborted).toBe(false);
    await runs[0]?.succeed("one");
    expect(callbackCalls).toEqual(["settled", "late one"]);
  });

  it("does not release an opener that the result owns", async () => {
    const { runs, releasedHandles, unmount } = await startRun(true, { takesOpener: true });
    await runs[0]?.succeed("one");
    unmount();
    expect(releasedHandles).toEqual([]);
  });
});

describe("useVaultOperation with the opener that is kept open", () => {
  const noteTexts = {
    time_over: "Five minutes have passed since you last showed a way to open. Show one again.",
    locked: "Your secrets were locked since you last showed a way to open. Show one again.",
    setting_changed: "You changed how long a way to open stays. Show one again.",
  } as const;

  it("uses it, and says that the field can stay empty", async () => {
    const { runs, press, getState } = await renderOperation(true, {}, { status: "open" });
    expect(screen.getByText(/you can leave this empty/)).toBeVisible();
    await press("Go");
    expect([runs[0]?.opener, getState().asks]).toEqual([null, false]);
  });

  it.each(Object.entries(noteTexts))("asks for one, and says why: %s", async (status, text) => {
    const { runs, press } = await renderOperation(true, {}, { status: status as KeepOpenStatus });
    expect(screen.getByText(text)).toBeVisible();
    await press("Go");
    expect(runs).toEqual([]);
    expect(screen.getByText("Choose a picture, a recovery code or a passkey first.")).toBeVisible();
  });

  it("says why if it ended while the screen was open, and runs again with another one", async () => {
    const kept: { status: KeepOpenStatus } = { status: "open" };
    const { runs, press } = await renderOperation(true, {}, kept);
    await press("Go");
    kept.status = "time_over";
    await runs[0]?.fail("show_opener_first");
    expect(screen.getByText(noteTexts.time_over)).toBeVisible();
    expect(screen.queryByText(/you can leave this empty/)).toBeNull();
    await userEvent.upload(screen.getByLabelText("Choose a picture"), createPictureFile("lake"));
    await press("Go");
    expect(runs[1]?.opener).not.toBeNull();
  });

  it("gives no reason where it does not open the secret, or where none was kept", async () => {
    const { runs, press } = await renderOperation(false, {}, { status: "open" });
    await press("Begin");
    await runs[0]?.fail("show_opener_first");
    expect(screen.getByText("It takes a picture.")).toBeVisible();
    expect(screen.queryByText(/leave this empty|Show one again/)).toBeNull();
  });
});

import { cleanup, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import type { ConfirmOptions } from "../contract/index.ts";
import { expectAccessible, renderApp } from "../testing/index.ts";
import { Button } from "./Button.tsx";
import { ConfirmDialog } from "./ConfirmDialog.tsx";
import { Dialog, useDialog } from "./Dialog.tsx";
import { Menu } from "./Menu.tsx";
import { Tooltip } from "./Tooltip.tsx";

function DialogExample() {
  const dialog = useDialog();
  return (
    <main>
      <Button onClick={dialog.show}>Open</Button>
      <Dialog open={dialog.open} onClose={dialog.onClose} title="Save" description="Two files">
        <Button>Inside</Button>
      </Dialog>
    </main>
  );
}

/**
 * Resolves with the first non-null result of `query`. Checks at each change of the DOM, so before
 * any animation advances.
 */
function observeFirst<T>(query: () => T | null): Promise<T> {
  return new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      const result = query();
      if (result === null) return;
      observer.disconnect();
      resolve(result);
    });
    observer.observe(document.body, { childList: true, subtree: true });
  });
}

describe("Dialog", () => {
  it("keeps focus inside, and returns it when Escape closes it", async () => {
    await renderApp(<DialogExample />);
    const trigger = screen.getByRole("button", { name: "Open" });
    await userEvent.click(trigger);
    const dialog = screen.getByRole("dialog", { name: "Save" });
    expect(dialog).toHaveAccessibleDescription("Two files");
    for (let presses = 0; presses < 4; presses++) {
      await userEvent.tab();
      expect(dialog).toContainElement(document.activeElement as HTMLElement);
    }
    await userEvent.keyboard("{Escape}");
    expect(screen.queryByRole("dialog")).not.toBeInTheDocument();
    await waitFor(() => {
      expect(trigger).toHaveFocus();
    });
  });

  it("closes by its close button", async () => {
    await renderApp(<DialogExample />);
    await userEvent.click(screen.getByRole("button", { name: "Open" }));
    await userEvent.click(screen.getByRole("button", { name: "Close" }));
    expect(screen.queryByRole("dialog")).not.toBeInTheDocument();
  });

  it("is opaque from the first frame, and only slightly smaller", async () => {
    await renderApp(<DialogExample />, { animated: true });
    const firstFrame = observeFirst(() => {
      const dialog = document.querySelector<HTMLElement>("[role=dialog]");
      return dialog === null ? null : { transform: dialog.style.transform, opacity: dialog.style.opacity };
    });
    await userEvent.click(screen.getByRole("button", { name: "Open" }));
    expect(await firstFrame).toEqual({ transform: expect.stringMatching(/^scale\(0?\.9/) as unknown, opacity: "" });
    const { style } = screen.getByRole("dialog");
    await waitFor(() => {
      expect(style.transform).toBe("none");
    });
  });

  it("unmounts and returns the focus at once on closing, while the overlay fades", async () => {
    await renderApp(<DialogExample />, { animated: true });
    const trigger = screen.getByRole("button", { name: "Open" });
    await userEvent.click(trigger);
    const findBackdrop = () =>
      document.querySelector<HTMLElement>("body > [style*=opacity]:not([data-radix-focus-guard])");
    const closedState = observeFirst(() =>
      screen.queryByRole("dialog") !== null
        ? null
        : {
            backdrop: findBackdrop(),
            backdropPointerEvents: getComputedStyle(findBackdrop() ?? document.body).pointerEvents,
            pagePointerEvents: document.body.style.pointerEvents,
          },
    );
    await userEvent.keyboard("{Escape}");
    expect(await closedState).toEqual({
      backdrop: expect.any(HTMLElement) as unknown,
      backdropPointerEvents: "none",
      pagePointerEvents: "",
    });
    await waitFor(() => {
      expect(trigger).toHaveFocus();
    });
    await waitFor(() => {
      expect(findBackdrop()).not.toBeInTheDocument();
    });
  });

  it.each(["light", "dark"] as const)("has no accessibility violations in %s", async (theme) => {
    await renderApp(<DialogExample />, { theme });
    await userEvent.click(screen.getByRole("button", { name: "Open" }));
    await expectAccessible();
  });
});

describe("ConfirmDialog", () => {
  const renderConfirm = async (request: Partial<ConfirmOptions> & { disabled?: boolean } = {}) => {
    const onAnswer = jest.fn();
    await renderApp(
      <ConfirmDialog open title="Sign out?" description="Your secrets stay sealed." onAnswer={onAnswer} {...request} />,
    );
    return onAnswer;
  };

  it("shows Yes on the left and Cancel on the right", async () => {
    await renderConfirm({ mustAnswer: true });
    expect(screen.getAllByRole("button").map((button) => button.textContent)).toEqual(["Yes", "Cancel"]);
  });

  it.each([
    ["Yes", true],
    ["Cancel", false],
  ])("answers after a press of %s with %s", async (name, answer) => {
    const onAnswer = await renderConfirm();
    await userEvent.click(screen.getByRole("button", { name }));
    expect(onAnswer).toHaveBeenCalledWith(answer);
  });

  it("answers false on Escape", async () => {
    const onAnswer = await renderConfirm();
    await userEvent.keyboard("{Escape}");
    expect(onAnswer).toHaveBeenCalledWith(false);
  });

  it("answers false on a click outside", async () => {
    const onAnswer = await renderConfirm();
    await userEvent.click(document.querySelector("[data-state='open']") ?? document.body, { pointerEventsCheck: 0 });
    expect(onAnswer).toHaveBeenCalledWith(false);
  });

  it("ignores a click outside with `mustAnswer`", async () => {
    const onAnswer = await renderConfirm({ mustAnswer: true });
    await userEvent.click(document.querySelector("[data-state='open']") ?? document.body, { pointerEventsCheck: 0 });
    expect(onAnswer).not.toHaveBeenCalled();
  });

  it("styles and focuses Cancel as the main button with `danger`", async () => {
    const getBackground = (name: string) => getComputedStyle(screen.getByRole("button", { name })).background;
    await renderConfirm();
    const [main, quiet] = [getBackground("Yes"), getBackground("Cancel")];
    cleanup();
    await renderConfirm({ danger: true });
    expect(getBackground("Cancel")).toBe(main);
    expect([main, quiet]).not.toContain(getBackground("Yes"));
    expect(screen.getByRole("button", { name: "Cancel" })).toHaveFocus();
  });

  it("shows the warning icon only with `alert`", async () => {
    await renderConfirm({ alert: true });
    expect(screen.getByRole("alertdialog").querySelector("svg.lucide-triangle-alert")).toBeInTheDocument();
    cleanup();
    await renderConfirm();
    expect(screen.getByRole("dialog").querySelector("svg.lucide-triangle-alert")).toBeNull();
  });

  it("lies above the loading overlay", async () => {
    await renderConfirm();
    const getZIndex = (element: Element | null) => (element === null ? "" : getComputedStyle(element).zIndex);
    expect(getZIndex(document.querySelector("[data-state='open']"))).toBe("1000");
    expect(getZIndex(screen.getByRole("dialog").parentElement)).toBe("1000");
  });

  it("ignores Escape and has no close button with `mustAnswer`", async () => {
    const onAnswer = await renderConfirm({ mustAnswer: true });
    await userEvent.keyboard("{Escape}");
    expect(onAnswer).not.toHaveBeenCalled();
    expect(screen.queryByRole("button", { name: "Close" })).not.toBeInTheDocument();
  });

  it("has only one button with `singleButton`", async () => {
    await renderConfirm({ singleButton: true, confirmLabel: "Understood" });
    expect(screen.getByRole("button", { name: "Understood" })).toBeVisible();
    expect(screen.queryByRole("button", { name: "Cancel" })).not.toBeInTheDocument();
  });

  it("accepts no answer while disabled", async () => {
    const onAnswer = await renderConfirm({ disabled: true });
    await userEvent.click(screen.getByRole("button", { name: "Yes" }));
    await userEvent.keyboard("{Escape}");
    expect(onAnswer).not.toHaveBeenCalled();
  });

  it.each([
    [true, "Cancel"],
    [false, "Yes"],
  ])("focuses, with `alert` %s, the button %s", async (alert, name) => {
    await renderConfirm({ alert });
    expect(screen.getByRole("button", { name })).toHaveFocus();
  });

  it("is an alertdialog with `alert`, without accessibility violations", async () => {
    await renderConfirm({ alert: true });
    expect(screen.getByRole("alertdialog", { name: "Sign out?" })).toBeVisible();
    await expectAccessible();
  });
});

describe("Menu", () => {
  it("selects an item by keyboard", async () => {
    const onRestore = jest.fn();
    await renderApp(
      <main>
        <Menu
          label="More for keys"
          items={[
            { key: "recover", label: "Recover", onSelect: jest.fn() },
            { key: "restore", label: "Restore", onSelect: onRestore },
          ]}
        />
      </main>,
    );
    await userEvent.tab();
    await userEvent.keyboard("{Enter}");
    expect(screen.getByRole("menuitem", { name: "Recover" })).toHaveFocus();
    await expectAccessible();
    await userEvent.keyboard("{ArrowDown}{Enter}");
    expect(onRestore).toHaveBeenCalledTimes(1);
    expect(screen.queryByRole("menu")).not.toBeInTheDocument();
  });
});

describe("Tooltip", () => {
  const renderTooltip = () =>
    renderApp(
      <main>
        <Tooltip text="Home">
          <button type="button">H</button>
        </Tooltip>
      </main>,
    );

  it("opens on focus, and closes on Escape", async () => {
    await renderTooltip();
    await userEvent.tab();
    expect(await screen.findByRole("tooltip")).toHaveTextContent("Home");
    expect(screen.getByRole("button")).not.toHaveAccessibleDescription(); // a description would repeat the name
    await expectAccessible();
    await userEvent.keyboard("{Escape}");
    expect(screen.queryByRole("tooltip")).not.toBeInTheDocument();
    expect(screen.getByRole("button")).toHaveFocus();
  });

  it("opens on hover, stays while the pointer is on the tooltip, and closes when it leaves", async () => {
    await renderTooltip();
    const user = userEvent.setup();
    await user.hover(screen.getByRole("button"));
    const tooltip = await screen.findByRole("tooltip");
    await user.hover(tooltip);
    expect(tooltip).toBeVisible();
    // jsdom has no layout. The pointer may cross a gap on its way to the tooltip, so the library
    // compares coordinates.
    for (const x of [400, 500]) await user.pointer({ target: screen.getByRole("main"), coords: { x, y: 500 } });
    await waitFor(() => {
      expect(screen.queryByRole("tooltip")).not.toBeInTheDocument();
    });
  });

  it("closes when its element is pressed", async () => {
    await renderTooltip();
    const user = userEvent.setup();
    await user.hover(screen.getByRole("button"));
    await screen.findByRole("tooltip");
    await user.pointer({ keys: "[MouseLeft]", target: screen.getByRole("button") });
    await waitFor(() => {
      expect(screen.queryByRole("tooltip")).not.toBeInTheDocument();
    });
  });
});

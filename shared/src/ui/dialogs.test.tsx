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
 * What `query` finds once it finds anything, in that very moment however busy the machine: no
 * animation goes on before it.
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
  it("keeps focus inside and gives it back when Escape closes it", async () => {
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

  it("closes by its cross", async () => {
    await renderApp(<DialogExample />);
    await userEvent.click(screen.getByRole("button", { name: "Open" }));
    await userEvent.click(screen.getByRole("button", { name: "Close" }));
    expect(screen.queryByRole("dialog")).not.toBeInTheDocument();
  });

  it("is whole from its first moment on, only a little smaller", async () => {
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

  it("is gone and gives page and focus back at once when it is closed, while its shade still fades", async () => {
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

  it("says Yes on the left and Cancel on the right", async () => {
    await renderConfirm({ mustAnswer: true });
    expect(screen.getAllByRole("button").map((button) => button.textContent)).toEqual(["Yes", "Cancel"]);
  });

  it.each([
    ["Yes", true],
    ["Cancel", false],
  ])("answers %s with %s", async (name, answer) => {
    const onAnswer = await renderConfirm();
    await userEvent.click(screen.getByRole("button", { name }));
    expect(onAnswer).toHaveBeenCalledWith(answer);
  });

  it("answers no at Escape", async () => {
    const onAnswer = await renderConfirm();
    await userEvent.keyboard("{Escape}");
    expect(onAnswer).toHaveBeenCalledWith(false);
  });

  it("answers no at a click outside", async () => {
    const onAnswer = await renderConfirm();
    await userEvent.click(document.querySelector("[data-state='open']") ?? document.body, { pointerEventsCheck: 0 });
    expect(onAnswer).toHaveBeenCalledWith(false);
  });

  it("stays at a click outside where an answer must be given", async () => {
    const onAnswer = await renderConfirm({ mustAnswer: true });
    await userEvent.click(document.querySelector("[data-state='open']") ?? document.body, { pointerEventsCheck: 0 });
    expect(onAnswer).not.toHaveBeenCalled();
  });

  it("has the harmless answer for its main one, and begins there, when the other loses something", async () => {
    const getBackground = (name: string) => getComputedStyle(screen.getByRole("button", { name })).background;
    await renderConfirm();
    const [main, quiet] = [getBackground("Yes"), getBackground("Cancel")];
    cleanup();
    await renderConfirm({ danger: true });
    expect(getBackground("Cancel")).toBe(main);
    expect([main, quiet]).not.toContain(getBackground("Yes"));
    expect(screen.getByRole("button", { name: "Cancel" })).toHaveFocus();
  });

  it("shows a sign of warning only when it is an alert", async () => {
    await renderConfirm({ alert: true });
    expect(screen.getByRole("alertdialog").querySelector("svg.lucide-triangle-alert")).toBeInTheDocument();
    cleanup();
    await renderConfirm();
    expect(screen.getByRole("dialog").querySelector("svg.lucide-triangle-alert")).toBeNull();
  });

  it("lies above the overlay of loading", async () => {
    await renderConfirm();
    const getZIndex = (element: Element | null) => (element === null ? "" : getComputedStyle(element).zIndex);
    expect(getZIndex(document.querySelector("[data-state='open']"))).toBe("1000");
    expect(getZIndex(screen.getByRole("dialog").parentElement)).toBe("1000");
  });

  it("waits for an answer where one must be given", async () => {
    const onAnswer = await renderConfirm({ mustAnswer: true });
    await userEvent.keyboard("{Escape}");
    expect(onAnswer).not.toHaveBeenCalled();
    expect(screen.queryByRole("button", { name: "Close" })).not.toBeInTheDocument();
  });

  it("has one button when there is nothing to decide", async () => {
    await renderConfirm({ singleButton: true, confirmLabel: "Understood" });
    expect(screen.getByRole("button", { name: "Understood" })).toBeVisible();
    expect(screen.queryByRole("button", { name: "Cancel" })).not.toBeInTheDocument();
  });

  it("takes no answer while its buttons are disabled", async () => {
    const onAnswer = await renderConfirm({ disabled: true });
    await userEvent.click(screen.getByRole("button", { name: "Yes" }));
    await userEvent.keyboard("{Escape}");
    expect(onAnswer).not.toHaveBeenCalled();
  });

  it.each([
    [true, "Cancel"],
    [false, "Yes"],
  ])("begins, as an alert (%s), at the button %s", async (alert, name) => {
    await renderConfirm({ alert });
    expect(screen.getByRole("button", { name })).toHaveFocus();
  });

  it("interrupts when it is an alert, without accessibility violations", async () => {
    await renderConfirm({ alert: true });
    expect(screen.getByRole("alertdialog", { name: "Sign out?" })).toBeVisible();
    await expectAccessible();
  });
});

describe("Menu", () => {
  it("chooses by keyboard alone", async () => {
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

  it("shows on focus, and goes with Escape", async () => {
    await renderTooltip();
    await userEvent.tab();
    expect(await screen.findByRole("tooltip")).toHaveTextContent("Home");
    expect(screen.getByRole("button")).not.toHaveAccessibleDescription(); // it would repeat the name
    await expectAccessible();
    await userEvent.keyboard("{Escape}");
    expect(screen.queryByRole("tooltip")).not.toBeInTheDocument();
    expect(screen.getByRole("button")).toHaveFocus();
  });

  it("shows where a pointer rests, stays while it is on the tooltip, and goes when it goes", async () => {
    await renderTooltip();
    const user = userEvent.setup();
    await user.hover(screen.getByRole("button"));
    const tooltip = await screen.findByRole("tooltip");
    await user.hover(tooltip);
    expect(tooltip).toBeVisible();
    // Where it goes is looked at by coordinates, since it may cross a gap on its way to the
    // tooltip; nothing is laid out here.
    for (const x of [400, 500]) await user.pointer({ target: screen.getByRole("main"), coords: { x, y: 500 } });
    await waitFor(() => {
      expect(screen.queryByRole("tooltip")).not.toBeInTheDocument();
    });
  });

  it("goes when its element is pressed", async () => {
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

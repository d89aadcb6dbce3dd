import { cleanup, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import type { ConfirmRequest } from "../contract/index.ts";
import { expectAccessible, renderApp } from "../testing/index.ts";
import { Button } from "./Button.tsx";
import { ConfirmDialog } from "./ConfirmDialog.tsx";
import { Dialog, useDialog } from "./Dialog.tsx";
import { Menu } from "./Menu.tsx";
import { Tooltip } from "./Tooltip.tsx";

function WithDialog() {
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
 * What `look` finds once it finds anything, in that very moment however busy the machine: no
 * animation goes on before it.
 */
function atOnce<T>(look: () => T | null): Promise<T> {
  return new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      const found = look();
      if (found === null) return;
      observer.disconnect();
      resolve(found);
    });
    observer.observe(document.body, { childList: true, subtree: true });
  });
}

describe("Dialog", () => {
  it("keeps focus inside and gives it back when Escape closes it", async () => {
    await renderApp(<WithDialog />);
    const opener = screen.getByRole("button", { name: "Open" });
    await userEvent.click(opener);
    const dialog = screen.getByRole("dialog", { name: "Save" });
    expect(dialog).toHaveAccessibleDescription("Two files");
    for (let presses = 0; presses < 4; presses++) {
      await userEvent.tab();
      expect(dialog).toContainElement(document.activeElement as HTMLElement);
    }
    await userEvent.keyboard("{Escape}");
    expect(screen.queryByRole("dialog")).not.toBeInTheDocument();
    await waitFor(() => {
      expect(opener).toHaveFocus();
    });
  });

  it("closes by its cross", async () => {
    await renderApp(<WithDialog />);
    await userEvent.click(screen.getByRole("button", { name: "Open" }));
    await userEvent.click(screen.getByRole("button", { name: "Close" }));
    expect(screen.queryByRole("dialog")).not.toBeInTheDocument();
  });

  it("is whole from its first moment on, only a little smaller", async () => {
    await renderApp(<WithDialog />, { moving: true });
    const atItsStart = atOnce(() => {
      const dialog = document.querySelector<HTMLElement>("[role=dialog]");
      return dialog === null ? null : { transform: dialog.style.transform, opacity: dialog.style.opacity };
    });
    await userEvent.click(screen.getByRole("button", { name: "Open" }));
    expect(await atItsStart).toEqual({ transform: expect.stringMatching(/^scale\(0?\.9/) as unknown, opacity: "" });
    const { style } = screen.getByRole("dialog");
    await waitFor(() => {
      expect(style.transform).toBe("none");
    });
  });

  it("is gone and gives page and focus back at once when it is closed, while its shade still fades", async () => {
    await renderApp(<WithDialog />, { moving: true });
    const opener = screen.getByRole("button", { name: "Open" });
    await userEvent.click(opener);
    const shade = () => document.querySelector<HTMLElement>("body > [style*=opacity]:not([data-radix-focus-guard])");
    const atItsEnd = atOnce(() =>
      screen.queryByRole("dialog") !== null
        ? null
        : {
            shade: shade(),
            ofShade: getComputedStyle(shade() ?? document.body).pointerEvents,
            ofPage: document.body.style.pointerEvents,
          },
    );
    await userEvent.keyboard("{Escape}");
    expect(await atItsEnd).toEqual({ shade: expect.any(HTMLElement) as unknown, ofShade: "none", ofPage: "" });
    await waitFor(() => {
      expect(opener).toHaveFocus();
    });
    await waitFor(() => {
      expect(shade()).not.toBeInTheDocument();
    });
  });

  it.each(["light", "dark"] as const)("has no accessibility violations in %s", async (theme) => {
    await renderApp(<WithDialog />, { theme });
    await userEvent.click(screen.getByRole("button", { name: "Open" }));
    await expectAccessible();
  });
});

describe("ConfirmDialog", () => {
  const ask = async (request: Partial<ConfirmRequest> & { disabled?: boolean } = {}) => {
    const answered = jest.fn();
    await renderApp(
      <ConfirmDialog open title="Sign out?" description="Your secrets stay sealed." onAnswer={answered} {...request} />,
    );
    return answered;
  };

  it("says Yes on the left and Cancel on the right", async () => {
    await ask({ mustAnswer: true });
    expect(screen.getAllByRole("button").map((each) => each.textContent)).toEqual(["Yes", "Cancel"]);
  });

  it.each([
    ["Yes", true],
    ["Cancel", false],
  ])("answers %s with %s", async (name, answer) => {
    const answered = await ask();
    await userEvent.click(screen.getByRole("button", { name }));
    expect(answered).toHaveBeenCalledWith(answer);
  });

  it("answers no at Escape", async () => {
    const answered = await ask();
    await userEvent.keyboard("{Escape}");
    expect(answered).toHaveBeenCalledWith(false);
  });

  it("answers no at a click outside", async () => {
    const answered = await ask();
    await userEvent.click(document.querySelector("[data-state='open']") ?? document.body, { pointerEventsCheck: 0 });
    expect(answered).toHaveBeenCalledWith(false);
  });

  it("stays at a click outside where an answer must be given", async () => {
    const answered = await ask({ mustAnswer: true });
    await userEvent.click(document.querySelector("[data-state='open']") ?? document.body, { pointerEventsCheck: 0 });
    expect(answered).not.toHaveBeenCalled();
  });

  it("has the harmless answer for its main one, and begins there, when the other loses something", async () => {
    const background = (name: string) => getComputedStyle(screen.getByRole("button", { name })).background;
    await ask();
    const [main, quiet] = [background("Yes"), background("Cancel")];
    cleanup();
    await ask({ danger: true });
    expect(background("Cancel")).toBe(main);
    expect([main, quiet]).not.toContain(background("Yes"));
    expect(screen.getByRole("button", { name: "Cancel" })).toHaveFocus();
  });

  it("shows a sign of warning only when it is an alert", async () => {
    await ask({ alert: true });
    expect(screen.getByRole("alertdialog").querySelector("svg.lucide-triangle-alert")).toBeInTheDocument();
    cleanup();
    await ask();
    expect(screen.getByRole("dialog").querySelector("svg.lucide-triangle-alert")).toBeNull();
  });

  it("lies above the overlay of loading", async () => {
    await ask();
    const depthOf = (element: Element | null) => (element === null ? "" : getComputedStyle(element).zIndex);
    expect(depthOf(document.querySelector("[data-state='open']"))).toBe("1000");
    expect(depthOf(screen.getByRole("dialog").parentElement)).toBe("1000");
  });

  it("waits for an answer where one must be given", async () => {
    const answered = await ask({ mustAnswer: true });
    await userEvent.keyboard("{Escape}");
    expect(answered).not.toHaveBeenCalled();
    expect(screen.queryByRole("button", { name: "Close" })).not.toBeInTheDocument();
  });

  it("has one button when there is nothing to decide", async () => {
    await ask({ single: true, confirmLabel: "Understood" });
    expect(screen.getByRole("button", { name: "Understood" })).toBeVisible();
    expect(screen.queryByRole("button", { name: "Cancel" })).not.toBeInTheDocument();
  });

  it("takes no answer while its buttons are disabled", async () => {
    const answered = await ask({ disabled: true });
    await userEvent.click(screen.getByRole("button", { name: "Yes" }));
    await userEvent.keyboard("{Escape}");
    expect(answered).not.toHaveBeenCalled();
  });

  it.each([
    [true, "Cancel"],
    [false, "Yes"],
  ])("begins, as an alert (%s), at the button %s", async (alert, name) => {
    await ask({ alert });
    expect(screen.getByRole("button", { name })).toHaveFocus();
  });

  it("interrupts when it is an alert, without accessibility violations", async () => {
    await ask({ alert: true });
    expect(screen.getByRole("alertdialog", { name: "Sign out?" })).toBeVisible();
    await expectAccessible();
  });
});

describe("Menu", () => {
  it("chooses by keyboard alone", async () => {
    const restored = jest.fn();
    await renderApp(
      <main>
        <Menu
          label="More for keys"
          items={[
            { key: "recover", label: "Recover", onSelect: jest.fn() },
            { key: "restore", label: "Restore", onSelect: restored },
          ]}
        />
      </main>,
    );
    await userEvent.tab();
    await userEvent.keyboard("{Enter}");
    expect(screen.getByRole("menuitem", { name: "Recover" })).toHaveFocus();
    await expectAccessible();
    await userEvent.keyboard("{ArrowDown}{Enter}");
    expect(restored).toHaveBeenCalledTimes(1);
    expect(screen.queryByRole("menu")).not.toBeInTheDocument();
  });
});

describe("Tooltip", () => {
  const show = () =>
    renderApp(
      <main>
        <Tooltip text="Home">
          <button type="button">H</button>
        </Tooltip>
      </main>,
    );

  it("shows on focus, and goes with Escape", async () => {
    await show();
    await userEvent.tab();
    expect(await screen.findByRole("tooltip")).toHaveTextContent("Home");
    expect(screen.getByRole("button")).not.toHaveAccessibleDescription(); // it would repeat the name
    await expectAccessible();
    await userEvent.keyboard("{Escape}");
    expect(screen.queryByRole("tooltip")).not.toBeInTheDocument();
    expect(screen.getByRole("button")).toHaveFocus();
  });

  it("shows where a pointer rests, stays while it is on the tooltip, and goes when it goes", async () => {
    await show();
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
    await show();
    const user = userEvent.setup();
    await user.hover(screen.getByRole("button"));
    await screen.findByRole("tooltip");
    await user.pointer({ keys: "[MouseLeft]", target: screen.getByRole("button") });
    await waitFor(() => {
      expect(screen.queryByRole("tooltip")).not.toBeInTheDocument();
    });
  });
});

import { expectAccessible, renderApp } from "@relicario/shared/testing";
import { fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { Slides } from "./Slides.tsx";
import { swipeThreshold } from "./swipe.ts";

async function show(language: "en" | "es" = "en", animated = false) {
  const onSkip = jest.fn();
  const onFinish = jest.fn();
  await renderApp(<Slides onSkip={onSkip} onFinish={onFinish} />, { language, animated });
  return { onSkip, onFinish };
}

const titles = [
  "Protect it with a picture",
  "Your picture stays on your device",
  "The picture opens it again",
] as const;

function swipe(distance: number): void {
  const slides = screen.getByRole("dialog");
  // jsdom's pointer events have no coordinates.
  fireEvent(slides, new MouseEvent("pointerdown", { bubbles: true, clientX: 200 }));
  fireEvent(slides, new MouseEvent("pointerup", { bubbles: true, clientX: 200 + distance }));
}

function getShownTitle(): string | null {
  return screen.getByRole("heading").textContent;
}

describe("Slides", () => {
  it("are three slides, each with image, title and description", async () => {
    await show();
    for (const [index, title] of titles.entries()) {
      await userEvent.click(screen.getByRole("button", { name: `Slide ${String(index + 1)} of 3` }));
      const dialog = screen.getByRole("dialog", { name: title });
      expect(dialog.querySelector("svg")).not.toBeNull();
      expect(dialog).toHaveAccessibleDescription();
      expect(screen.getByRole("button", { current: "step" })).toHaveAccessibleName(`Slide ${String(index + 1)} of 3`);
    }
  });

  it("start with the focus on the dialog, not on the button that skips it", async () => {
    await show();
    expect(screen.getByRole("dialog", { name: titles[0] })).toHaveFocus();
    await userEvent.tab();
    expect(screen.getByRole("button", { name: "Skip" })).toHaveFocus();
  });

  it("say that the image and the keys never leave the device", async () => {
    await show();
    await userEvent.click(screen.getByRole("button", { name: "Next" }));
    expect(screen.getByRole("dialog")).toHaveTextContent("The image and the keys never leave your device.");
  });

  it("go forward at a swipe to the left and back at a swipe to the right, from 10 px", async () => {
    await show();
    expect(swipeThreshold).toBe(10);
    swipe(-9);
    expect(getShownTitle()).toBe(titles[0]);
    swipe(-10);
    expect(getShownTitle()).toBe(titles[1]);
    swipe(9);
    expect(getShownTitle()).toBe(titles[1]);
    swipe(10);
    expect(getShownTitle()).toBe(titles[0]);
    swipe(50);
    expect(getShownTitle()).toBe(titles[0]);
  });

  it("slide in from the side of the swipe, and take the new slide's title and description at once", async () => {
    await show("en", true);
    const findSlide = (name: string) => document.querySelector<HTMLElement>(`[data-slide="${name}"]`);
    swipe(-50);
    expect(findSlide("device")?.style.transform).toMatch(/^translateX\(\d/);
    expect(screen.getByRole("dialog", { name: titles[1] })).toHaveAccessibleDescription(/never leave your device/);
    expect(findSlide("seal")).toBeInTheDocument(); // the previous slide is still sliding out
    await expectAccessible();
    await waitFor(() => {
      expect(findSlide("seal")).not.toBeInTheDocument();
      expect(findSlide("device")?.style.transform).toBe("none");
    });
    swipe(50);
    expect(findSlide("seal")?.style.transform).toMatch(/^translateX\(-\d/);
  });

  it("stay on the last slide at a swipe to the left, and end at the button Finish", async () => {
    const { onFinish } = await show();
    swipe(-50);
    swipe(-50);
    swipe(-50);
    expect(getShownTitle()).toBe(titles[2]);
    expect(onFinish).not.toHaveBeenCalled();
    await userEvent.click(screen.getByRole("button", { name: "Finish" }));
    expect(onFinish).toHaveBeenCalledTimes(1);
  });

  it("are skipped by the link and by Escape", async () => {
    const { onSkip } = await show();
    await userEvent.click(screen.getByRole("button", { name: "Skip" }));
    expect(onSkip).toHaveBeenCalledTimes(1);
    await userEvent.keyboard("{Escape}");
    expect(onSkip).toHaveBeenCalledTimes(2);
  });

  it.each(["en", "es"] as const)("are accessible (%s)", async (language) => {
    await show(language);
    await expectAccessible();
  });
});

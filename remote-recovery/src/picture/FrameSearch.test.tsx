import { fireEvent, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useMemo, useState } from "react";
import type { SearchHint } from "@relicario/engine";
import { expectAccessible, createPictureFile, renderApp } from "@relicario/shared/testing";

import { FrameSearch } from "./FrameSearch.tsx";
import { moveSide, fullFrame } from "./frame.ts";

beforeEach(() => {
  URL.createObjectURL = jest.fn(() => "blob:test/1");
  URL.revokeObjectURL = jest.fn();
});

async function renderFrameSearch(settings: Parameters<typeof renderApp>[1] = {}) {
  const onSearch = jest.fn<undefined, [SearchHint]>();
  await renderApp(
    <main>
      <h1>Recovery</h1>
      <FrameSearch picture={createPictureFile("garden")} disabled={false} onSearch={onSearch} />
    </main>,
    settings,
  );
  return onSearch;
}

describe("FrameSearch", () => {
  it("searches the picture as a screenshot", async () => {
    const onSearch = await renderFrameSearch();
    await userEvent.click(await screen.findByRole("button", { name: "Search the whole screenshot" }));
    expect(onSearch).toHaveBeenCalledWith({ kind: "screenshot" });
  });

  it("moves a side by keyboard, in small and large steps, and searches the frame", async () => {
    const onSearch = await renderFrameSearch();
    const search = await screen.findByRole("button", { name: "Search in the frame" });
    expect(search).toBeDisabled();
    await userEvent.tab();
    const left = screen.getByRole("slider", { name: "Left side of the frame" });
    expect(left).toHaveFocus();
    await userEvent.keyboard("{Shift>}{ArrowRight}{ArrowRight}{/Shift}{ArrowRight}{ArrowLeft}{ArrowLeft}{ArrowUp}");
    expect(left).toHaveAttribute("aria-valuetext", "9.5%");
    await userEvent.tab();
    await userEvent.keyboard("{ArrowDown}");
    expect(screen.getByRole("slider", { name: "Upper side of the frame" })).toHaveAttribute("aria-valuenow", "0.5");
    await userEvent.click(search);
    const [hint] = onSearch.mock.calls[0] ?? [];
    expect(hint).toEqual({
      kind: "frame",
      left: expect.closeTo(0.095),
      right: 1,
      top: expect.closeTo(0.005),
      bottom: 1,
    });
  });

  it("resets the frame for another picture", async () => {
    function SwitchablePicture() {
      const [name, setName] = useState("garden");
      const currentPicture = useMemo(() => createPictureFile(name), [name]);
      return (
        <>
          <button
            type="button"
            onClick={() => {
              setName("market");
            }}
          >
            Another
          </button>
          <FrameSearch picture={currentPicture} disabled={false} onSearch={() => undefined} />
        </>
      );
    }
    await renderApp(<SwitchablePicture />);
    const left = await screen.findByRole("slider", { name: "Left side of the frame" });
    left.focus();
    await userEvent.keyboard("{ArrowRight}");
    expect(left).toHaveAttribute("aria-valuenow", "0.5");
    await userEvent.click(screen.getByRole("button", { name: "Another" }));
    expect(screen.getByRole("slider", { name: "Left side of the frame" })).toHaveAttribute("aria-valuenow", "0");
    expect(screen.getByRole("button", { name: "Search in the frame" })).toBeDisabled();
  });

  it("moves only the dragged side", async () => {
    await renderFrameSearch();
    const right = await screen.findByRole("slider", { name: "Right side of the frame" });
    const canvas = right.parentElement;
    if (canvas === null) throw new Error("no canvas");
    canvas.getBoundingClientRect = () => new DOMRect(100, 0, 400, 300);
    right.setPointerCapture = jest.fn();
    right.hasPointerCapture = () => true;
    fireEvent.pointerDown(right);
    // jsdom's PointerEvent has no coordinates
    fireEvent(right, new MouseEvent("pointermove", { bubbles: true, clientX: 400, clientY: 10 }));
    expect(right).toHaveAttribute("aria-valuenow", "75");
    expect(screen.getByRole("slider", { name: "Left side of the frame" })).toHaveAttribute("aria-valuenow", "0");
  });

  it("hides the frame if the browser cannot show the picture", async () => {
    await renderFrameSearch();
    fireEvent.error(await screen.findByRole("img"));
    expect(screen.queryByRole("slider")).toBeNull();
    expect(screen.queryByRole("button", { name: "Search in the frame" })).toBeNull();
  });

  it("has no accessibility violations", async () => {
    await renderFrameSearch();
    await screen.findByRole("img");
    await expectAccessible();
  });
});

it("moveSide keeps a side within the picture and before the opposite one", () => {
  expect(moveSide(fullFrame, "left", -1).left).toBe(0);
  expect(moveSide(fullFrame, "left", 2).left).toBeCloseTo(0.9);
  expect(moveSide(fullFrame, "right", 2).right).toBe(1);
  expect(moveSide({ ...fullFrame, top: 0.4 }, "bottom", 0).bottom).toBeCloseTo(0.5);
});

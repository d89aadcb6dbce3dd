import { renderApp } from "@relicario/shared/testing";
import { act, screen } from "@testing-library/react";
import type confetti from "canvas-confetti";

import { celebration } from "./appearance.ts";
import { Celebration } from "./Celebration.tsx";

// jsdom draws no canvas; e2e/specs/first-visit.spec.ts checks the drawing.
const reset = jest.fn();
const fire = jest.fn((_options: confetti.Options) => Promise.resolve());
jest.mock("canvas-confetti", () => ({ __esModule: true, default: { create: () => Object.assign(fire, { reset }) } }));

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

async function show() {
  const onEnd = jest.fn();
  const app = await renderApp(<Celebration onEnd={onEnd} />);
  return { onEnd, app };
}

describe("Celebration", () => {
  it("is shown for three seconds", async () => {
    const { onEnd } = await show();
    expect(screen.getByRole("status")).toHaveTextContent("You know your way around.");
    act(() => {
      jest.advanceTimersByTime(2999);
    });
    expect(onEnd).not.toHaveBeenCalled();
    act(() => {
      jest.advanceTimersByTime(1);
    });
    expect(onEnd).toHaveBeenCalledTimes(1);
  });

  it("has 100 pieces of confetti in 7 shades of blue and grey, for 120 frames", async () => {
    await show();
    expect(fire).toHaveBeenCalledWith(
      expect.objectContaining({ particleCount: 100, ticks: 120, colors: [...celebration.colors] }),
    );
    expect(new Set(celebration.colors).size).toBe(7);
    for (const color of celebration.colors) {
      const [red = 0, green = 0, blue = 0] = (color.slice(1).match(/../g) ?? []).map((hex) => Number.parseInt(hex, 16));
      expect({ color, bluest: blue > green && green > red }).toEqual({ color, bluest: true });
    }
  });

  it.each([60, 120])("keeps its confetti in the air for two seconds at %i frames per second", async (hertz) => {
    await show();
    const { create } = jest.requireActual<typeof confetti>("canvas-confetti");
    const frames: FrameRequestCallback[] = [];
    jest.spyOn(window, "requestAnimationFrame").mockImplementation((frame) => frames.push(frame));
    const canvas = document.createElement("canvas");
    const drawingContext = new Proxy({}, { get: () => () => undefined, set: () => true });
    canvas.getContext = (() => drawingContext) as unknown as HTMLCanvasElement["getContext"];
    const onLanded = jest.fn();
    void create(canvas, { useWorker: false })(fire.mock.lastCall?.[0])?.then(onLanded);
    let seconds = 0;
    while (onLanded.mock.calls.length === 0 && seconds < 5) {
      seconds += 1 / hertz;
      // the library's clock is global: frames must be later than those of earlier tests
      for (const frame of frames.splice(0)) frame(1000 * hertz + 1000 * seconds);
      await Promise.resolve();
    }
    expect(seconds).toBeCloseTo(2, 1);
  });

  it("stops its timer and its confetti when unmounted", async () => {
    const { onEnd, app } = await show();
    app.unmount();
    jest.advanceTimersByTime(10_000);
    expect(reset).toHaveBeenCalled();
    expect(onEnd).not.toHaveBeenCalled();
  });
});

import { act, render, screen } from "@testing-library/react";
import { m } from "framer-motion";

import { HostRoot } from "./HostRoot.tsx";
import { createFakeHost } from "./testing/fake-host.tsx";

/** Moves and fades for ten minutes. */
const slowMotion = {
  initial: { x: 0, opacity: 0 },
  animate: { x: 100, opacity: 1 },
  transition: { duration: 600 },
} as const;

describe("HostRoot", () => {
  it("skips movements and fades if the person prefers reduced motion", async () => {
    jest.spyOn(console, "warn").mockReturnValue(undefined); // the library warns developers
    window.matchMedia = (query: string) =>
      ({
        matches: query.includes("prefers-reduced-motion"),
        addEventListener: () => undefined,
        removeEventListener: () => undefined,
      }) as unknown as MediaQueryList;
    render(
      <HostRoot host={createFakeHost().host}>
        <m.p {...slowMotion}>Hello</m.p>
      </HostRoot>,
    );
    await act(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    const { opacity, transform } = screen.getByText("Hello").style;
    expect([opacity, transform]).toEqual(["1", "translateX(100px)"]);
  });
});

import { act, render, screen } from "@testing-library/react";
import { m } from "framer-motion";

import { HostRoot } from "./HostRoot.tsx";
import { createFakeHost } from "./testing/fake-host.tsx";

/** What takes ten minutes to fade and to move. */
const slowMotion = {
  initial: { x: 0, opacity: 0 },
  animate: { x: 100, opacity: 1 },
  transition: { duration: 600 },
} as const;

describe("HostRoot", () => {
  it("lets nothing on the page move or fade for somebody who asks for less motion", async () => {
    jest.spyOn(console, "warn").mockReturnValue(undefined); // the library tells developers so
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

import { renderApp } from "@relicario/shared/testing";
import { screen, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { EVENTS, type Props } from "react-joyride";

import { layoutTour } from "./host-tours.ts";
import { TourRunner } from "./TourRunner.tsx";

// jsdom has no layout, so these tests check the library's parameters. e2e/specs/first-visit.spec.ts
// measures what the library draws.
const renderJoyride = jest.fn((_props: Props): ReactNode => null);
jest.mock("react-joyride", () => ({
  ...jest.requireActual<object>("react-joyride"),
  Joyride: (props: Props) => renderJoyride(props),
}));

it("TourRunner passes the specification's numbers to the library, and overrides them in no step", async () => {
  await renderApp(<TourRunner steps={layoutTour.steps} running onSkip={jest.fn()} onFinish={jest.fn()} />);
  const props = renderJoyride.mock.lastCall?.[0];
  expect(props?.options).toMatchObject({ scrollOffset: 20, scrollDuration: 300, spotlightPadding: 10, width: 380 });
  expect(props?.steps).toHaveLength(9);
  for (const step of props?.steps ?? [])
    expect(Object.keys(step).toSorted()).toEqual(["content", "isFixed", "placement", "target", "title"]);
  expect(screen.queryByRole("dialog")).not.toBeInTheDocument();
});

it.each([
  ["layout-home", true],
  ["layout-help", true],
  ["layout-main", false],
  ["mobile-menu", true],
  ["home-create", false],
])("TourRunner marks %s as fixed: %p", async (target, isFixed) => {
  await renderApp(
    <TourRunner
      steps={[{ target, titleKey: "joyride:layout.home_title", bodyKey: "joyride:layout.home_body" }]}
      running
      onSkip={jest.fn()}
      onFinish={jest.fn()}
    />,
  );
  expect(renderJoyride.mock.lastCall?.[0].steps[0]?.isFixed).toBe(isFixed);
});

it("TourRunner has the library scroll within 300 ms to a target below, leaving 20 px above its spotlight", async () => {
  // jsdom has no layout
  Object.defineProperty(document.documentElement, "scrollHeight", { value: 5000, configurable: true });
  const target = document.createElement("div");
  target.dataset["tour"] = "home-create";
  target.getBoundingClientRect = () => new DOMRect(0, 2000 - document.documentElement.scrollTop, 100, 40);
  document.body.append(target);
  const onScroll = jest.fn();
  const { Joyride: RealJoyride } = jest.requireActual<typeof import("react-joyride")>("react-joyride");
  renderJoyride.mockImplementation((props) => (
    <RealJoyride
      {...props}
      onEvent={(event, controls) => {
        if (event.type === EVENTS.SCROLL_START) onScroll(event.scroll);
        props.onEvent?.(event, controls);
      }}
    />
  ));
  try {
    const app = await renderApp(
      <TourRunner
        steps={[{ target: "home-create", titleKey: "joyride:layout.home_title", bodyKey: "joyride:layout.home_body" }]}
        running
        onSkip={jest.fn()}
        onFinish={jest.fn()}
      />,
    );
    await screen.findByRole("dialog");
    await waitFor(() => {
      expect(document.documentElement.scrollTop).toBe(1970);
    });
    expect(onScroll.mock.calls).toEqual([
      [expect.objectContaining({ initial: 0, target: 2000 - 20 - 10, duration: 300 })],
    ]);
    app.unmount();
  } finally {
    renderJoyride.mockImplementation(() => null);
    target.remove();
    Reflect.deleteProperty(document.documentElement, "scrollHeight");
    document.documentElement.scrollTop = 0;
  }
});

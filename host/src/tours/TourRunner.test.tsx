import { renderApp } from "@relicario/shared/testing";
import { screen } from "@testing-library/react";
import type { Props } from "react-joyride";

import { layoutTour } from "./host-tours.ts";
import { TourRunner } from "./TourRunner.tsx";

// jsdom has no layout, so what the library is told is what can be seen; e2e/specs/first-visit.spec.ts measures what it draws.
const told = jest.fn((_props: Props) => null);
jest.mock("react-joyride", () => ({ ...jest.requireActual<object>("react-joyride"), Joyride: (props: Props) => told(props) }));

it("TourRunner tells the library the specification's numbers, and gives no step others", async () => {
  await renderApp(<TourRunner steps={layoutTour.steps} running onSkip={jest.fn()} onFinish={jest.fn()} />);
  const props = told.mock.lastCall?.[0];
  expect(props?.options).toMatchObject({ scrollOffset: 20, scrollDuration: 300, spotlightPadding: 10, width: 380 });
  expect(props?.steps).toHaveLength(9);
  for (const step of props?.steps ?? []) expect(Object.keys(step).toSorted()).toEqual(["content", "isFixed", "placement", "target", "title"]);
  expect(screen.queryByRole("dialog")).not.toBeInTheDocument();
});

it.each([
  ["layout-home", true],
  ["layout-help", true],
  ["layout-main", false],
  ["mobile-menu", true],
  ["home-create", false],
])("TourRunner says of %s whether it stays in sight while the page scrolls: %p", async (target, inSight) => {
  await renderApp(<TourRunner steps={[{ target, titleKey: "joyride:layout.home_title", bodyKey: "joyride:layout.home_body" }]} running onSkip={jest.fn()} onFinish={jest.fn()} />);
  expect(told.mock.lastCall?.[0].steps[0]?.isFixed).toBe(inSight);
});

import { screen, within } from "@testing-library/react";

import { expectAccessible, renderApp } from "../testing/index.ts";
import { Stepper } from "../forms/Stepper.tsx";
import { EmptyState, Loading, Progress, Skeleton } from "./waiting.tsx";

describe("Progress", () => {
  it("reports its value, and announces it", async () => {
    await renderApp(<Progress label="Sealing" done={37} total={100} />);
    expect(screen.getByRole("progressbar", { name: "Sealing" })).toHaveAttribute("aria-valuenow", "37");
    expect(screen.getByRole("status")).toHaveTextContent("Sealing: 30 percent");
  });

  it("has no value while the total is unknown", async () => {
    await renderApp(<Progress label="Sealing" done={0} total={0} />);
    expect(screen.getByRole("progressbar", { name: "Sealing" })).not.toHaveAttribute("aria-valuenow");
    expect(screen.getByRole("status")).toHaveTextContent(/^Sealing$/);
  });
});

it("Stepper marks the current step and the finished steps", async () => {
  await renderApp(<Stepper label="Steps" steps={["Picture", "Open", "Secret"]} currentStep={1} />);
  const steps = within(screen.getByRole("list", { name: "Steps" })).getAllByRole("listitem");
  expect(steps[0]).toHaveTextContent("(done)");
  expect(steps[1]).toHaveAttribute("aria-current", "step");
  expect(steps[2]).not.toHaveAttribute("aria-current");
});

it.each(["light", "dark"] as const)(
  "waiting and empty states have no accessibility violations in %s",
  async (theme) => {
    await renderApp(
      <main>
        <h1>Secrets</h1>
        <Loading label="Loading your secrets">
          <Skeleton height="78px" />
        </Loading>
        <Progress label="Sealing" done={1} total={2} />
        <Progress label="Sending" done={0} total={0} />
        <Stepper label="Steps" steps={["One", "Two"]} currentStep={1} />
        <EmptyState title="Nothing yet" icon={<svg />}>
          <p>Protect a first secret.</p>
        </EmptyState>
      </main>,
      { theme },
    );
    expect(screen.getByText("Loading your secrets")).toBeInTheDocument();
    await expectAccessible();
  },
);

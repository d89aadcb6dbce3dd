import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { expectAccessible, renderApp } from "../testing/index.ts";
import { Button, IconButton } from "./Button.tsx";
import { ButtonLink } from "./ButtonLink.tsx";

describe("Button", () => {
  it("calls onClick", async () => {
    const onClick = jest.fn();
    await renderApp(<Button onClick={onClick}>Protect</Button>);
    await userEvent.click(screen.getByRole("button", { name: "Protect" }));
    expect(onClick).toHaveBeenCalledTimes(1);
  });

  it("keeps the focus and ignores presses while pending", async () => {
    const onClick = jest.fn();
    const onSubmit = jest.fn();
    await renderApp(
      <form onSubmit={onSubmit}>
        <Button type="submit" pending onClick={onClick}>
          Protect
        </Button>
      </form>,
    );
    const button = screen.getByRole("button", { name: "Protect" });
    await userEvent.tab();
    expect(button).toHaveFocus();
    await userEvent.keyboard("{Enter}");
    expect(onClick).not.toHaveBeenCalled();
    expect(onSubmit).not.toHaveBeenCalled();
    expect(button).toHaveAttribute("aria-busy", "true");
  });

  it("does not submit a form by default", async () => {
    const onSubmit = jest.fn();
    await renderApp(
      <form onSubmit={onSubmit}>
        <Button>Look</Button>
      </form>,
    );
    await userEvent.click(screen.getByRole("button"));
    expect(onSubmit).not.toHaveBeenCalled();
  });
});

it("ButtonLink navigates to a screen of the portal", async () => {
  const { getLocation } = await renderApp(<ButtonLink to="/secrets">Secrets</ButtonLink>);
  await userEvent.click(screen.getByRole("link", { name: "Secrets" }));
  expect(getLocation()).toBe("/secrets");
});

describe.each(["light", "dark"] as const)("buttons in %s", (theme) => {
  it("have no accessibility violations in any tone and state", async () => {
    await renderApp(
      <main>
        <Button>Primary</Button>
        <Button tone="quiet" size="small">
          Quiet
        </Button>
        <Button tone="danger" size="large" pending>
          Danger
        </Button>
        <Button tone="plain" disabled>
          Plain
        </Button>
        <IconButton label="More" icon={<svg aria-hidden />} />
        <ButtonLink to="/home">Home</ButtonLink>
      </main>,
      { theme },
    );
    await expectAccessible();
  });
});

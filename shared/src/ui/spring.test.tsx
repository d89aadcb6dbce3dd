import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { createElement, type ComponentProps, type ReactElement } from "react";

import { renderApp } from "../testing/index.ts";
import { ConfirmDialog } from "./ConfirmDialog.tsx";
import { Dialog } from "./Dialog.tsx";
import { Menu } from "./Menu.tsx";

type Framer = typeof import("framer-motion");
type DivProps = ComponentProps<Framer["m"]["div"]>;

const mockDivProps: DivProps[] = [];

jest.mock("framer-motion", () => {
  const real = jest.requireActual<Framer>("framer-motion");
  const div = (props: DivProps) => {
    mockDivProps.push(props);
    return createElement(real.m.div, props);
  };
  return {
    ...real,
    m: new Proxy(real.m, { get: (target, name) => (name === "div" ? div : (Reflect.get(target, name) as unknown)) }),
  };
});

const noop = () => undefined;

beforeEach(() => {
  mockDivProps.length = 0;
});

it.each<[string, ReactElement]>([
  ["dialog", <Dialog key="" open onClose={noop} title="Save" />],
  ["alertdialog", <Dialog key="" open onClose={noop} title="Save" role="alertdialog" />],
  ["dialog", <ConfirmDialog key="" open title="Sure?" description="Once" onAnswer={noop} />],
  ["menu", <Menu key="" label="More" items={[{ key: "a", label: "A", onSelect: noop }]} />],
])("an element with the role %s enters with a spring of stiffness 400 and damping 17", async (role, ui) => {
  await renderApp(ui);
  const menuButton = screen.queryByRole("button", { name: "More" });
  if (menuButton !== null) await userEvent.click(menuButton);
  await screen.findByRole(role);
  const { variants, animate } = mockDivProps.findLast((props) => props.role === role) ?? {};
  expect(animate).toBe("visible");
  expect(variants?.["visible"]).toMatchObject({ transition: { type: "spring", stiffness: 400, damping: 17 } });
});

import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { createElement, type ComponentProps, type ReactElement } from "react";

import { renderApp } from "../testing/index.ts";
import { ConfirmDialog } from "./ConfirmDialog.tsx";
import { Dialog } from "./Dialog.tsx";
import { Menu } from "./Menu.tsx";

type Framer = typeof import("framer-motion");
type DivProps = ComponentProps<Framer["m"]["div"]>;

/** What framer-motion is told of each element that moves. */
const mockTold: DivProps[] = [];

jest.mock("framer-motion", () => {
  const real = jest.requireActual<Framer>("framer-motion");
  const div = (props: DivProps) => {
    mockTold.push(props);
    return createElement(real.m.div, props);
  };
  return {
    ...real,
    m: new Proxy(real.m, { get: (target, name) => (name === "div" ? div : (Reflect.get(target, name) as unknown)) }),
  };
});

const nothing = () => undefined;

beforeEach(() => {
  mockTold.length = 0;
});

it.each<[string, ReactElement]>([
  ["dialog", <Dialog key="" open onClose={nothing} title="Save" />],
  ["alertdialog", <Dialog key="" open onClose={nothing} title="Save" role="alertdialog" />],
  ["dialog", <ConfirmDialog key="" open title="Sure?" description="Once" onAnswer={nothing} />],
  ["menu", <Menu key="" label="More" items={[{ key: "a", label: "A", onSelect: nothing }]} />],
])("a %s comes by a spring of stiffness 400 and damping 17", async (role, ui) => {
  await renderApp(ui);
  const opener = screen.queryByRole("button", { name: "More" });
  if (opener !== null) await userEvent.click(opener);
  await screen.findByRole(role);
  const { variants, animate } = mockTold.findLast((props) => props.role === role) ?? {};
  expect(animate).toBe("here");
  expect(variants?.["here"]).toMatchObject({ transition: { type: "spring", stiffness: 400, damping: 17 } });
});

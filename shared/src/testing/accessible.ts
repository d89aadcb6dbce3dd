import type {} from "./ambient.d.ts";

import { configureAxe } from "jest-axe";

const axe = configureAxe({
  rules: {
    region: { enabled: false }, // a screen is drawn without the frame, whose landmarks the host's own tests look at
  },
});

/** Throws with the list of what axe finds. Contrast is not seen here: the tokens' own test and the browser look at it. */
export async function expectAccessible(element: Element = document.body): Promise<void> {
  const { violations } = await axe(element);
  if (violations.length === 0) return;
  const lines = violations.map(({ id, help, nodes }) => `${id}: ${help}\n  ${nodes.map(({ html }) => html).join("\n  ")}`);
  throw new Error(`axe finds ${String(violations.length)}:\n${lines.join("\n")}`);
}

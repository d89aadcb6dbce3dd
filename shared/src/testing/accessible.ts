import "@testing-library/jest-dom";

const rules = {
  "color-contrast": { enabled: false }, // jsdom computes no colours: the tokens' own test and the browser look at it
  region: { enabled: false }, // a screen is drawn without the frame, whose landmarks the host's own tests look at
};

/** Throws with the list of what axe finds. */
export async function expectAccessible(element: Element = document.body): Promise<void> {
  const { default: axe } = await import("axe-core"); // large: only tests that ask pay for it
  const { violations } = await axe.run(element, { rules, resultTypes: ["violations"] });
  if (violations.length === 0) return;
  const lines = violations.map(
    ({ id, help, nodes }) => `${id}: ${help}\n  ${nodes.map(({ html }) => html).join("\n  ")}`,
  );
  throw new Error(`axe finds ${String(violations.length)}:\n${lines.join("\n")}`);
}

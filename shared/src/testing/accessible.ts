import "@testing-library/jest-dom";

const rules = {
  "color-contrast": { enabled: false }, // jsdom computes no colours; the tokens' test and the browser check contrast
  region: { enabled: false }, // screens are rendered without the frame, whose landmarks the host's tests check
};

export async function expectAccessible(element: Element = document.body): Promise<void> {
  const { default: axe } = await import("axe-core"); // large, so only tests that use it load it
  const { violations } = await axe.run(element, { rules, resultTypes: ["violations"] });
  if (violations.length === 0) return;
  const lines = violations.map(
    ({ id, help, nodes }) => `${id}: ${help}\n  ${nodes.map(({ html }) => html).join("\n  ")}`,
  );
  throw new Error(`axe finds ${String(violations.length)}:\n${lines.join("\n")}`);
}

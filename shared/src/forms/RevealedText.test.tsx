import { screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";

import { expectAccessible, renderApp } from "../testing/index.ts";
import { RevealedText } from "./RevealedText.tsx";
import { TagField } from "./TagField.tsx";

describe("RevealedText", () => {
  it.each([
    ["a text", false, "legal winner"],
    ["a seed phrase", true, "legal winner"],
  ])("is not translated by a page translator: %s", async (_name, numbered, text) => {
    const content = new TextEncoder().encode(text);
    await renderApp(
      <main>
        <RevealedText title="Wallet" name="wallet.txt" content={content} numbered={numbered} />
      </main>,
    );
    await userEvent.click(screen.getByRole("button", { name: "Show" }));
    const shown = screen.getByLabelText("Content of the secret");
    expect(shown).toHaveTextContent(/legal winner/);
    expect(shown).toHaveAttribute("translate", "no");
    await expectAccessible();
  });

  it("has the direction of its text", async () => {
    const content = new TextEncoder().encode("\u05e9\u05dc\u05d5\u05dd 1");
    await renderApp(<RevealedText title="Wallet" name="wallet.txt" content={content} numbered={false} />);
    await userEvent.click(screen.getByRole("button", { name: "Show" }));
    expect(screen.getByLabelText("Content of the secret")).toHaveAttribute("dir", "auto");
  });
});

describe("TagField", () => {
  it("keeps a tag from being translated or reordered", async () => {
    await renderApp(<TagField label="Tags" value={["may \u202eabc"]} onChange={() => undefined} />);
    expect(screen.getByText("may abc")).toHaveAttribute("translate", "no");
  });
});

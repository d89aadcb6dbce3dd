import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { PrintButton } from "./PrintButton.tsx";

describe("PrintButton", () => {
  it("puts the text into the page only while printing", async () => {
    const printedTexts: (string | null)[] = [];
    window.print = () => {
      printedTexts.push(document.querySelector("[data-print]")?.textContent ?? null);
      window.dispatchEvent(new Event("afterprint"));
    };
    const getText = jest.fn(() => "legal winner");
    render(<PrintButton label="Print" title="Cold wallet" getText={getText} />);
    expect(getText).not.toHaveBeenCalled();
    await userEvent.click(screen.getByRole("button", { name: "Print" }));
    expect(printedTexts).toEqual(["Cold walletlegal winner"]);
    expect(document.body).not.toHaveTextContent("legal winner");
    await userEvent.click(screen.getByRole("button", { name: "Print" }));
    expect(printedTexts).toHaveLength(2);
  });

  it("removes the text when the screen unmounts", async () => {
    window.print = () => undefined; // a browser that never reports the end of printing
    const { unmount } = render(<PrintButton label="Print" title="Cold wallet" getText={() => "legal winner"} />);
    await userEvent.click(screen.getByRole("button", { name: "Print" }));
    expect(document.body).toHaveTextContent("legal winner");
    unmount();
    expect(document.body).not.toHaveTextContent("legal winner");
  });
});

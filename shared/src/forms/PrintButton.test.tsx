import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { PrintButton } from "./PrintButton.tsx";

describe("PrintButton", () => {
  it("has the text in the page while it is printed, and at no other time", async () => {
    const printed: (string | null)[] = [];
    window.print = () => {
      printed.push(document.querySelector("[data-print]")?.textContent ?? null);
      window.dispatchEvent(new Event("afterprint"));
    };
    const text = jest.fn(() => "legal winner");
    render(<PrintButton label="Print" title="Cold wallet" text={text} />);
    expect(text).not.toHaveBeenCalled();
    await userEvent.click(screen.getByRole("button", { name: "Print" }));
    expect(printed).toEqual(["Cold walletlegal winner"]);
    expect(document.body).not.toHaveTextContent("legal winner");
    await userEvent.click(screen.getByRole("button", { name: "Print" }));
    expect(printed).toHaveLength(2);
  });

  it("takes the text away with the screen that showed it", async () => {
    window.print = () => undefined; // a browser that prints later
    const { unmount } = render(<PrintButton label="Print" title="Cold wallet" text={() => "legal winner"} />);
    await userEvent.click(screen.getByRole("button", { name: "Print" }));
    expect(document.body).toHaveTextContent("legal winner");
    unmount();
    expect(document.body).not.toHaveTextContent("legal winner");
  });
});

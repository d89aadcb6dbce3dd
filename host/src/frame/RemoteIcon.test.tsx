import { readFileSync } from "node:fs";
import path from "node:path";

import { navigationIcons } from "@relicario/shared/contract/compatibility";
import { render } from "@testing-library/react";

import { RemoteIcon } from "./RemoteIcon.tsx";

const file = readFileSync(path.join(__dirname, "../../public/navigation-icons.svg"), "utf8");

describe("RemoteIcon", () => {
  it("has a drawing for each icon of the contract, and no other", () => {
    const drawings = new DOMParser().parseFromString(file, "image/svg+xml").querySelectorAll("symbol");
    expect([...drawings].map(({ id }) => id)).toEqual([...navigationIcons]);
    expect([...drawings].every(({ children }) => children.length > 0)).toBe(true);
  });

  it("shows the drawing of its name, which screen readers skip", () => {
    const { container } = render(<RemoteIcon name="leaf" />);
    expect(container.querySelector("use")).toHaveAttribute("href", "/navigation-icons.svg#leaf");
    expect(container.firstElementChild).toHaveAttribute("aria-hidden", "true");
  });
});

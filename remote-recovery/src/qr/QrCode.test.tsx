import { render, screen } from "@testing-library/react";

import { QrCode } from "./QrCode.tsx";

describe("QrCode", () => {
  it("is black on white in both themes, since scanners need the contrast", () => {
    render(<QrCode text="alba" label="Code" />);
    const [background, modules] = screen.getByRole("img", { name: "Code" }).children;
    expect([background?.tagName, background?.getAttribute("fill"), background?.getAttribute("width")]).toEqual([
      "rect",
      "#fff",
      "100%",
    ]);
    expect([modules?.tagName, modules?.getAttribute("fill")]).toEqual(["path", "#000"]);
  });
});

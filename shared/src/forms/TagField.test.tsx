import { screen } from "@testing-library/react";

import { renderApp } from "../testing/index.ts";
import { TagField } from "./TagField.tsx";

describe("TagField", () => {
  it("keeps a tag from being translated or reordered", async () => {
    await renderApp(<TagField label="Tags" value={["may \u202eabc"]} onChange={() => undefined} />);
    expect(screen.getByText("may abc")).toHaveAttribute("translate", "no");
  });
});

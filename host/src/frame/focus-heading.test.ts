import { waitFor } from "@testing-library/react";

import { focusHeading } from "./focus-heading.ts";

it("focusHeading keeps a heading's focus, and focuses the heading that replaces it", async () => {
  const main = document.body.appendChild(document.createElement("main"));
  const drawHeading = () => {
    const heading = document.createElement("h1");
    heading.tabIndex = -1;
    main.replaceChildren(heading);
    return heading;
  };
  const firstHeading = drawHeading();
  firstHeading.focus(); // as the observer of the previous screen may do
  const stop = focusHeading(main, null);
  const secondHeading = drawHeading();
  expect(document.body).toHaveFocus();
  await waitFor(() => {
    expect(secondHeading).toHaveFocus();
  });
  stop();
});

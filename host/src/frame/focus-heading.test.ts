import { waitFor } from "@testing-library/react";

import { focusHeading } from "./focus-heading.ts";

it("stays with a heading that had the focus already, and with the one that is drawn in its place", async () => {
  const main = document.body.appendChild(document.createElement("main"));
  const drawHeading = () => {
    const heading = document.createElement("h1");
    heading.tabIndex = -1;
    main.replaceChildren(heading);
    return heading;
  };
  const first = drawHeading();
  first.focus(); // as by the watch of the screen before
  const stop = focusHeading(main, null);
  const second = drawHeading();
  expect(document.body).toHaveFocus();
  await waitFor(() => {
    expect(second).toHaveFocus();
  });
  stop();
});

import { waitFor } from "@testing-library/react";

import { focusOnArrival } from "./focus-on-arrival.ts";

it("stays with a heading that had the focus already, and with the one that is drawn in its place", async () => {
  const main = document.body.appendChild(document.createElement("main"));
  const draw = () => {
    const heading = document.createElement("h1");
    heading.tabIndex = -1;
    main.replaceChildren(heading);
    return heading;
  };
  const first = draw();
  first.focus(); // as by the watch of the screen before
  const stop = focusOnArrival(main, null);
  const second = draw();
  expect(document.body).toHaveFocus();
  await waitFor(() => {
    expect(second).toHaveFocus();
  });
  stop();
});

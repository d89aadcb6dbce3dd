require("@testing-library/jest-dom");

// Allows for a busy machine.
jest.setTimeout(60_000);

// jsdom knows no display of it: names of elements would have spaces around it.
if (typeof document !== "undefined") {
  const style = document.createElement("style");
  style.textContent = "bdi { display: inline }";
  document.head.append(style);
}

import { celebration, styleNonce, tourLook } from "./look.ts";

describe("the look of tours", () => {
  it("has the numbers of the specification", () => {
    expect(tourLook).toMatchObject({ scrollOffset: 20, scrollDuration: 300, spotlightPadding: 10, width: 380 });
  });

  it("celebrates for three seconds, with confetti for two", () => {
    expect(celebration).toMatchObject({ pieces: 100, shownMilliseconds: 3000, frames: 120 });
  });

  it("gives the library the page's nonce", () => {
    expect(styleNonce()).toBe("");
    document.head.innerHTML = '<meta property="csp-nonce" nonce="abc">';
    expect(styleNonce()).toBe("abc");
  });
});

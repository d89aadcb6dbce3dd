import { celebration, readStyleNonce, tourAppearance } from "./appearance.ts";

describe("the appearance of tours", () => {
  it("has the numbers of the specification", () => {
    expect(tourAppearance).toMatchObject({ scrollOffset: 20, scrollDuration: 300, spotlightPadding: 10, width: 380 });
  });

  it("celebrates for three seconds, with confetti for two", () => {
    expect(celebration).toMatchObject({ pieces: 100, durationMilliseconds: 3000, frames: 120 });
  });

  it("reads the page's nonce", () => {
    expect(readStyleNonce()).toBe("");
    document.head.innerHTML = '<meta property="csp-nonce" nonce="abc">';
    expect(readStyleNonce()).toBe("abc");
  });
});

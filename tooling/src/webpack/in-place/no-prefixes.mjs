/** In the place of stylis' prefixes of old browsers: styled-components asks for none unless it is told to. */
export function prefix() {
  throw new TypeError("no style is written for browsers that the portal does not run in");
}

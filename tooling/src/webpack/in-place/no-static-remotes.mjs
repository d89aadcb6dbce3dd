/** In the place of what federation does for remotes named at build time, and for shared packages with a fallback: there are none. */
function absent() {
  throw new TypeError("no remote is named at build time");
}
export { absent as getSharedFallbackGetter, absent as remotes };

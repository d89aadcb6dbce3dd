/** In the place of what react-query does for lists without end, of which the portal has none. */
function absent() {
  throw new TypeError("no list of the portal is without end");
}
export { absent as hasNextPage, absent as hasPreviousPage, absent as infiniteQueryBehavior };

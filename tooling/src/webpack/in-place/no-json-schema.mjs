/**
 * In the place of zod's JSON schemas, of its English messages and of its care for data that contains itself: pages read JSON,
 * ask for no schema, and show words of their own. The makers of schemas by kind are not even named: nothing calls them.
 */
function absent() {
  throw new TypeError("pages make no JSON schema");
}
export { absent as createStandardJSONSchemaMethod, absent as createToJSONSchemaMethod, absent as toJSONSchema };

export function memoizer() {
  return undefined;
}

export default function noMessages() {
  return {};
}

/**
 * A webpack loader for zod's classic schemas: leaves out methods that nobody calls. A class keeps all its methods in a bundle,
 * and with them every kind of schema that one of them can make; pages use a third. See calledMethods() in ../zod-methods.ts.
 */
const method = /^ {4}(?:async )?(\w+)\([^)]*\) \{\n(?:(?: {8}.*)?\n)*? {4}\},\n/gm;
const jsonSchema = /^ {4}inst\._zod\.processJSONSchema = .*;\n/gm;

export default function leaveOutMethods(source) {
  const { called } = this.getOptions();
  let left = 0;
  const short = source.replace(jsonSchema, "").replace(method, (whole, name) => {
    if (called.includes(name)) return whole;
    left += 1;
    return "";
  });
  if (left < 50) throw new Error(`zod's schemas look different from what called-methods.mjs knows: only ${String(left)} methods were found that nobody calls`);
  return short;
}

import ts from "typescript";

const groupFunctions = new Set(["describe", "fdescribe"]);
const testFunctions = new Set(["it", "fit", "test"]);
const disabledFunctions = new Set(["xit", "xtest", "xdescribe"]);
/** Members that run tests, such as `it.each`. Others do not, such as `test.use`. */
const runningModifiers = new Set(["only", "each", "for", "concurrent", "serial", "parallel"]);
const skippingModifiers = new Set(["skip", "todo", "fixme", "failing", "fail"]);

type CallKind = "group" | "test" | "step" | "skipped" | "other";

/**
 * Full names as Jest prints them, groups first. Steps of a Playwright test are listed below it.
 * Skipped and commented tests are left out. Placeholders (`%s`, `${name}`) stay as written.
 *
 * @param path its extension decides whether `<` may start an element (`.tsx`)
 */
export function listTestNames(source: string, path: string): readonly string[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest);
  const names: string[] = [];

  const visit = (node: ts.Node, parentTitles: readonly string[]): void => {
    let titles = parentTitles;
    if (ts.isCallExpression(node)) {
      const kind = classifyCall(node.expression);
      const title = getTitle(node.arguments[0], file);
      if (kind === "skipped" && title !== null) return;
      if (kind !== "other" && kind !== "skipped" && title !== null) {
        titles = [...parentTitles, title];
        if (kind !== "group") names.push(titles.join(" "));
      }
    }
    ts.forEachChild(node, (child) => {
      visit(child, titles);
    });
  };

  visit(file, []);
  return names;
}

function classifyCall(callee: ts.Expression): CallKind {
  const members: string[] = [];
  let current = callee;
  for (;;) {
    if (ts.isPropertyAccessExpression(current)) {
      members.unshift(current.name.text);
      current = current.expression;
    } else if (ts.isCallExpression(current)) {
      current = current.expression; // it.each([...])("name")
    } else if (ts.isTaggedTemplateExpression(current)) {
      current = current.tag; // it.each`…`("name")
    } else break;
  }
  if (!ts.isIdentifier(current)) return "other";
  if (disabledFunctions.has(current.text)) return "skipped";
  const isGroup = groupFunctions.has(current.text);
  if (!isGroup && !testFunctions.has(current.text)) return "other";
  if (members.some((member) => skippingModifiers.has(member))) return "skipped";
  const [firstMember, ...rest] = members;
  if (testFunctions.has(current.text) && firstMember === "step" && rest.length === 0) return "step";
  if (
    testFunctions.has(current.text) &&
    firstMember === "describe" &&
    rest.every((member) => runningModifiers.has(member))
  )
    return "group";
  if (!members.every((member) => runningModifiers.has(member))) return "other";
  return isGroup ? "group" : "test";
}

function getTitle(argument: ts.Expression | undefined, file: ts.SourceFile): string | null {
  if (argument === undefined) return null;
  if (ts.isStringLiteralLike(argument)) return argument.text;
  if (ts.isTemplateExpression(argument)) return argument.getText(file).slice(1, -1);
  return null;
}

import ts from "typescript";

const groups = new Set(["describe", "fdescribe"]);
const tests = new Set(["it", "fit", "test"]);
const putAside = new Set(["xit", "xtest", "xdescribe"]);
/**
 * What may stand behind the point of `it.each` or `test.describe.serial`. Anything else is not a
 * test: `test.use`.
 */
const passing = new Set(["only", "each", "for", "concurrent", "serial", "parallel"]);
const skipping = new Set(["skip", "todo", "fixme", "failing", "fail"]);

type Kind = "group" | "test" | "step" | "skipped" | "other";

/**
 * Full names of the tests of a file that run, as Jest prints them: the names of their groups, then
 * their own. A step of a Playwright test is listed below its test. Tests that are skipped or stand
 * in a comment are not there. Placeholders of tables and templates (`%s`, `${name}`) stay as they
 * are written.
 *
 * @param path its name decides whether `<` may begin an element (`.tsx`) or only a type (`.ts`)
 */
export function testNames(source: string, path: string): readonly string[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest);
  const names: string[] = [];

  const visit = (node: ts.Node, above: readonly string[]): void => {
    let path = above;
    if (ts.isCallExpression(node)) {
      const kind = kindOf(node.expression);
      const title = titleOf(node.arguments[0], file);
      if (kind === "skipped" && title !== null) return;
      if (kind !== "other" && kind !== "skipped" && title !== null) {
        path = [...above, title];
        if (kind !== "group") names.push(path.join(" "));
      }
    }
    ts.forEachChild(node, (child) => {
      visit(child, path);
    });
  };

  visit(file, []);
  return names;
}

function kindOf(callee: ts.Expression): Kind {
  const members: string[] = [];
  let at = callee;
  for (;;) {
    if (ts.isPropertyAccessExpression(at)) {
      members.unshift(at.name.text);
      at = at.expression;
    } else if (ts.isCallExpression(at)) {
      at = at.expression; // it.each([...])("name")
    } else if (ts.isTaggedTemplateExpression(at)) {
      at = at.tag; // it.each`…`("name")
    } else break;
  }
  if (!ts.isIdentifier(at)) return "other";
  if (putAside.has(at.text)) return "skipped";
  const group = groups.has(at.text);
  if (!group && !tests.has(at.text)) return "other";
  if (members.some((member) => skipping.has(member))) return "skipped";
  const [first, ...rest] = members;
  if (tests.has(at.text) && first === "step" && rest.length === 0) return "step";
  if (tests.has(at.text) && first === "describe" && rest.every((member) => passing.has(member))) return "group";
  if (!members.every((member) => passing.has(member))) return "other";
  return group ? "group" : "test";
}

function titleOf(argument: ts.Expression | undefined, file: ts.SourceFile): string | null {
  if (argument === undefined) return null;
  if (ts.isStringLiteralLike(argument)) return argument.text;
  if (ts.isTemplateExpression(argument)) return argument.getText(file).slice(1, -1);
  return null;
}

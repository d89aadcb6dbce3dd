import { allowFiles, guardScripts, impossibleIntegrity, getIntegrity, type ScriptGlobals } from "./integrity.ts";

const origin = "https://portal.example";
const base = `${origin}/r/secrets/secrets-0.3.1-0123456789ab/`;
const hash = (letter: string) => `sha384-${letter.repeat(64)}`;

type Rules = Parameters<NonNullable<ScriptGlobals["trustedTypes"]>["createPolicy"]>[1];

function createGuardedPage(): {
  readonly page: ScriptGlobals & Readonly<Record<string, unknown>>;
  readonly policies: Map<string, Rules>;
} {
  const policies = new Map<string, Rules>();
  const page = {
    location: { origin },
    trustedTypes: { createPolicy: (name: string, rules: Rules) => policies.set(name, rules) },
  };
  guardScripts(page, "integrityHere", JSON.stringify({ "/static/main.js": hash("m"), "/static/odd.js": 7 }));
  allowFiles(base, { "remoteEntry.js": hash("r"), "12.js": hash("c") });
  return { page, policies };
}

describe("integrityOf", () => {
  it.each([
    [`${base}remoteEntry.js`, hash("r")],
    [`${base}12.js`, hash("c")],
    [`${origin}/static/main.js`, hash("m")],
  ])("is the hash that was signed for %s", (address, expected) => {
    createGuardedPage();
    expect(getIntegrity(address)).toBe(expected);
  });

  it.each([
    `${base}other.js`,
    `${base}toString`,
    `${base}12.js?again`,
    `${base}x/../12.js`,
    `${origin}/static/odd.js`,
    `${origin}/r/secrets/secrets-0.3.1-ffffffffffff/12.js`,
    "https://evil.example/12.js",
    "toString",
    "",
  ])("is a hash that no file has for %s", (address) => {
    createGuardedPage();
    expect(getIntegrity(address)).toBe(impossibleIntegrity);
  });
});

describe("guardScripts", () => {
  it("gives webpack's code a function that nobody can replace", () => {
    const { page } = createGuardedPage();
    expect(page["integrityHere"]).toBe(getIntegrity);
    expect(() => Object.assign(page, { integrityHere: () => hash("x") })).toThrow(TypeError);
  });

  it.each([
    [`${base}12.js`, "HTMLScriptElement src", true],
    ["/static/main.js", "HTMLScriptElement src", true],
    [`${base}other.js`, "HTMLScriptElement src", false],
    ["https://evil.example/12.js", "HTMLScriptElement src", false],
    [`blob:${origin}/0f0f`, "HTMLScriptElement src", false],
    ["data:text/javascript,1", "HTMLScriptElement src", false],
    [`blob:${origin}/0f0f`, "Worker constructor", true],
    ["blob:https://evil.example/0f0f", "Worker constructor", false],
    [`${base}12.js`, "Worker constructor", false],
  ])("lets %s become a %s: %s", (address, sink, allowed) => {
    const { policies } = createGuardedPage();
    expect(policies.get("default")?.createScriptURL(address, "TrustedScriptURL", sink)).toBe(allowed ? address : null);
  });

  it("does without Trusted Types where a browser has none", () => {
    const page = { location: { origin } };
    expect(() => {
      guardScripts(page, "integrityHere", "{}");
    }).not.toThrow();
  });

  it("does not start a page whose own files cannot be read", () => {
    expect(() => {
      guardScripts({ location: { origin } }, "integrityHere", "");
    }).toThrow(SyntaxError);
  });
});

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

describe("getIntegrity", () => {
  it.each([
    [`${base}remoteEntry.js`, hash("r")],
    [`${base}12.js`, hash("c")],
    [`${origin}/static/main.js`, hash("m")],
  ])("returns the hash that was signed for %s", (address, expected) => {
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
  ])("returns a hash that no file has for %s", (address) => {
    createGuardedPage();
    expect(getIntegrity(address)).toBe(impossibleIntegrity);
  });
});

describe("guardScripts", () => {
  it("defines the function that webpack calls so that no script can replace it", () => {
    const { page } = createGuardedPage();
    expect(page["integrityHere"]).toBe(getIntegrity);
    expect(() => Object.assign(page, { integrityHere: () => hash("x") })).toThrow(TypeError);
  });

  it.each([
    [`${base}12.js`, true],
    ["/static/main.js", true],
    [`${base}other.js`, false],
    ["https://evil.example/12.js", false],
    [`blob:${origin}/0f0f`, false],
    ["data:text/javascript,1", false],
  ])("allows %s as a script or worker: %s", (address, allowed) => {
    const { policies } = createGuardedPage();
    expect(policies.get("default")?.createScriptURL(address)).toBe(allowed ? address : null);
  });

  it("allows nothing more after a remote has replaced methods of prototypes", () => {
    const rules = createGuardedPage().policies.get("default");
    const evil = "https://evil.example/12.js";
    const href = Object.getOwnPropertyDescriptor(URL.prototype, "href") ?? {};
    jest.spyOn(Map.prototype, "has").mockReturnValue(true);
    jest.spyOn(Map.prototype, "get").mockReturnValue(hash("x"));
    jest.spyOn(String.prototype, "startsWith").mockReturnValue(true);
    Object.defineProperty(URL.prototype, "href", { configurable: true, get: () => `${base}12.js` });
    Object.defineProperty(Object.prototype, evil, { configurable: true, value: hash("x") });
    const answer = rules?.createScriptURL(evil);
    const integrity = getIntegrity(evil);
    jest.restoreAllMocks();
    Object.defineProperty(URL.prototype, "href", href);
    Reflect.deleteProperty(Object.prototype, evil);
    expect([answer, integrity]).toEqual([null, impossibleIntegrity]);
  });

  it("works in a browser without Trusted Types", () => {
    const page = { location: { origin } };
    expect(() => {
      guardScripts(page, "integrityHere", "{}");
    }).not.toThrow();
  });

  it("throws when the page's own hashes cannot be parsed", () => {
    expect(() => {
      guardScripts({ location: { origin } }, "integrityHere", "");
    }).toThrow(SyntaxError);
  });
});

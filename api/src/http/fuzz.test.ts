import fc from "fast-check";

import { buildSecret, confirmChange, type Person } from "../testing/person.ts";
import { startService, type Method, type TestService } from "../testing/service.ts";
import { buildRequest, buildShare } from "../testing/sharing.ts";
import { rateLimitNames } from "./rate-limits.ts";

let service: TestService;
let person: Person;
let secretId: string;
beforeAll(async () => {
  service = await startService({
    RATE_LIMITS: JSON.stringify(Object.fromEntries(rateLimitNames.map((name) => [name, 100_000]))),
  });
  person = await service.signIn();
  const { body } = buildSecret(person);
  await service.call("POST", "/secrets/store", person.token, { body });
  confirmChange(person, body.keyring);
  secretId = body.secret_db_id;
});
afterAll(() => service.stop());

const routesWithBody: readonly (readonly [Method, string])[] = [
  ["POST", "/auth/token?app_vendor_id=relicario"],
  ["POST", "/auth/backchannel-logout"],
  ["POST", "/secrets/store"],
  ["POST", "/secrets/store/get-secret"],
  ["PATCH", "/secrets/favorite"],
  ["POST", "/v2/secrets/get-secret"],
  ["POST", "/v2/secrets/secret"],
  ["POST", "/v2/secrets/secret/upload/019a9e2c-7c1e-7abc-8def-0123456789ab"],
  ["PUT", "/v2/secrets/secret/upload/019a9e2c-7c1e-7abc-8def-0123456789ab"],
  ["PUT", "/user/keyring"],
  ["POST", "/user/keyring/stage"],
  ["POST", "/user/me"],
  ["POST", "/share"],
  ["PATCH", "/share/AAAAAAAAAAAAAAAAAAAAAA"],
  ["POST", "/share/get-secret"],
  ["POST", "/share/get-public-secret"],
  ["POST", "/share/content"],
  ["POST", "/reports/share"],
  ["POST", "/reports/csp"],
  ["POST", "/telemetry"],
  ["PUT", "/device-links/AAAAAAAAAAAAAAAAAAAAAA"],
  ["PUT", "/device-links/AAAAAAAAAAAAAAAAAAAAAA/answer"],
  ["POST", "/requests"],
  ["PATCH", "/requests/AAAAAAAAAAAAAAAAAAAAAA"],
  ["DELETE", "/requests/AAAAAAAAAAAAAAAAAAAAAA"],
  ["POST", "/requests/get"],
  ["POST", "/requests/collect"],
  ["POST", "/requests/answer"],
  ["POST", "/requests/answer/019a9e2c-7c1e-7abc-8def-0123456789ab"],
  ["PUT", "/requests/answer/019a9e2c-7c1e-7abc-8def-0123456789ab"],
];

/** A valid body with any one member replaced by a value of another type, which is never valid. */
const buildDamagedBody = (build: () => object) =>
  fc.tuple(fc.nat(200), fc.jsonValue()).map(([position, value]) => {
    const body = structuredClone(build()) as unknown;
    const damageableMembers: { parent: Record<string, unknown>; name: string }[] = [];
    const visit = (node: unknown): void => {
      if (typeof node !== "object" || node === null) return;
      for (const name of Object.keys(node)) {
        const parent = node as Record<string, unknown>;
        damageableMembers.push({ parent, name });
        visit(parent[name]);
      }
    };
    visit(body);
    const chosenMember = damageableMembers[position % damageableMembers.length];
    if (chosenMember === undefined) throw new Error("the call has no members");
    const { parent, name } = chosenMember;
    const isPrimitive = typeof parent[name] !== "object" || parent[name] === null;
    parent[name] = isPrimitive ? { damaged: value } : `*${JSON.stringify(value)}`;
    return body;
  });

const refusalStatuses = [400, 401, 404, 409, 413, 415, 422];

describe("arbitrary input", () => {
  it.each(routesWithBody)(
    "%s %s answers arbitrary JSON with a problem document, never with an internal error",
    async (method, path) => {
      await fc.assert(
        fc.asyncProperty(fc.jsonValue(), async (body) => {
          const text = JSON.stringify(body);
          const response = await service.call(method, path, person.token, {
            body: text,
            headers: { "content-type": "application/json" },
          });
          // An empty object is valid and changes nothing.
          if (path === "/user/me" && text === "{}") return;
          // A list is valid with any entries, unless the parser refuses its keys.
          if (path === "/reports/csp" && Array.isArray(body) && !/[{,]"__proto__":/.test(text)) {
            expect(response.status).toBe(204);
            return;
          }
          expect(refusalStatuses).toContain(response.status);
          expect(response.body.code).toEqual(expect.any(String));
        }),
        { numRuns: 60 },
      );
    },
  );

  it.each([
    ["/secrets/store", () => buildSecret(person).body],
    ["/share", () => buildShare(person, secretId).body],
    ["/requests", () => buildRequest(person).body],
  ] as const)("%s refuses a body with one damaged member, and changes nothing", async (path, build) => {
    const paths = ["/secrets/store", `/sharelist/${secretId}`, "/requests", "/user/keyring"];
    const readAllStates = () =>
      Promise.all(paths.map(async (readPath) => (await service.call("GET", readPath, person.token)).body));
    const statesBefore = await readAllStates();
    await fc.assert(
      fc.asyncProperty(buildDamagedBody(build), async (body) => {
        const response = await service.call("POST", path, person.token, {
          body: JSON.stringify(body),
          headers: { "content-type": "application/json" },
        });
        expect(refusalStatuses).toContain(response.status);
      }),
      { numRuns: 100 },
    );
    expect(await readAllStates()).toEqual(statesBefore);
  });
});

import fc from "fast-check";

import { buildSecret, confirm, type Person } from "../testing/person.ts";
import { startService, type Method, type TestService } from "../testing/service.ts";

let service: TestService;
let person: Person;
beforeAll(async () => {
  service = await startService();
  person = await service.signIn();
  const { body } = buildSecret(person);
  await service.call("POST", "/secrets/store", person.token, { body });
  confirm(person, body.keyring);
});
afterAll(() => service.stop());

const bodies: readonly (readonly [Method, string])[] = [
  ["POST", "/auth/token?app_vendor_id=relicario"],
  ["POST", "/secrets/store"],
  ["POST", "/secrets/store/get-secret"],
  ["PATCH", "/secrets/favorite"],
  ["POST", "/v2/secrets/get-secret"],
  ["POST", "/v2/secrets/secret"],
  ["POST", "/v2/secrets/secret/upload/019a9e2c-7c1e-7abc-8def-0123456789ab"],
  ["PUT", "/v2/secrets/secret/upload/019a9e2c-7c1e-7abc-8def-0123456789ab"],
  ["PUT", "/user/keyring"],
  ["POST", "/user/me"],
];

/** A real call with one member, anywhere in it, replaced by anything. */
const damaged = fc.tuple(fc.nat(200), fc.jsonValue()).map(([position, value]) => {
  const body = structuredClone(buildSecret(person).body) as unknown;
  const places: { parent: Record<string, unknown>; name: string }[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    for (const name of Object.keys(node)) {
      const parent = node as Record<string, unknown>;
      places.push({ parent, name });
      visit(parent[name]);
    }
  };
  visit(body);
  const place = places[position % places.length];
  const damage = typeof value === "string" ? `*${value}` : value; // never a well-formed one by chance
  fc.pre(place !== undefined && JSON.stringify(place.parent[place.name]) !== JSON.stringify(damage));
  place.parent[place.name] = damage;
  return body;
});

const refusals = [400, 401, 404, 409, 413, 415, 422];

describe("whatever is sent", () => {
  it.each(bodies)("%s %s answers any JSON with a problem that has a code, never with a fault of its own", async (method, path) => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (body) => {
        const answer = await service.call(method, path, person.token, { body: JSON.stringify(body), headers: { "content-type": "application/json" } });
        // An empty object changes nothing of an account, which is no fault.
        if (path === "/user/me" && JSON.stringify(body) === "{}") return;
        expect(refusals).toContain(answer.status);
        expect(answer.body.code).toEqual(expect.any(String));
      }),
      { numRuns: 60 },
    );
  });

  it("a call with one damaged member is refused, and changes nothing", async () => {
    const before = await service.call("GET", "/secrets/store", person.token);
    await fc.assert(
      fc.asyncProperty(damaged, async (body) => {
        const answer = await service.call("POST", "/secrets/store", person.token, { body: JSON.stringify(body), headers: { "content-type": "application/json" } });
        expect(refusals).toContain(answer.status);
      }),
      { numRuns: 150 },
    );
    expect((await service.call("GET", "/secrets/store", person.token)).body).toEqual(before.body);
  });
});

import { Me } from "@relicario/shared/api";

import { startService, type TestService } from "../testing/service.ts";
import type { Person } from "../testing/person.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const update = (person: Person, body: unknown) => service.call("POST", "/user/me", person.token, { body });

describe("GET /user/me", () => {
  it("shows the account that is signed in", async () => {
    const person = await service.signIn("julia");
    const me = Me.parse((await service.call("GET", "/user/me", person.token)).body);
    expect(me).toMatchObject({
      user_id: person.userId,
      user_name: "julia",
      username: "julia",
      contact_email: null,
      contact_email_verified: false,
      licence: { plan: "free", storage_quota: 10 * 1024 ** 3, storage_used: 0, secrets: 0, shares: 0 },
    });
  });
});

describe("POST /user/me", () => {
  it("changes name and address and answers with the account as it is then", async () => {
    const person = await service.signIn();
    const name = `Ñandú-${person.subject}`.slice(0, 40);
    const answer = await update(person, { user_name: name, contact_email: "me@example.org" });
    expect(answer).toMatchObject({ status: 200, body: { user_name: name, contact_email: "me@example.org", contact_email_verified: false } });
    expect((await service.call("GET", "/user/me", person.token)).body).toEqual(answer.body);
    expect((await update(person, {})).body).toEqual(answer.body);
  });

  it("frees the former name, and gives a name to one person alone", async () => {
    const [one, two] = [await service.signIn("karl"), await service.signIn("kai-1")];
    expect(await update(two, { user_name: "KARL" })).toMatchObject({ status: 422, body: { code: "validation_error", errors: [{ path: "/user_name", reason: "taken" }] } });
    expect((await update(one, { user_name: "Karl" })).body).toMatchObject({ user_name: "Karl" });
    expect((await update(one, { user_name: "karla" })).status).toBe(200);
    expect((await update(two, { user_name: "KARL" })).body).toMatchObject({ user_name: "KARL" });
  });

  it("gives a name to exactly one of two who ask at once", async () => {
    const people = [await service.signIn(), await service.signIn()];
    const answers = await Promise.all(people.map((person) => update(person, { user_name: "wanted" })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
  });

  it("lets another vendor's people have the same name", async () => {
    const [here, there] = [await service.signIn("lena"), await service.signIn("lena-x", "second")];
    expect((await update(there, { user_name: "lena" })).status).toBe(200);
    expect((await service.call("GET", "/user/me", here.token)).body).toMatchObject({ user_name: "lena" });
  });

  it.each([{ user_name: "ab" }, { user_name: "a b c" }, { user_name: "-abc" }, { user_name: "a".repeat(41) }, { contact_email: "nobody" }, { username: "other" }, { user_id: "x" }])(
    "refuses %j",
    async (body) => {
      const person = await service.signIn();
      expect(await update(person, body)).toMatchObject({ status: 422, body: { code: "validation_error" } });
    },
  );
});

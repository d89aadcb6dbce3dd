import { buildSecret, confirm, type Person, type SecretCall } from "../testing/person.ts";
import { startService, type TestService } from "../testing/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** Stores a secret and takes the answer over. */
const keep = async (person: Person, options: Parameters<typeof buildSecret>[1] = {}): Promise<SecretCall> => {
  const call = buildSecret(person, options);
  const answer = await service.call("POST", "/secrets/store", person.token, { body: call.body });
  if (answer.status !== 200) throw new Error(answer.text);
  confirm(person, call.body.keyring);
  return call;
};

describe("POST /secrets/store", () => {
  it("keeps the first secret together with the first keyring", async () => {
    const person = await service.signIn();
    const { body, content } = buildSecret(person);
    const answer = await service.call("POST", "/secrets/store", person.token, { body });
    expect(answer).toMatchObject({ status: 200, body: { secret_db_id: body.secret_db_id, version: 1, state_rev: 1 } });

    const list = await service.call("GET", "/secrets/store", person.token);
    expect(list).toMatchObject({ status: 200, body: { total: 1, state_rev: 1, changes: 1, next_cursor: null } });
    const got = await service.call("POST", "/secrets/store/get-secret", person.token, { body: { secret_db_id: body.secret_db_id } });
    expect(got.body).toMatchObject({ version: 1, ticket: body.ticket, label: body.label, content: content.toString("base64url") });
  });
  it("keeps a new version and the one before", async () => {
    const person = await service.signIn();
    const first = await keep(person);
    const id = first.body.secret_db_id;
    const second = await keep(person, { id, base: 1 });
    const newest = await service.call("POST", "/secrets/store/get-secret", person.token, { body: { secret_db_id: id } });
    expect(newest.body).toMatchObject({ version: 2, content: second.content.toString("base64url") });
    const before = await service.call("POST", "/secrets/store/get-secret", person.token, { body: { secret_db_id: id, version: 1 } });
    expect(before.body).toMatchObject({ version: 1, ticket: first.body.ticket, content: first.content.toString("base64url") });
  });
});

import { maxBatchSecrets, SecretContent, SecretPage } from "@relicario/shared/api";

import { buildBatch, buildLabel, buildSecret, confirmChange, type Person } from "../testing/person.ts";
import { startService, type TestResponse, type TestService } from "../testing/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const postBatch = (person: Person, body: unknown): Promise<TestResponse> =>
  service.call("POST", "/secrets/store/batch", person.token, { body });

const listSecrets = async (person: Person, query = ""): Promise<SecretPage> =>
  SecretPage.parse((await service.call("GET", `/secrets/store${query}`, person.token)).body);

const readSecret = async (person: Person, id: string): Promise<SecretContent> =>
  SecretContent.parse(
    (await service.call("POST", "/secrets/store/get-secret", person.token, { body: { secret_db_id: id } })).body,
  );

const countObjects = async (person: Person): Promise<number> => (await service.listObjects(person.userId)).length;

/** A person who has a secret. */
const createPersonWithSecret = async (): Promise<Person> => {
  const person = await service.signIn();
  const { body } = buildSecret(person);
  await service.call("POST", "/secrets/store", person.token, { body });
  confirmChange(person, body.keyring);
  return person;
};

describe("POST /secrets/store/batch", () => {
  it("stores a hundred secrets with one change, each with its content", async () => {
    const person = await createPersonWithSecret();
    const body = buildBatch(person, maxBatchSecrets);
    expect(await postBatch(person, body)).toMatchObject({ status: 200, body: { state_rev: 2 } });
    const { total, secrets, state_rev: stateRev } = await listSecrets(person);
    expect([total, stateRev]).toEqual([maxBatchSecrets + 1, 2]);
    for (const sentSecret of [body.secrets[0], body.secrets[99]]) {
      expect(secrets).toContainEqual(
        expect.objectContaining({ secret_db_id: sentSecret?.secret_db_id, version: 1, label: sentSecret?.label }),
      );
      expect(await readSecret(person, sentSecret?.secret_db_id ?? "")).toMatchObject({
        version: 1,
        ticket: sentSecret?.ticket,
        content: sentSecret?.content,
      });
    }
  });

  it("lists all the secrets as changed since", async () => {
    const person = await createPersonWithSecret();
    const { changes } = await listSecrets(person);
    await postBatch(person, buildBatch(person, 3));
    expect((await listSecrets(person, `?since=${String(changes)}`)).secrets).toHaveLength(3);
  });

  it("creates the first secrets of an account", async () => {
    const person = await service.signIn();
    expect(await postBatch(person, buildBatch(person, 2))).toMatchObject({ status: 200, body: { state_rev: 1 } });
    expect(await listSecrets(person)).toMatchObject({ total: 2, state_rev: 1 });
  });

  it("gives a repeated call the first response, and stores nothing twice", async () => {
    const person = await createPersonWithSecret();
    const body = buildBatch(person, 2);
    const [firstResponse, repeatedResponse] = [await postBatch(person, body), await postBatch(person, body)];
    expect(repeatedResponse).toMatchObject({ status: 200, body: firstResponse.body });
    expect(await listSecrets(person)).toMatchObject({ total: 3 });
    expect(await countObjects(person)).toBe(3);
  });

  it("counts stored bytes", async () => {
    const person = await createPersonWithSecret();
    const readStorageUsed = async () =>
      ((await service.call("GET", "/user/me", person.token)).body["licence"] as { storage_used: number }).storage_used;
    const usedBefore = await readStorageUsed();
    const body = buildBatch(person, 2);
    await postBatch(person, body);
    const sentBytes = body.secrets.flatMap(({ label, ticket, content }) => [
      label.length,
      Buffer.from(ticket, "base64url").length,
      Buffer.from(content, "base64url").length,
    ]);
    expect((await readStorageUsed()) - usedBefore).toBeGreaterThanOrEqual(
      sentBytes.reduce((sum, bytes) => sum + bytes, 0),
    );
  });

  describe("stores nothing", () => {
    const refusalCases: Record<string, readonly [code: string, spoil: (person: Person) => Promise<unknown>]> = {
      "when one id is taken": [
        "id_taken",
        async (person) => {
          const {
            secrets: [existing],
          } = await listSecrets(person);
          const body = buildBatch(person, 2);
          const id = existing?.secret_db_id ?? "";
          return {
            ...body,
            secrets: [body.secrets[0], { ...body.secrets[1], secret_db_id: id, label: buildLabel(person, id, 1) }],
          };
        },
      ],
      "when one id stands there twice": [
        "validation_error",
        async (person) => {
          const body = buildBatch(person, 1);
          return Promise.resolve({ ...body, secrets: [...body.secrets, ...body.secrets] });
        },
      ],
      "when one label is another secret's": [
        "keyring_change_invalid",
        async (person) => {
          const body = buildBatch(person, 2);
          return Promise.resolve({
            ...body,
            secrets: [body.secrets[0], { ...body.secrets[1], label: body.secrets[0]?.label }],
          });
        },
      ],
      "when they are too many": [
        "validation_error",
        async (person) => Promise.resolve(buildBatch(person, maxBatchSecrets + 1)),
      ],
      "when there are none": ["validation_error", async (person) => Promise.resolve(buildBatch(person, 0))],
      "when another device wrote meanwhile": [
        "state_conflict",
        async (person) => Promise.resolve(buildBatch({ ...person, stateRev: 5 }, 2)),
      ],
      "when its signature is another's": [
        "keyring_change_invalid",
        async (person) =>
          Promise.resolve(buildBatch({ ...person, signingKey: (await service.signIn()).signingKey }, 2)),
      ],
    };
    it.each(Object.keys(refusalCases))("%s", async (name) => {
      const person = await createPersonWithSecret();
      const [code, buildBody] = refusalCases[name] ?? ["", () => Promise.resolve(null)];
      expect((await postBatch(person, await buildBody(person))).body).toMatchObject({ code });
      expect(await listSecrets(person)).toMatchObject({ total: 1, state_rev: 1 });
      expect(await countObjects(person)).toBe(1);
    });

    it("when the secrets together exceed the quota", async () => {
      const person = await createPersonWithSecret();
      const vendors = service.app.services.vendors;
      const vendor = vendors.require("relicario");
      const quotaSpy = jest.spyOn(vendors, "require").mockReturnValue({ ...vendor, quotaBytes: 6_000 });
      try {
        expect((await postBatch(person, buildBatch(person, 8))).body).toMatchObject({ code: "quota_exceeded" });
      } finally {
        quotaSpy.mockRestore();
      }
      expect(await listSecrets(person)).toMatchObject({ total: 1 });
      expect(await countObjects(person)).toBe(1);
    });
  });
});

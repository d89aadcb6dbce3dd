import { once } from "node:events";

import { SecretContent, SecretPage } from "@relicario/shared/api";
import { freshDatabase } from "@relicario/tooling/database/for-tests";
import { Client } from "pg";

import { buildSecret, confirm, createPerson } from "./testing/person.ts";
import { prepareProcess, type ServiceProcess } from "./testing/process.ts";

jest.setTimeout(240_000); // six processes start, on a machine that may be busy

let service: ServiceProcess;
beforeEach(async () => {
  service = await prepareProcess();
});
afterEach(() => service.stop());

const post = (address: string, path: string, token: string, body: unknown): Promise<Response> =>
  fetch(`${address}${path}`, { method: "POST", headers: { "content-type": "application/json", authorization: `Bearer ${token}` }, body: JSON.stringify(body) });

describe("the process", () => {
  it("says in one line what is missing, and ends", async () => {
    delete service.variables["DATABASE_URL"];
    service.variables["RECORD_KEY"] = "short";
    await expect(service.start()).rejects.toThrow(/^it ended: The service cannot start: DATABASE_URL is missing; RECORD_KEY is not 32 bytes in base64url\n$/);
  });

  it("brings the database to its schema by the address that is for that, and works by the other", async () => {
    const empty = await freshDatabase("service_empty", () => Promise.resolve());
    try {
      service.variables["DATABASE_MIGRATION_URL"] = empty.url;
      const { address } = await service.start();
      expect((await fetch(`${address}/readyz`)).status).toBe(200);
      expect(await service.signIn(address, "ana")).toMatch(/./);
      const client = new Client({ connectionString: empty.url });
      await client.connect();
      const { rows } = await client.query("select count(*)::int as accounts from accounts");
      await client.end();
      expect(rows).toEqual([{ accounts: 0 }]); // the schema is there, and the account that signed in is not
    } finally {
      await empty.drop();
    }
  });

  it("prints one ready line, answers, and at SIGTERM finishes what is in flight", async () => {
    const { address, child, exited, output } = await service.start();
    const token = await service.signIn(address, "ana");
    const person = createPerson("ana", token);
    const { body } = buildSecret(person, { bytes: 200_000 });
    const answering = post(address, "/secrets/store", token, body);
    const seen = once(child.stdout ?? child, "data"); // the next line of the log: this call's, or that of the end
    const answer = await answering;
    await seen;
    child.kill("SIGTERM");
    const [code] = await exited;
    expect([answer.status, code]).toEqual([200, 0]);
    expect(output().match(/"ready":true/g)).toHaveLength(1);
    await expect(fetch(`${address}/healthz`)).rejects.toThrow();
  });

  it("loses nothing that it confirmed and leaves nothing half published when it is killed at any moment", async () => {
    let running = await service.start();
    const subject = "marta";
    const person = createPerson(subject, await service.signIn(running.address, subject));
    const confirmed = new Map<string, string>();

    for (const answered of process.env["RELICARIO_TESTS"] === "all" ? [0, 1, 2, 3] : [2]) {
      const token = await service.signIn(running.address, subject);
      // Some calls are answered, then the process is killed while the next one is on its way.
      for (let count = 0; count < answered; count++) {
        const { body } = buildSecret(person, { bytes: 50_000 });
        expect((await post(running.address, "/secrets/store", token, body)).status).toBe(200);
        confirm(person, body.keyring);
        confirmed.set(body.secret_db_id, body.content);
      }
      const { body } = buildSecret(person, { bytes: 250_000 });
      const before = (await service.knownKeys()).length;
      const unanswered = post(running.address, "/secrets/store", token, body).then(
        () => true,
        () => false,
      );
      await moreThan(before);
      running.child.kill("SIGKILL");
      await running.exited;
      await unanswered;

      running = await service.start();
      // The device sends the same call again: first time or repeat, the answer is the same.
      const again = await post(running.address, "/secrets/store", await service.signIn(running.address, subject), body);
      expect([again.status, await again.json()]).toEqual([200, { secret_db_id: body.secret_db_id, version: 1, state_rev: body.keyring.state_rev }]);
      confirm(person, body.keyring);
      confirmed.set(body.secret_db_id, body.content);
    }

    const token = await service.signIn(running.address, subject);
    const list = await fetch(`${running.address}/secrets/store`, { headers: { authorization: `Bearer ${token}` } });
    const page = SecretPage.parse(await list.json());
    expect(page.secrets.map(({ secret_db_id }) => secret_db_id)).toEqual([...confirmed.keys()].sort());
    for (const [id, content] of confirmed) {
      const got = SecretContent.parse(await (await post(running.address, "/secrets/store/get-secret", token, { secret_db_id: id })).json());
      expect(got.content).toBe(content);
    }
    // Each file is a published version's, or is written down as loose and will be collected.
    expect(await service.strayFiles()).toEqual([]);
  });
});

/** Waits until the service works on the call: its object is announced, or published already. */
async function moreThan(before: number): Promise<void> {
  while ((await service.knownKeys()).length <= before);
}

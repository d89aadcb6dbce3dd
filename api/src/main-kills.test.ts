import { SecretContent, SecretPage } from "@relicario/shared/api";

import { buildSecret, confirmChange, createPerson } from "./testing/person.ts";
import { prepareServiceProcess, type ServiceProcess } from "./testing/process.ts";

jest.setTimeout(240_000); // five processes start, on a machine that may be busy

let service: ServiceProcess;
beforeEach(async () => {
  service = await prepareServiceProcess();
});
afterEach(() => service.stop());

const postJson = (address: string, path: string, token: string, body: unknown): Promise<Response> =>
  fetch(`${address}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });

describe("the process", () => {
  it("loses nothing confirmed and leaves nothing half published when killed at any moment", async () => {
    let runningService = await service.start();
    const subject = "marta";
    const person = createPerson(subject, await service.signIn(runningService.url, subject));
    const confirmedContents = new Map<string, string>();

    for (const answeredCount of [0, 1, 2, 3]) {
      const token = await service.signIn(runningService.url, subject);
      // Some calls are answered, then the process is killed during the next one.
      for (let count = 0; count < answeredCount; count++) {
        const { body } = buildSecret(person, { bytes: 50_000 });
        expect((await postJson(runningService.url, "/secrets/store", token, body)).status).toBe(200);
        confirmChange(person, body.keyring);
        confirmedContents.set(body.secret_db_id, body.content);
      }
      const { body } = buildSecret(person, { bytes: 250_000 });
      const keyCountBefore = (await service.readKnownKeys()).length;
      const interruptedCall = postJson(runningService.url, "/secrets/store", token, body).then(
        () => true,
        () => false,
      );
      await waitForNewKey(keyCountBefore);
      runningService.child.kill("SIGKILL");
      await runningService.exited;
      await interruptedCall;

      runningService = await service.start();
      // The device repeats the call: first or not, the response is the same.
      const repeatedResponse = await postJson(
        runningService.url,
        "/secrets/store",
        await service.signIn(runningService.url, subject),
        body,
      );
      expect([repeatedResponse.status, await repeatedResponse.json()]).toEqual([
        200,
        { secret_db_id: body.secret_db_id, version: 1, state_rev: body.keyring.state_rev },
      ]);
      confirmChange(person, body.keyring);
      confirmedContents.set(body.secret_db_id, body.content);
    }

    const token = await service.signIn(runningService.url, subject);
    const listResponse = await fetch(`${runningService.url}/secrets/store`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const page = SecretPage.parse(await listResponse.json());
    expect(page.secrets.map(({ secret_db_id }) => secret_db_id)).toEqual([...confirmedContents.keys()].sort());
    for (const [id, content] of confirmedContents) {
      const secret = SecretContent.parse(
        await (await postJson(runningService.url, "/secrets/store/get-secret", token, { secret_db_id: id })).json(),
      );
      expect(secret.content).toBe(content);
    }
    // Each file belongs to a published version or is orphaned and will be collected.
    expect(await service.findStrayObjects()).toEqual([]);
  });
});

/** Waits until the service has reserved or published the call's object. */
async function waitForNewKey(keyCountBefore: number): Promise<void> {
  while ((await service.readKnownKeys()).length <= keyCountBefore);
}

import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

import { SecretContent, SecretPage } from "@relicario/shared/api";
import { z } from "zod";

import { buildSecret, confirmChange, createPerson } from "../testing/person.ts";
import { prepareServiceProcess, type ServiceProcess } from "../testing/process.ts";
import { migrationsFolder } from "./migrate.ts";

jest.setTimeout(120_000); // two processes start, on a machine that may be busy

const releasedFolder = join(__dirname, "../../released");
const Schema = z.object({ version: z.string(), migrations: z.int(), sha256: z.string() });
const { migrations, sha256 } = Schema.parse(JSON.parse(readFileSync(join(releasedFolder, "schema.json"), "utf8")));

let folder: string;
let service: ServiceProcess;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "relicario-release-"));
  writeFileSync(join(folder, "service.mjs"), gunzipSync(readFileSync(join(releasedFolder, "service.mjs.gz"))));
  copyFileSync(join(__dirname, "../uploads/digest.worker.ts"), join(folder, "digest.worker.ts"));
  // It finds all of its migrations applied.
  mkdirSync(join(folder, "migrations/meta"), { recursive: true });
  writeFileSync(join(folder, "migrations/meta/_journal.json"), JSON.stringify({ entries: [] }));
  service = await prepareServiceProcess();
});
afterEach(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

describe("the last release", () => {
  it("has migrations that this one leaves as they are (else: pnpm release:keep)", () => {
    const digest = createHash("sha256");
    const files = readdirSync(migrationsFolder)
      .filter((name) => name.endsWith(".sql"))
      .sort();
    for (const name of files.slice(0, migrations)) digest.update(readFileSync(join(migrationsFolder, name)));
    expect(digest.digest("hex")).toBe(sha256);
  });

  it("works on this schema next to this release: each reads what the other stored", async () => {
    const [released, current] = [await service.start(join(folder, "service.mjs")), await service.start()];
    const token = await service.signIn(released.url, "ana");
    const person = createPerson("ana", token);
    const contents = new Map<string, string>();
    for (const { url } of [released, current, released]) {
      const { body } = buildSecret(person, { bytes: 50_000 });
      expect((await call(url, "POST", "/secrets/store", token, body)).status).toBe(200);
      confirmChange(person, body.keyring);
      contents.set(body.secret_db_id, body.content);
    }
    const laterToken = await service.signIn(current.url, "ana");
    for (const { url } of [released, current]) {
      expect((await call(url, "GET", "/readyz", null)).status).toBe(200);
      const page = SecretPage.parse(await (await call(url, "GET", "/secrets/store", laterToken)).json());
      expect(page.secrets.map(({ secret_db_id }) => secret_db_id)).toEqual([...contents.keys()].sort());
      for (const [id, content] of contents) {
        const response = await call(url, "POST", "/secrets/store/get-secret", laterToken, { secret_db_id: id });
        expect(SecretContent.parse(await response.json()).content).toBe(content);
      }
    }
    expect((await call(released.url, "DELETE", "/auth/token", token)).status).toBeLessThan(300);
    // another process sees it within a second
    while ((await call(current.url, "GET", "/user/me", token)).status !== 401);
  });
});

function call(url: string, method: string, path: string, token: string | null, body?: unknown): Promise<Response> {
  return fetch(`${url}${path}`, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

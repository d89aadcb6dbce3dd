/**
 * Benchmark of the object stores: `pnpm bench:stores [--mebibytes 1024]`. Uploads one content in
 * parts of 8 MiB, three at a time, and downloads it, with objects in a folder and in S3Proxy in the
 * same run. The last line is JSON; fails when a downloaded content differs. Needs Java and Maven.
 */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { StartUploadResponse, uploadPath } from "@relicario/shared/api";
import { startDatabaseServer } from "@relicario/tooling/database";
import { startS3Proxy } from "@relicario/tooling/s3proxy";

import { startIssuer } from "../issuer.ts";
import { createPerson } from "../person.ts";
import { createServiceVariables } from "../service.ts";
import { buildFinish, buildLargeContent, sha256B64u } from "../upload.ts";
import { startServer } from "./server.ts";

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== "--"),
  options: { mebibytes: { type: "string", default: "1024" } },
});
const mebibyte = 2 ** 20;
const contentBytes = Number(values.mebibytes) * mebibyte - 5_000; // with its ticket at most 1 GiB
const partBytes = 8 * mebibyte;
const uploadsAtOnce = 3;

/** Seconds of each step, and whether the downloaded content is the uploaded one. */
interface Measured {
  readonly upload: number;
  readonly finish: number;
  readonly download: number;
  readonly equal: boolean;
}

const folder = mkdtempSync(join(tmpdir(), "relicario-bench-"));
const cleanups: (() => Promise<unknown>)[] = [];
try {
  await measureStores();
} finally {
  for (const cleanup of cleanups.reverse()) await cleanup();
  rmSync(folder, { recursive: true, force: true });
}

async function measureStores(): Promise<void> {
  const database = await startDatabaseServer({ folder: join(folder, "database") });
  cleanups.push(() => database.stop());
  const issuer = await startIssuer();
  cleanups.push(() => issuer.stop());
  const s3 = await startS3Proxy();
  cleanups.push(() => s3.stop());
  const { RELICARIO_TEST_S3: bucket = "", ...credentials } = s3.environment;
  const measure = async (name: "folder" | "s3", settings: Readonly<Record<string, string>>): Promise<Measured> => {
    await database.createDatabase(name);
    const objectsFolder = join(folder, "objects");
    const server = await startServer("main.ts", {
      ...(await createServiceVariables(issuer.issuer, database.getUrl(name), objectsFolder)),
      ...settings,
    });
    try {
      return await measureUpload(`http://127.0.0.1:${String(server.port)}`, await issuer.createAccessToken("marta"));
    } finally {
      await server.stop();
    }
  };
  const figures = {
    folder: await measure("folder", {}),
    s3: await measure("s3", { OBJECTS_URL: bucket, ...credentials }),
  };
  const ok = figures.folder.equal && figures.s3.equal;
  const ratios = {
    upload: figures.s3.upload / figures.folder.upload,
    download: figures.s3.download / figures.folder.download,
  };
  console.log(
    JSON.stringify({ bench: "stores", ok, figures: { bytes: contentBytes, ...figures, ratios }, limits: {} }),
  );
  process.exitCode = ok ? 0 : 1;
}

async function measureUpload(url: string, accessToken: string): Promise<Measured> {
  const post = (body: unknown) => ({
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" },
  });
  const call = async (path: string, init: RequestInit, token: string | null): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (token !== null) headers.set("authorization", `Bearer ${token}`);
    const response = await fetch(`${url}${path}`, { ...init, headers });
    if (!response.ok) throw new Error(`${path} answered ${String(response.status)} ${await response.text()}`);
    return response;
  };
  const { token } = (await (
    await call("/auth/token?app_vendor_id=relicario", post({ token: accessToken }), null)
  ).json()) as { token: string };
  const content = buildLargeContent({ bytes: contentBytes, partSize: partBytes });
  const finish = buildFinish(createPerson("marta", token), content);
  const measureSeconds = async (step: () => Promise<unknown>): Promise<number> => {
    const start = performance.now();
    await step();
    return (performance.now() - start) / 1_000;
  };

  const { body, headers } = await content.buildStartForm();
  const startResponse = await call(
    "/v2/secrets/secret",
    { method: "POST", body: Uint8Array.from(body), headers },
    token,
  );
  const path = uploadPath(StartUploadResponse.parse(await startResponse.json()).upload_id);
  const numbers = content.parts.map((_, index) => index + 1);
  const uploadParts = async (): Promise<void> => {
    for (let number = numbers.shift(); number !== undefined; number = numbers.shift()) {
      const form = await content.buildPartForm(number);
      const init = { method: "POST", body: Uint8Array.from(form.body), headers: form.headers };
      await (await call(path, init, token)).arrayBuffer();
    }
  };
  const upload = await measureSeconds(() => Promise.all(Array.from({ length: uploadsAtOnce }, uploadParts)));
  const finishSeconds = await measureSeconds(() => call(path, { ...post(finish), method: "PUT" }, token));
  const digest = createHash("sha256");
  const download = await measureSeconds(async () => {
    const response = await call("/v2/secrets/get-secret", post({ secret_db_id: content.id }), token);
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) digest.update(chunk);
  });
  return { upload, finish: finishSeconds, download, equal: digest.digest("base64url") === sha256B64u(content.content) };
}

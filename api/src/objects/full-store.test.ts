import { execFileSync } from "node:child_process";
import * as files from "node:fs/promises";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { uploadPath, StartUploadResponse } from "@relicario/shared/api";

import { buildSecret, confirmChange } from "../testing/person.ts";
import { startService, type TestService } from "../testing/service.ts";
import { buildLargeContent } from "../testing/upload.ts";

let folder: string;
let service: TestService;
let isMounted: boolean;

/** A disk of a mebibyte; where mounting is not allowed, writes fail as on a full one. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "relicario-full-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], { stdio: "ignore" });
    isMounted = true;
  } catch {
    isMounted = false;
  }
  service = await startService({ OBJECTS_URL: folder });
});
afterAll(async () => {
  await service.stop();
  if (isMounted) execFileSync("umount", [folder]);
  await rm(folder, { recursive: true, force: true });
});

async function fillDisk(): Promise<() => Promise<void>> {
  if (isMounted) {
    const file = join(folder, "filler");
    await files.writeFile(file, Buffer.alloc(2 * 1024 ** 2)).catch(() => undefined); // as much as fits
    return () => rm(file);
  }
  const { open } = files;
  const spy = jest.spyOn(files, "open").mockImplementation(async (path, flags, mode) => {
    const handle = await open(path, flags, mode);
    if (flags === "wx")
      handle.writeFile = () => Promise.reject(Object.assign(new Error("no space left"), { code: "ENOSPC" }));
    return handle;
  });
  return async () => {
    spy.mockRestore();
  };
}

describe("a full disk of objects", () => {
  it("gives 503 with Retry-After and a code for parts and stores, shows in /readyz, and ends when there is room", async () => {
    const person = await service.signIn();
    const { body } = buildSecret(person, { bytes: 100_000 });
    const largeContent = buildLargeContent({ bytes: 300_000 });
    const startForm = await largeContent.buildStartForm();
    const started = await service.call("POST", "/v2/secrets/secret", person.token, startForm);
    const { upload_id: uploadId } = StartUploadResponse.parse(started.body);
    const storeSecret = () => service.call("POST", "/secrets/store", person.token, { body });
    const sendPart = async () =>
      service.call("POST", uploadPath(uploadId), person.token, await largeContent.buildPartForm(1));
    expect((await service.call("GET", "/readyz", null)).status).toBe(200);

    const makeRoom = await fillDisk();
    for (const response of [await storeSecret(), await sendPart(), await service.call("GET", "/readyz", null)])
      expect(response).toMatchObject({
        status: 503,
        headers: { "retry-after": "60" },
        body: { code: "service_unavailable", detail: "the object store is full" },
      });
    expect((await service.call("GET", "/user/me", person.token)).status).toBe(200);
    await makeRoom();

    expect((await service.call("GET", "/readyz", null)).status).toBe(200);
    expect((await storeSecret()).status).toBe(200);
    confirmChange(person, body.keyring);
    expect((await sendPart()).status).toBe(200);
  });
});

import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { startS3Server } from "./s3-server.ts";

export { startS3Server, type TestS3Server } from "./s3-server.ts";

/** Gives empty stores of one kind. */
export interface TestStores {
  readonly name: "folder" | "s3";
  /** For `OBJECTS_URL`. */
  createAddress(): Promise<string>;
  stop(): Promise<void>;
}

export async function startFolders(): Promise<TestStores> {
  const root = await mkdtemp(join(tmpdir(), "relicario-stores-"));
  return {
    name: "folder",
    createAddress: () => mkdtemp(join(root, "store-")),
    stop: () => rm(root, { recursive: true, force: true }),
  };
}

/** The server of `RELICARIO_TEST_S3` (an address without a prefix), else one in this process. */
export async function startBuckets(): Promise<TestStores> {
  const address = process.env["RELICARIO_TEST_S3"];
  if (address !== undefined)
    return {
      name: "s3",
      createAddress: async () => address.replace("?", `/${randomUUID()}?`),
      stop: () => Promise.resolve(),
    };
  const { createAddress, stop } = await startS3Server();
  return { name: "s3", createAddress: async () => createAddress(), stop };
}

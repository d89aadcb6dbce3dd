import { rm } from "node:fs/promises";

/** jest's globalTeardown: ends the server that jest-setup.ts started. */
export default async function stopTestDatabase(): Promise<void> {
  const started = globalThis.relicarioTestDatabase;
  if (started === undefined) return;
  globalThis.relicarioTestDatabase = undefined;
  await started.database.stop();
  await rm(started.folder, { recursive: true, force: true });
}

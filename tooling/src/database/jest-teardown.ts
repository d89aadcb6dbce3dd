import { rm } from "node:fs/promises";

/** jest's globalTeardown. */
export default async function stopTestDatabase(): Promise<void> {
  const testDatabase = globalThis.relicarioTestDatabase;
  if (testDatabase === undefined) return;
  globalThis.relicarioTestDatabase = undefined;
  await testDatabase.database.stop();
  await rm(testDatabase.folder, { recursive: true, force: true });
}

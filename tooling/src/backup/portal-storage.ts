import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { findRunningServer, startDatabaseServer } from "../database/embedded.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { tryLock } from "../keys/lock.ts";
import { readStartSettings, type StartSettings } from "../start/settings.ts";

/** A portal's data, by the settings of `npm start`. */
export interface PortalStorage {
  readonly databaseUrls: { readonly service: string; readonly identity: string | null };
  /** Of sealed objects. */
  readonly objectsPath: string;
  readonly keysPath: string;
  close(): Promise<void>;
}

/** On the embedded server; accounts of an identity provider of one's own are not there. */
const buildEmbeddedUrls = (
  url: (name: string) => string,
  { authority }: StartSettings,
): PortalStorage["databaseUrls"] => ({
  service: url("relicario"),
  identity: authority === null ? url("relicario_identity") : null,
});

/** As it is, whether it runs or not. */
export async function openStorage(environment: NodeJS.ProcessEnv): Promise<PortalStorage> {
  const settings = readStartSettings(environment);
  const folders = resolveFolders(settings, environment);
  if (settings.databaseUrls !== null)
    return { ...folders, databaseUrls: settings.databaseUrls, close: () => Promise.resolve() };
  const runningUrl = await findRunningServer(join(settings.dataDir, "database"));
  if (runningUrl !== null)
    return { ...folders, databaseUrls: buildEmbeddedUrls(runningUrl, settings), close: () => Promise.resolve() };
  const database = await startDatabaseServer({ folder: join(settings.dataDir, "database") });
  return {
    ...folders,
    databaseUrls: buildEmbeddedUrls((name) => database.url(name), settings),
    close: () => database.stop(),
  };
}

/** A place to restore to, where no portal runs; databases of the embedded server are made. */
export async function openRestoreTarget(environment: NodeJS.ProcessEnv): Promise<PortalStorage> {
  const settings = readStartSettings(environment);
  const folders = resolveFolders(settings, environment);
  const lock = tryLock(join(settings.dataDir, "running.lock"));
  if ("heldBy" in lock)
    throw new UserFacingError(
      `A portal is running on ${settings.dataDir} (process ${String(lock.heldBy.pid)}): stop it, or restore into another folder with DATA_DIR.`,
    );
  try {
    if (settings.databaseUrls !== null)
      return { ...folders, databaseUrls: settings.databaseUrls, close: async () => lock.release() };
    const database = await startDatabaseServer({ folder: join(settings.dataDir, "database") });
    const urls = buildEmbeddedUrls((name) => database.url(name), settings);
    for (const url of [urls.service, urls.identity])
      if (url !== null) await database.createDatabase(new URL(url).pathname.slice(1));
    return { ...folders, databaseUrls: urls, close: () => database.stop().finally(() => lock.release()) };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function resolveFolders(
  { dataDir }: StartSettings,
  { OBJECTS_URL: objects }: NodeJS.ProcessEnv,
): Pick<PortalStorage, "objectsPath" | "keysPath"> {
  const folder =
    objects === undefined || objects === ""
      ? join(dataDir, "objects")
      : objects.startsWith("file://")
        ? fileURLToPath(objects)
        : objects;
  return { objectsPath: folder, keysPath: join(dataDir, "keys") };
}

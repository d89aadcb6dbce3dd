import { join } from "node:path";

import { findRunningServer, startDatabaseServer } from "../database/embedded.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { tryLock } from "../keys/lock.ts";
import { readStartSettings, type StartSettings } from "../start/settings.ts";

/** Where a portal started by `npm start` keeps its data. */
export interface PortalStorage {
  readonly databaseUrls: { readonly service: string; readonly identity: string | null };
  /** As `OBJECTS_URL`. */
  readonly objectsUrl: string;
  readonly keysPath: string;
  close(): Promise<void>;
}

/** URLs on the embedded server, which has no accounts of an external identity provider. */
const buildEmbeddedUrls = (
  getUrl: (name: string) => string,
  { authority }: StartSettings,
): PortalStorage["databaseUrls"] => ({
  service: getUrl("relicario"),
  identity: authority === null ? getUrl("relicario_identity") : null,
});

/** URLs of databases of your own: the service's without its pooler, which cannot hold the lease. */
const buildOwnUrls = (
  { databaseUrls }: StartSettings,
  { DATABASE_MIGRATION_URL: serverUrl = "" }: NodeJS.ProcessEnv,
): PortalStorage["databaseUrls"] | null =>
  databaseUrls === null || serverUrl === "" ? databaseUrls : { ...databaseUrls, service: serverUrl };

/** Opens the storage of a running or stopped portal. */
export async function openStorage(environment: NodeJS.ProcessEnv): Promise<PortalStorage> {
  const settings = readStartSettings(environment);
  const folders = resolveFolders(settings, environment);
  const ownUrls = buildOwnUrls(settings, environment);
  if (ownUrls !== null) return { ...folders, databaseUrls: ownUrls, close: () => Promise.resolve() };
  const getRunningUrl = await findRunningServer(join(settings.dataDir, "database"));
  if (getRunningUrl !== null)
    return { ...folders, databaseUrls: buildEmbeddedUrls(getRunningUrl, settings), close: () => Promise.resolve() };
  const database = await startDatabaseServer({ folder: join(settings.dataDir, "database") });
  return {
    ...folders,
    databaseUrls: buildEmbeddedUrls((name) => database.getUrl(name), settings),
    close: () => database.stop(),
  };
}

/**
 * Opens a target for a restore, and creates its databases on the embedded server.
 *
 * @throws UserFacingError when a portal runs there
 */
export async function openRestoreTarget(environment: NodeJS.ProcessEnv): Promise<PortalStorage> {
  const settings = readStartSettings(environment);
  const folders = resolveFolders(settings, environment);
  const lock = tryLock(join(settings.dataDir, "running.lock"));
  if ("heldBy" in lock)
    throw new UserFacingError(
      `A portal is running on ${settings.dataDir} (process ${String(lock.heldBy.pid)}): stop it, or restore into another folder with DATA_DIR.`,
    );
  try {
    const ownUrls = buildOwnUrls(settings, environment);
    if (ownUrls !== null) return { ...folders, databaseUrls: ownUrls, close: async () => lock.release() };
    const database = await startDatabaseServer({ folder: join(settings.dataDir, "database") });
    const urls = buildEmbeddedUrls((name) => database.getUrl(name), settings);
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
  { OBJECTS_URL: objectsUrl }: NodeJS.ProcessEnv,
): Pick<PortalStorage, "objectsUrl" | "keysPath"> {
  return {
    objectsUrl: objectsUrl === undefined || objectsUrl === "" ? join(dataDir, "objects") : objectsUrl,
    keysPath: join(dataDir, "keys"),
  };
}

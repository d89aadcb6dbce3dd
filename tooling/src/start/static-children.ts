import { EventEmitter, once } from "node:events";

import { StaticServerStatus, type StaticServerCommand, type StaticServers } from "../serve/static-servers.ts";
import { createChild, type Child, type ChildSettings } from "./child.ts";

/** The static servers of all remotes: one process, and a part of the portal for each. */
export interface StaticChildren {
  /** The process; it opens those that are wanted. */
  readonly process: Child;
  /**
   * One server of it, by its name: it is started and stopped alone, and has an address of its own.
   */
  readonly servers: readonly Child[];
}

/** @param folders of releases, by the remotes' names */
export function createStaticChildren(
  folders: ReadonlyMap<string, string>,
  settings: Pick<ChildSettings, "logFile" | "onUnexpectedExit">,
): StaticChildren {
  const ports = new Map<string, number>();
  const enabledServers = new Set(folders.keys());
  let openPorts: StaticServerStatus["serving"] = {};
  const events = new EventEmitter();
  /** None of them serves any more, or not yet; who waits for one looks again. */
  const clearOpenPorts = (): void => {
    openPorts = {};
    events.emit("serving");
  };
  const child = createChild({
    ...settings,
    name: "remotes",
    script: "tooling/src/serve/remotes-main.ts",
    environment: () => {
      clearOpenPorts();
      const servers: StaticServers = [...folders].map(([name, folder]) => ({
        name,
        folder,
        port: ports.get(name) ?? 0,
        openAtStart: enabledServers.has(name),
      }));
      return { STATIC_SERVERS: JSON.stringify(servers) };
    },
    onLine(line) {
      const reportedPorts = parseStatus(line);
      if (reportedPorts === null) return;
      openPorts = reportedPorts;
      for (const [name, port] of Object.entries(reportedPorts)) ports.set(name, port);
      events.emit("serving");
    },
    onUnexpectedExit(name, how) {
      clearOpenPorts();
      settings.onUnexpectedExit(name, how);
    },
  });
  const process: Child = {
    ...child,
    stop: () => child.stop().then(clearOpenPorts),
    kill: () => child.kill().then(clearOpenPorts),
  };

  const isOpen = (name: string): boolean => process.isRunning() && openPorts[name] !== undefined;
  async function sendCommand(action: StaticServerCommand["action"], name: string): Promise<void> {
    if (!process.isRunning()) return; // it opens what is wanted when it starts
    const isDone = action === "open" ? () => isOpen(name) : () => !isOpen(name);
    if (isDone()) return;
    child.sendLine(JSON.stringify({ action, name } satisfies StaticServerCommand));
    while (process.isRunning() && !isDone()) await once(events, "serving");
  }
  const createServerChild = (name: string): Child => {
    const closeServer = async (): Promise<void> => {
      enabledServers.delete(name);
      await sendCommand("close", name);
    };
    return {
      name,
      port: () => ports.get(name) ?? 0,
      isRunning: () => isOpen(name),
      async start() {
        enabledServers.add(name);
        await (process.isRunning() ? sendCommand("open", name) : process.start());
      },
      stop: closeServer,
      kill: closeServer,
    };
  };
  return { process, servers: [...folders.keys()].map(createServerChild) };
}

function parseStatus(line: string): StaticServerStatus["serving"] | null {
  if (!line.startsWith('{"serving":')) return null;
  return StaticServerStatus.parse(JSON.parse(line)).serving;
}

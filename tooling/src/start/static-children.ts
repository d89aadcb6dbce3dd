import { EventEmitter, once } from "node:events";

import { StaticServerStatus, type StaticServerCommand, type StaticServers } from "../serve/static-servers.ts";
import { createChild, type Child, type ChildSettings } from "./child.ts";

export interface StaticChildren {
  /** Opens the enabled servers. */
  readonly process: Child;
  /** A server for each remote, controlled separately, with its own port. */
  readonly servers: readonly Child[];
}

/** @param folders of releases, by remote */
export function createStaticChildren(
  folders: ReadonlyMap<string, string>,
  settings: Pick<ChildSettings, "logFile" | "onUnexpectedExit">,
): StaticChildren {
  const ports = new Map<string, number>();
  const enabledServers = new Set(folders.keys());
  let openPorts: StaticServerStatus["serving"] = {};
  const events = new EventEmitter();
  /** Notifies those that wait for a server. */
  const clearOpenPorts = (): void => {
    openPorts = {};
    events.emit("serving");
  };
  const child = createChild({
    ...settings,
    name: "remotes",
    script: "tooling/src/serve/remotes-main.ts",
    buildEnvironment: () => {
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
    onUnexpectedExit(name, reason) {
      clearOpenPorts();
      settings.onUnexpectedExit(name, reason);
    },
  });
  const process: Child = {
    ...child,
    stop: () => child.stop().then(clearOpenPorts),
    kill: () => child.kill().then(clearOpenPorts),
  };

  const isOpen = (name: string): boolean => process.isRunning() && openPorts[name] !== undefined;
  async function sendCommand(action: StaticServerCommand["action"], name: string): Promise<void> {
    if (!process.isRunning()) return; // it opens the enabled servers when it starts
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
      getPort: () => ports.get(name) ?? 0,
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

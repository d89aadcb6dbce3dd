import { EventEmitter, once } from "node:events";

import { Serving, type ServingOrder, type StaticServers } from "../serve/static-servers.ts";
import { createChild, type Child, type ChildSettings } from "./child.ts";

/** The static servers of all remotes: one process, and a part of the portal for each. */
export interface StaticChildren {
  /** The process; it opens those that are wanted. */
  readonly process: Child;
  /**
   * One server of it, by its name: it is started and stopped alone, and has an address of its own.
   */
  readonly each: readonly Child[];
}

/** @param folders of releases, by the remotes' names */
export function createStaticChildren(
  folders: ReadonlyMap<string, string>,
  settings: Pick<ChildSettings, "logFile" | "onDeath">,
): StaticChildren {
  const ports = new Map<string, number>();
  const wanted = new Set(folders.keys());
  let serving: Serving["serving"] = {};
  const said = new EventEmitter();
  /** None of them serves any more, or not yet; who waits for one looks again. */
  const gone = (): void => {
    serving = {};
    said.emit("serving");
  };
  const child = createChild({
    ...settings,
    name: "remotes",
    script: "tooling/src/serve/remotes-main.ts",
    environment: () => {
      gone();
      const servers: StaticServers = [...folders].map(([name, folder]) => ({
        name,
        folder,
        port: ports.get(name) ?? 0,
        wanted: wanted.has(name),
      }));
      return { STATIC_SERVERS: JSON.stringify(servers) };
    },
    onLine(line) {
      const heard = servingIn(line);
      if (heard === null) return;
      serving = heard;
      for (const [name, port] of Object.entries(heard)) ports.set(name, port);
      said.emit("serving");
    },
    onDeath(name, how) {
      gone();
      settings.onDeath(name, how);
    },
  });
  const process: Child = { ...child, stop: () => child.stop().then(gone), kill: () => child.kill().then(gone) };

  const isOpen = (name: string): boolean => process.running() && serving[name] !== undefined;
  async function order(act: ServingOrder["act"], name: string): Promise<void> {
    if (!process.running()) return; // it opens what is wanted when it starts
    const heard = act === "open" ? () => isOpen(name) : () => !isOpen(name);
    if (heard()) return;
    child.tell(JSON.stringify({ act, name } satisfies ServingOrder));
    while (process.running() && !heard()) await once(said, "serving");
  }
  const partOf = (name: string): Child => {
    const close = async (): Promise<void> => {
      wanted.delete(name);
      await order("close", name);
    };
    return {
      name,
      port: () => ports.get(name) ?? 0,
      running: () => isOpen(name),
      async start() {
        wanted.add(name);
        await (process.running() ? order("open", name) : process.start());
      },
      stop: close,
      kill: close,
    };
  };
  return { process, each: [...folders.keys()].map(partOf) };
}

function servingIn(line: string): Serving["serving"] | null {
  if (!line.startsWith('{"serving":')) return null;
  return Serving.parse(JSON.parse(line)).serving;
}

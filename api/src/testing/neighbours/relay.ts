import { once } from "node:events";
import { Worker } from "node:worker_threads";

/**
 * A port that stays, in front of servers that come and go: each connection goes to the next one
 * that answers.
 */
export interface Relay {
  readonly port: number;
  /** Ports on 127.0.0.1, from now on. */
  setTargets(ports: readonly number[]): void;
  stop(): Promise<void>;
}

/**
 * As a load balancer for TCP does it: no bytes are looked at, and one end that closes or resets
 * closes the other. In a thread of its own, since whoever takes the time of a call in this one
 * would take that of everybody's bytes with it.
 */
export async function startRelay(): Promise<Relay> {
  const worker = new Worker(new URL("relay.worker.ts", import.meta.url), { name: "relay" });
  const [port] = (await once(worker, "message")) as [number];
  return {
    port,
    setTargets: (ports) => {
      worker.postMessage(ports);
    },
    stop: async () => {
      const exited = once(worker, "exit");
      worker.postMessage(null);
      await exited;
    },
  };
}

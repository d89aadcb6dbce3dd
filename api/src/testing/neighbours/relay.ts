import { once } from "node:events";
import { Worker } from "node:worker_threads";

/**
 * A fixed port in front of servers that come and go: each connection goes to the next one that
 * accepts.
 */
export interface Relay {
  readonly port: number;
  /** Ports on 127.0.0.1 for new connections. */
  setTargets(ports: readonly number[]): void;
  /** Delays what servers send, in milliseconds. */
  setDelay(milliseconds: number): void;
  stop(): Promise<void>;
}

/** Message to the thread. */
export interface RelayOrder {
  readonly ports?: readonly number[];
  readonly delayMilliseconds?: number;
}

/**
 * Works like a TCP load balancer: bytes are not inspected, and closing or resetting one end does
 * the same to the other. Runs in its own thread, so that a busy event loop here does not delay
 * everyone's bytes.
 */
export async function startRelay(): Promise<Relay> {
  const worker = new Worker(new URL("relay.worker.ts", import.meta.url), { name: "relay" });
  const [port] = (await once(worker, "message")) as [number];
  return {
    port,
    setTargets: (ports) => {
      worker.postMessage({ ports } satisfies RelayOrder);
    },
    setDelay: (delayMilliseconds) => {
      worker.postMessage({ delayMilliseconds } satisfies RelayOrder);
    },
    stop: async () => {
      const exited = once(worker, "exit");
      worker.postMessage(null);
      await exited;
    },
  };
}

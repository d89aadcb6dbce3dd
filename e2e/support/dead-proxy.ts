import { createServer, type AddressInfo, type Server } from "node:net";

/**
 * A proxy without upstream: a browser that sends everything to it has no network, and each of its
 * requests is recorded.
 */
export class DeadProxy {
  readonly #server: Server;
  readonly #requestLines: string[] = [];

  private constructor() {
    this.#server = createServer((socket) => {
      socket.on("error", () => undefined); // the browser may be gone
      socket.once("data", (bytes) => {
        this.#requestLines.push(bytes.toString("latin1").split("\r\n", 1)[0] ?? "");
        socket.destroy();
      });
    });
  }

  static async start(): Promise<DeadProxy> {
    const proxy = new DeadProxy();
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get address(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  /** First line of each request, in order: `GET http://… HTTP/1.1`, `CONNECT …`. */
  requestLines(): readonly string[] {
    return [...this.#requestLines];
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

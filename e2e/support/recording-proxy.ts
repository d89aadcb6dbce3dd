import http from "node:http";
import type { AddressInfo, Socket } from "node:net";

/**
 * A plain HTTP proxy that keeps every byte that browsers send: addresses, headers and bodies, as
 * they went over the wire. Only for loopback: what the browser itself asks of its maker (updates,
 * leaked passwords) is refused.
 */
export class RecordingProxy {
  readonly #server: http.Server;
  /**
   * The chunks of each request by themselves: those of requests that run at once would cut each
   * other in two.
   */
  readonly #sentRequests: Uint8Array[][] = [];
  requestCount = 0;

  private constructor() {
    this.#server = http.createServer((request, response) => {
      this.#forward(request, response);
    });
    this.#server.on("connect", (_request: http.IncomingMessage, socket: Socket) => {
      socket.destroy();
    });
  }

  static async start(): Promise<RecordingProxy> {
    const proxy = new RecordingProxy();
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get address(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  /** Everything sent so far. */
  readSent(): Buffer {
    return Buffer.concat(this.#sentRequests.flat());
  }

  /** Adds bytes as if a browser had sent them: proves that a search of {@link readSent} finds. */
  plant(bytes: Buffer): void {
    this.#sentRequests.push([bytes]);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #forward(request: http.IncomingMessage, response: http.ServerResponse): void {
    const target = new URL(request.url ?? "", "http://nowhere.invalid");
    if (target.hostname !== "localhost" && target.hostname !== "127.0.0.1") {
      response.writeHead(502).end();
      return;
    }
    this.requestCount += 1;
    const headers = request.rawHeaders.map((part, index) => (index % 2 === 0 ? `${part}: ` : `${part}\r\n`)).join("");
    const chunks: Uint8Array[] = [Buffer.from(`\r\n${request.method ?? ""} ${request.url ?? ""}\r\n${headers}\r\n`)];
    this.#sentRequests.push(chunks);

    const upstreamRequest = http.request(
      {
        host: target.hostname,
        port: target.port,
        method: request.method,
        path: `${target.pathname}${target.search}`,
        headers: request.headers,
      },
      (upstreamResponse) => {
        response.writeHead(
          upstreamResponse.statusCode ?? 502,
          upstreamResponse.statusMessage,
          upstreamResponse.rawHeaders,
        );
        upstreamResponse.pipe(response);
      },
    );
    upstreamRequest.on("error", () => {
      response.destroy(); // the browser then sees what it would see without us: a broken connection
    });
    response.on("close", () => upstreamRequest.destroy());
    request.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
    });
    request.pipe(upstreamRequest);
  }
}

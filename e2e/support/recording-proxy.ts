import http from "node:http";
import type { AddressInfo, Socket } from "node:net";

/**
 * Records every byte that browsers send, as on the wire. Only for loopback: the browser's own calls
 * to its maker (updates, leaked passwords) are refused.
 */
export class RecordingProxy {
  readonly #server: http.Server;
  /** Chunks by request, because those of concurrent requests would interleave. */
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
    if (!/^(?:(?:.+\.)?localhost|127\.0\.0\.1)$/.test(target.hostname)) {
      response.writeHead(502).end();
      return;
    }
    this.requestCount += 1;
    const headers = request.rawHeaders.map((part, index) => (index % 2 === 0 ? `${part}: ` : `${part}\r\n`)).join("");
    const chunks: Uint8Array[] = [Buffer.from(`\r\n${request.method ?? ""} ${request.url ?? ""}\r\n${headers}\r\n`)];
    this.#sentRequests.push(chunks);

    const upstreamRequest = http.request(
      {
        host: target.hostname.endsWith(".localhost") ? "localhost" : target.hostname, // a name for browsers alone
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
      response.destroy(); // as without the proxy, the browser sees a broken connection
    });
    response.on("close", () => upstreamRequest.destroy());
    request.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
    });
    request.pipe(upstreamRequest);
  }
}

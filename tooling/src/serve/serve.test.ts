import fastify from "fastify";

import { choosePorts } from "../start/ports.ts";
import { listen } from "./serve.ts";

describe("listen", () => {
  it("serves both ports of a host by one server, until it closes", async () => {
    const { gateway: port, vault: secondPort } = await choosePorts(0);
    const app = fastify();
    app.get("/", ({ headers }) => ({ host: headers.host }));
    const ports: (number | undefined)[] = [];
    app.server.on("connection", ({ localPort }) => ports.push(localPort));
    await listen(app, { host: "127.0.0.1", port, secondPort });
    for (const each of [port, secondPort]) {
      const host = `127.0.0.1:${String(each)}`;
      expect(await (await fetch(`http://${host}/`, { headers: { connection: "close" } })).json()).toEqual({ host });
    }
    expect(ports).toEqual([port, secondPort]);
    await app.close();
    await expect(fetch(`http://127.0.0.1:${String(secondPort)}/`)).rejects.toThrow("fetch failed");
  });

  it("fails when the second port is taken", async () => {
    const { gateway, identity, vault } = await choosePorts(0);
    const first = fastify();
    await listen(first, { host: "127.0.0.1", port: gateway, secondPort: vault });
    const second = fastify();
    await expect(listen(second, { host: "127.0.0.1", port: identity, secondPort: vault })).rejects.toMatchObject({
      code: "EADDRINUSE",
    });
    await second.close();
    await first.close();
  });
});

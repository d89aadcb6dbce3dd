import { createServer, type Server } from "node:net";

import { choosePorts } from "./ports.ts";

const listen = (port: number): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ port, host: "localhost" }, () => resolve(server));
  });
const close = (server: Server): Promise<unknown> => new Promise((resolve) => server.close(resolve));

describe("choosePorts", () => {
  it("finds two free ports next to each other", async () => {
    const { gateway, identity } = await choosePorts(0);
    expect(identity).toBe(gateway + 1);
    const servers = [await listen(gateway), await listen(identity)];
    await Promise.all(servers.map(close));
  });

  it("takes the ports that were asked for when they are free", async () => {
    const { gateway } = await choosePorts(0);
    await expect(choosePorts(gateway)).resolves.toMatchObject({ gateway, identity: gateway + 1 });
  });

  it.each([
    [0, 2],
    [1, 2],
    [2, 3],
  ] as const)("says in one line that port %s of %s is in use, and how to choose another", async (offset, count) => {
    const { gateway } = await choosePorts(0, 3);
    const server = await listen(gateway + offset);
    const failure = await choosePorts(gateway, count).then(
      () => null,
      (error: unknown) => error,
    );
    await close(server);
    expect(failure).toMatchObject({
      name: "UserFacingError",
      message: expect.stringMatching(
        new RegExp(
          `^Port ${String(gateway + offset)} is in use by another program\\. Choose another with PORT.*npm start$`,
        ),
      ),
    });
  });
});

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
  it("finds free ports next to each other", async () => {
    const { gateway, identity, vault } = await choosePorts(0);
    expect([identity, vault]).toEqual([gateway + 1, gateway + 4]);
    const servers = [await listen(gateway), await listen(identity), await listen(vault)];
    await Promise.all(servers.map(close));
  });

  it("uses the requested ports when they are free", async () => {
    const { gateway } = await choosePorts(0);
    await expect(choosePorts(gateway)).resolves.toMatchObject({ gateway, identity: gateway + 1 });
  });

  it("leaves the identity provider's port to another provider", async () => {
    const { gateway, identity } = await choosePorts(0);
    const server = await listen(identity);
    await expect(choosePorts(gateway, { hasIdentity: false })).resolves.toMatchObject({ gateway });
    await close(server);
  });

  it.each([
    [0, false],
    [1, false],
    [4, false],
    [2, true],
    [5, true],
  ])("reports in one line that port +%s is in use, and how to choose another", async (offset, hasSecondVendor) => {
    const { gateway } = await choosePorts(0);
    const server = await listen(gateway + offset);
    const failure = await choosePorts(gateway, { hasSecondVendor }).then(
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

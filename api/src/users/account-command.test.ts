import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import { compileCache } from "@relicario/tooling/compile-cache";

import { startService, type TestService } from "../testing/service.ts";

const execute = promisify(execFile);

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** The command as an operator runs it: what it said, and how it ended. */
const run = async (...words: string[]): Promise<{ code: unknown; said: string }> => {
  const env = { PATH: process.env["PATH"], ...compileCache, DATABASE_URL: service.database.url };
  try {
    const { stdout } = await execute(process.execPath, [join(__dirname, "account-command.ts"), ...words], { env });
    return { code: 0, said: stdout };
  } catch (error) {
    const { code, stderr } = error as { code: unknown; stderr: string };
    return { code, said: stderr };
  }
};

const exchange = async (subject: string, vendor = "relicario") =>
  service.call("POST", `/auth/token?app_vendor_id=${vendor}`, null, {
    body: { token: await service.issuer.accessToken(subject) },
  });

describe("account lock and unlock", () => {
  it("ends every session at once, lets no new one begin, and takes it back", async () => {
    const [one, two, elsewhere] = [
      await service.signIn("lock.me"),
      await service.signIn("lock.me"),
      await service.signIn("lock.me", "second"),
    ];
    expect(await run("lock", "relicario", "LOCK.me")).toEqual({
      code: 0,
      said: `relicario: ${one.userId} is locked; 2 sessions ended\n`,
    });
    for (const { token } of [one, two])
      expect(await service.call("GET", "/user/me", token)).toMatchObject({
        status: 401,
        body: { code: "token_invalid" },
      });
    expect(await exchange("lock.me")).toMatchObject({ status: 403, body: { code: "forbidden" } });
    expect((await service.call("GET", "/user/me", elsewhere.token)).status).toBe(200);
    expect((await exchange("lock.me", "second")).status).toBe(200);

    expect(await run("unlock", "relicario", one.userId)).toEqual({
      code: 0,
      said: `relicario: ${one.userId} is unlocked\n`,
    });
    expect((await service.call("GET", "/user/me", one.token)).status).toBe(401);
    expect((await exchange("lock.me")).status).toBe(200);
  });

  it("says in one line that nobody is called so, or what it wants to know", async () => {
    const person = await service.signIn("somebody");
    for (const words of [
      ["lock", "relicario", "nobody-here"],
      ["lock", "second", "somebody"],
      ["lock", "second", person.userId],
    ]) {
      expect(await run(...words)).toEqual({ code: 1, said: "account: no such account of this vendor\n" });
    }
    for (const words of [[], ["lock", "relicario"], ["remove", "relicario", "somebody"]]) {
      expect(await run(...words)).toMatchObject({
        code: 64,
        said: expect.stringMatching(/^usage: account lock\|unlock [^\n]+\n$/),
      });
    }
    expect((await service.call("GET", "/user/me", person.token)).status).toBe(200);
  });
});

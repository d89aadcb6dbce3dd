import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import { compileCacheEnvironment } from "@relicario/tooling/compile-cache";

import { startService, type TestService } from "../testing/service.ts";

const execFileAsync = promisify(execFile);

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** Runs the command as an operator does. @returns its exit code and output */
const runAccountCommand = async (...args: string[]): Promise<{ code: unknown; output: string }> => {
  const env = { PATH: process.env["PATH"], ...compileCacheEnvironment, DATABASE_URL: service.database.serviceUrl };
  try {
    const { stdout } = await execFileAsync(process.execPath, [join(__dirname, "account-command.ts"), ...args], { env });
    return { code: 0, output: stdout };
  } catch (error) {
    const { code, stderr } = error as { code: unknown; stderr: string };
    return { code, output: stderr };
  }
};

const exchangeToken = async (subject: string, vendorId = "relicario") =>
  service.call("POST", `/auth/token?app_vendor_id=${vendorId}`, null, {
    body: { token: await service.issuer.createAccessToken(subject) },
  });

describe("account lock and unlock", () => {
  it("revoke every session at once and refuse new sessions; unlock undoes the lock", async () => {
    const [firstPerson, secondPerson, otherVendorPerson] = [
      await service.signIn("lock.me"),
      await service.signIn("lock.me"),
      await service.signIn("lock.me", "second"),
    ];
    expect(await runAccountCommand("lock", "relicario", "LOCK.me")).toEqual({
      code: 0,
      output: `relicario: ${firstPerson.userId} is locked; 2 sessions ended\n`,
    });
    for (const { token } of [firstPerson, secondPerson])
      expect(await service.call("GET", "/user/me", token)).toMatchObject({
        status: 401,
        body: { code: "token_invalid" },
      });
    expect(await exchangeToken("lock.me")).toMatchObject({ status: 403, body: { code: "forbidden" } });
    expect((await service.call("GET", "/user/me", otherVendorPerson.token)).status).toBe(200);
    expect((await exchangeToken("lock.me", "second")).status).toBe(200);

    expect(await runAccountCommand("unlock", "relicario", firstPerson.userId)).toEqual({
      code: 0,
      output: `relicario: ${firstPerson.userId} is unlocked\n`,
    });
    expect((await service.call("GET", "/user/me", firstPerson.token)).status).toBe(401);
    expect((await exchangeToken("lock.me")).status).toBe(200);
  });

  it("reports an unknown account and wrong usage in one line", async () => {
    const person = await service.signIn("somebody");
    for (const args of [
      ["lock", "relicario", "nobody-here"],
      ["lock", "second", "somebody"],
      ["lock", "second", person.userId],
    ]) {
      expect(await runAccountCommand(...args)).toEqual({
        code: 1,
        output: "account: no such account of this vendor\n",
      });
    }
    for (const args of [[], ["lock", "relicario"], ["remove", "relicario", "somebody"]]) {
      expect(await runAccountCommand(...args)).toMatchObject({
        code: 64,
        output: expect.stringMatching(/^usage: account lock\|unlock [^\n]+\n$/),
      });
    }
    expect((await service.call("GET", "/user/me", person.token)).status).toBe(200);
  });
});

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import { compileCacheEnvironment } from "@relicario/tooling/compile-cache";
import { eq, sql } from "drizzle-orm";

import { accounts, shareReports } from "../db/schema.ts";
import { readMetric, metricsToken } from "../testing/metrics.ts";
import { readMails } from "../testing/outbox.ts";
import { startService, type TestResponse, type TestService } from "../testing/service.ts";
import { createPublicId, buildOpening, createSharedSecret, listShares } from "../testing/sharing.ts";
import { checkStoredContents } from "../testing/storage.ts";

const execFileAsync = promisify(execFile);
const operatorEmail = "operator@example.org";

let service: TestService;
let clock = new Date();
beforeAll(async () => {
  service = await startService(
    { OPERATOR_EMAIL: operatorEmail, METRICS_TOKEN: metricsToken, RATE_LIMITS: JSON.stringify({ report: 1_000 }) },
    () => clock,
  );
});
afterAll(() => service.stop());

const sendReport = (shareId: string, overrides: object = {}): Promise<TestResponse> =>
  service.call("POST", "/reports/share", null, { body: { share_id: shareId, reason: "phishing", ...overrides } });
const readReports = (shareId: string) =>
  service.app.services.db
    .select()
    .from(shareReports)
    .where(sql`${shareReports.shareId} = ${shareId}`);

/** Runs the command as an operator does. @returns its exit code and output */
const runShareCommand = async (...commandArguments: string[]): Promise<{ code: unknown; output: string }> => {
  const env = { PATH: process.env["PATH"], ...compileCacheEnvironment, DATABASE_URL: service.database.serviceUrl };
  try {
    return {
      code: 0,
      output: (
        await execFileAsync(process.execPath, [join(__dirname, "../shares/share-command.ts"), ...commandArguments], {
          env,
        })
      ).stdout,
    };
  } catch (error) {
    const { code, stderr } = error as { code: unknown; stderr: string };
    return { code, output: stderr };
  }
};

describe("POST /reports/share", () => {
  it("stores and counts reports, and mails the operator once a day per share; an unknown id gets the same response", async () => {
    const { share } = await createSharedSecret(service);
    const unknownShareId = createPublicId();
    const countBefore = await readMetric(service, "relicario_share_reports_total", 'reason="phishing"');
    expect((await sendReport(share.shareId, { message: "it asks for my bank" })).status).toBe(204);
    expect((await sendReport(share.shareId)).status).toBe(204);
    expect((await sendReport(unknownShareId)).status).toBe(204);
    expect(await readReports(share.shareId)).toMatchObject([
      { reason: "phishing", message: "it asks for my bank" },
      { reason: "phishing", message: null },
    ]);
    expect(await readReports(unknownShareId)).toEqual([]);
    expect(await readMetric(service, "relicario_share_reports_total", 'reason="phishing"')).toBe(countBefore + 2);
    const mails = (await readMails(service)).filter(({ to }) => to === operatorEmail);
    expect(mails).toHaveLength(1);
    expect(mails[0]).toMatchObject({
      subject: "Relicario: a shared secret was reported",
      text: expect.stringContaining(`share end ${share.shareId}`),
    });
    expect(mails[0]?.text).not.toContain("my bank");
  });

  it("stores twenty a day per share, and refuses invalid reports", async () => {
    const { share } = await createSharedSecret(service);
    for (let count = 0; count < 25; count++) expect((await sendReport(share.shareId)).status).toBe(204);
    expect(await readReports(share.shareId)).toHaveLength(20);
    for (const invalidBody of [{ reason: "because" }, { message: "x".repeat(1_001) }, { share_id: "short" }])
      expect((await sendReport(share.shareId, invalidBody)).status).toBe(422);
  });

  it("deletes reports after 90 days", async () => {
    const { share } = await createSharedSecret(service);
    await sendReport(share.shareId);
    const now = clock;
    try {
      for (const [days, expectedCount] of [
        [89, 1],
        [2, 0],
      ] as const) {
        clock = new Date(clock.getTime() + days * 86_400_000);
        await service.app.sweep();
        expect(await readReports(share.shareId)).toHaveLength(expectedCount);
      }
    } finally {
      clock = now;
    }
  });

  it("sends no mail without an operator's address", async () => {
    const serviceWithoutOperator = await startService({ OPERATOR_EMAIL: "" });
    try {
      const { share } = await createSharedSecret(serviceWithoutOperator);
      expect(
        (
          await serviceWithoutOperator.call("POST", "/reports/share", null, {
            body: { share_id: share.shareId, reason: "other" },
          })
        ).status,
      ).toBe(204);
      expect(await readMails(serviceWithoutOperator)).toEqual([]);
    } finally {
      await serviceWithoutOperator.stop();
    }
  });
});

describe("share end", () => {
  it("ends a share at once; the owner sees the share as revoked, and the commands show and reported print the share", async () => {
    const { share, owner, secret } = await createSharedSecret(service);
    const address = `${owner.userId}@example.org`;
    await readMails(service); // what the new account's changes queued has no address
    await service.app.services.db
      .update(accounts)
      .set({ contactEmail: address, contactEmailVerified: true, language: "es" })
      .where(eq(accounts.id, owner.userId));
    await sendReport(share.shareId, { reason: "illegal", message: "two\nlines" });
    expect((await runShareCommand("reported")).output).toContain(`${share.shareId} 1 `);
    const showResult = await runShareCommand("show", share.shareId);
    expect(showResult.output).toMatch(
      new RegExp(`^${share.shareId}: of account ${owner.userId}, live, opened 0 times\n.* illegal "two.nlines"\n$`),
    );
    expect(await runShareCommand("end", share.shareId)).toMatchObject({
      code: 0,
      output: expect.stringContaining(", revoked, "),
    });
    expect(await service.call("POST", "/share/get-public-secret", null, { body: buildOpening(share) })).toMatchObject({
      status: 404,
      body: { code: "share_unavailable" },
    });
    expect(await listShares(service, owner, secret.id)).toMatchObject([{ end: "revoked" }]);
    await checkStoredContents(service, owner);
    expect((await runShareCommand("end", share.shareId)).code).toBe(0);
    clock = new Date(); // the command uses the real clock
    const mails = (await readMails(service)).filter(({ to }) => to === address);
    expect(mails).toMatchObject([{ subject: "Relicario ha dejado de compartir uno de tus secretos" }]);
    expect(mails[0]?.text).not.toContain(share.shareId);
  });

  it("reports an unknown share and wrong usage in one line", async () => {
    expect(await runShareCommand("end", createPublicId())).toEqual({ code: 1, output: "share: no such share\n" });
    for (const commandArguments of [["end"], ["remove", createPublicId()]])
      expect(await runShareCommand(...commandArguments)).toMatchObject({
        code: 64,
        output: expect.stringMatching(/^usage: share end\|show [^\n]+\n$/),
      });
  });
});

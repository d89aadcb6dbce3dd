/** Tests that the limits of the token exchange let many people behind few IP addresses sign in. */
import { generateArrivals } from "@relicario/tooling/testing/office";

import { createRateLimiter, rateLimitRules } from "../http/rate-limits.ts";
import { startService, type TestService } from "../testing/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService({ RATE_LIMITS: JSON.stringify({ sign_in: 500, sign_in_all: 500, exchange: 5 }) });
});
afterAll(() => service.stop());

const exchange = async (token: string): Promise<number> =>
  (await service.call("POST", "/auth/token?app_vendor_id=relicario", null, { body: { token } })).status;

describe("an office behind one address", () => {
  it("can renew 500 sessions beyond its limit of sign-ins, also while someone there guesses tokens", async () => {
    const people = Array.from({ length: 500 }, (_, index) => `employee-${String(index)}`);
    const exchangeAll = async (): Promise<number[]> => {
      const statuses: number[] = [];
      for (const subject of people)
        statuses.push(await exchange(await service.issuer.createAccessToken(subject, { sid: `sid-${subject}` })));
      return [...new Set(statuses)];
    };
    expect(await exchangeAll()).toEqual([200]);
    while ((await exchange("noise")) !== 429);
    expect(await exchangeAll()).toEqual([200]);
    const newcomer = await service.issuer.createAccessToken("newcomer", { sid: "new" });
    expect([200, 429]).toContain(await exchange(newcomer)); // a window may have ended meanwhile
  }, 240_000);
});

describe("50,000 people who sign in within half an hour", () => {
  it.each([
    [4, {}],
    [2, {}],
    [1, { sign_in: 5_000 }],
  ])(
    "can all sign in from %i IP addresses, with the limits %j",
    async (addressCount, limits) => {
      let seconds = 1_700_000_000 - (1_700_000_000 % 60);
      const startSeconds = seconds + addressCount * 86_400;
      const limiter = createRateLimiter(
        service.app.services.db,
        Buffer.alloc(32, addressCount),
        () => new Date(seconds * 1_000),
        limits,
      );
      let refusedCount = 0;
      for (const [index, arrival] of generateArrivals(50_000, 1_800).entries()) {
        seconds = startSeconds + Math.floor(arrival);
        const address = `203.0.113.${String(index % addressCount)}`;
        const isAdmitted =
          (await limiter.tryConsume(rateLimitRules.signIn, { address })) &&
          (await limiter.tryConsume(rateLimitRules.signInGlobal, {}));
        if (!isAdmitted) refusedCount += 1;
      }
      expect(refusedCount).toBe(0);
    },
    240_000,
  );
});

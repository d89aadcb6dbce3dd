import { decodeJwt } from "jose";

import { metricsToken } from "../testing/metrics.ts";
import { startService } from "../testing/service.ts";

const secondsFromNow = (seconds: number): number => Math.floor(Date.now() / 1_000) + seconds;

describe.each([300, -300])("with the provider's clock %i seconds off", (secondsAhead) => {
  it("checks the provider's tokens by the provider's clock, and reports the difference", async () => {
    const skewedService = await startService({ METRICS_TOKEN: metricsToken });
    const { issuer, call } = skewedService;
    issuer.setClock(secondsAhead);
    const exchangeToken = async (claims: Readonly<Record<string, unknown>> = {}) =>
      call("POST", "/auth/token?app_vendor_id=relicario", null, {
        body: { token: await issuer.createAccessToken("kim", claims) },
      });
    try {
      const providerTime = secondsFromNow(secondsAhead);
      const oldToken = { sid: "one", iat: providerTime - 200, auth_time: providerTime - 200, exp: providerTime + 100 };
      const signIn = await exchangeToken(oldToken);
      expect(signIn.status).toBe(200);
      const { auth_time } = decodeJwt(String(signIn.body["token"]));
      expect(auth_time).toBe(oldToken.auth_time);
      await call("DELETE", "/auth/token", String(signIn.body["token"]));
      expect((await exchangeToken(oldToken)).status).toBe(401);
      const nextSignIn = await exchangeToken({ sid: "one" }); // signed in again just now
      expect(nextSignIn.status).toBe(200);
      expect((await call("DELETE", "/user/me", String(nextSignIn.body["token"]))).status).toBe(204);
      const staleSignIn = await exchangeToken({ sid: "two", auth_time: providerTime - 301 });
      expect((await call("DELETE", "/user/me", String(staleSignIn.body["token"]))).body.code).toBe("login_required");
      expect((await exchangeToken({ iat: providerTime + 90 })).status).toBe(401);
      expect(await exchangeToken({ exp: providerTime - 10 })).toMatchObject({ body: { code: "token_expired" } });
      const { body } = await call("GET", "/readyz", null);
      const { identity_provider: seconds } = body["clock_skew_seconds"] as Record<string, number>;
      expect(Math.abs((seconds ?? 0) - secondsAhead)).toBeLessThanOrEqual(1);
      expect((await call("GET", "/metrics", metricsToken)).text).toMatch(
        /relicario_clock_skew_seconds\{peer="identity_provider"\} -?(299|300|301)\n/,
      );
      expect(skewedService.readLog()).toContain("a clock differs from this machine's");
    } finally {
      await skewedService.stop();
    }
  });
});

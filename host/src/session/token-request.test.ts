import type { HttpClient } from "@relicario/shared/contract";
import { PortalError, type ErrorCode } from "@relicario/shared/errors";

import { createTokenRequester } from "./token-request.ts";

/** A service that refuses with these codes, one after the other, and then gives a token. */
function setUp(refusals: readonly ErrorCode[], chosen?: string) {
  const requests: unknown[][] = [];
  const remainingRefusals = [...refusals];
  const request: HttpClient["request"] = (_method, _path, schema, options) => {
    requests.push([options?.query?.["app_vendor_id"], options?.body]);
    const refusal = remainingRefusals.shift();
    return refusal === undefined
      ? Promise.resolve(schema.parse({ token: "session" }))
      : Promise.reject(new PortalError(refusal));
  };
  const stored = new Map(chosen === undefined ? [] : [["vendorId", chosen]]);
  const onVendorIgnored = jest.fn();
  const renewAccessToken = jest.fn(() => Promise.resolve("newer"));
  const tokenRequest = createTokenRequester({
    http: { request, stream: () => Promise.reject(new PortalError("unknown")) },
    storage: { getItem: (key) => stored.get(key) ?? null, removeItem: (key) => void stored.delete(key) },
    defaultVendorId: "relicario",
    onVendorIgnored,
    renewAccessToken,
  });
  return { call: tokenRequest, asked: requests, kept: stored, onVendorIgnored, renewAccessToken };
}

describe("createTokenRequest", () => {
  it("exchanges the access token in the name of the deployment's vendor", async () => {
    const { call, asked } = setUp([]);
    await expect(call.send("access")).resolves.toBe("session");
    expect(asked).toEqual([["relicario", { token: "access" }]]);
  });

  it("does so in the name of the vendor that a link named", async () => {
    const { call, asked } = setUp([], "acme");
    await call.send("access");
    expect(asked).toEqual([["acme", { token: "access" }]]);
    expect(call.getVendorId()).toBe("acme");
  });

  it("ignores a vendor that the service does not know, and says so", async () => {
    const { call, asked, kept, onVendorIgnored } = setUp(["vendor_unknown"], "nobody");
    await expect(call.send("access")).resolves.toBe("session");
    expect(asked.map(([vendor]) => vendor)).toEqual(["nobody", "relicario"]);
    expect(kept.size).toBe(0);
    expect(onVendorIgnored).toHaveBeenCalledTimes(1);
  });

  it("does not ask twice when the deployment's own vendor is unknown", async () => {
    const { call, asked } = setUp(["vendor_unknown"]);
    await expect(call.send("access")).rejects.toMatchObject({ code: "vendor_unknown" });
    expect(asked).toHaveLength(1);
  });

  it.each(["token_expired", "token_invalid", "unauthorized"] as const)(
    "renews the access token once after %s",
    async (code) => {
      const { call, asked, renewAccessToken } = setUp([code]);
      await expect(call.send("access")).resolves.toBe("session");
      expect(asked.map(([, body]) => body)).toEqual([{ token: "access" }, { token: "newer" }]);
      expect(renewAccessToken).toHaveBeenCalledTimes(1);
    },
  );

  it("leaves other refusals to the exchange", async () => {
    const { call, renewAccessToken } = setUp(["service_unavailable"]);
    await expect(call.send("access")).rejects.toMatchObject({ code: "service_unavailable" });
    expect(renewAccessToken).not.toHaveBeenCalled();
  });
});

import type { HttpClient } from "@relicario/shared/contract";
import { PortalError, type ErrorCode } from "@relicario/shared/errors";

import { createTokenRequester } from "./token-requester.ts";

/** Sets up a service that refuses with these codes, one per call, and then issues a token. */
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
  const tokenRequester = createTokenRequester({
    publicHttp: { request, stream: () => Promise.reject(new PortalError("unknown")) },
    storage: { getItem: (key) => stored.get(key) ?? null, removeItem: (key) => void stored.delete(key) },
    defaultVendorId: "relicario",
    onVendorIgnored,
    renewAccessToken,
  });
  return { tokenRequester, requests, stored, onVendorIgnored, renewAccessToken };
}

describe("createTokenRequester", () => {
  it("exchanges the access token for the deployment's vendor", async () => {
    const { tokenRequester, requests } = setUp([]);
    await expect(tokenRequester.requestToken("access")).resolves.toBe("session");
    expect(requests).toEqual([["relicario", { token: "access" }]]);
  });

  it("exchanges the access token for the vendor that a link chose", async () => {
    const { tokenRequester, requests } = setUp([], "acme");
    await tokenRequester.requestToken("access");
    expect(requests).toEqual([["acme", { token: "access" }]]);
    expect(tokenRequester.getVendorId()).toBe("acme");
  });

  it("drops a vendor that the service does not know, and reports it", async () => {
    const { tokenRequester, requests, stored, onVendorIgnored } = setUp(["vendor_unknown"], "nobody");
    await expect(tokenRequester.requestToken("access")).resolves.toBe("session");
    expect(requests.map(([vendor]) => vendor)).toEqual(["nobody", "relicario"]);
    expect(stored.size).toBe(0);
    expect(onVendorIgnored).toHaveBeenCalledTimes(1);
  });

  it("does not retry when the deployment's own vendor is unknown", async () => {
    const { tokenRequester, requests } = setUp(["vendor_unknown"]);
    await expect(tokenRequester.requestToken("access")).rejects.toMatchObject({ code: "vendor_unknown" });
    expect(requests).toHaveLength(1);
  });

  it.each(["token_expired", "token_invalid", "unauthorized"] as const)(
    "renews the access token once after %s",
    async (code) => {
      const { tokenRequester, requests, renewAccessToken } = setUp([code]);
      await expect(tokenRequester.requestToken("access")).resolves.toBe("session");
      expect(requests.map(([, body]) => body)).toEqual([{ token: "access" }, { token: "newer" }]);
      expect(renewAccessToken).toHaveBeenCalledTimes(1);
    },
  );

  it("passes other errors of the service to the caller", async () => {
    const { tokenRequester, renewAccessToken } = setUp(["service_unavailable"]);
    await expect(tokenRequester.requestToken("access")).rejects.toMatchObject({ code: "service_unavailable" });
    expect(renewAccessToken).not.toHaveBeenCalled();
  });
});

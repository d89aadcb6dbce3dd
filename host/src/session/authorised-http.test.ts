import { isRetryableRead } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { createAuthorisedHttpClient } from "./authorised-http.ts";
import type { SessionToken } from "./token-exchange.ts";

const Answer = z.object({ ok: z.boolean() });

function setUp(answers: readonly (() => Response)[]) {
  const sentTokens: (string | null)[] = [];
  const queue = [...answers];
  let token = "t1";
  const renew = jest.fn((): Promise<SessionToken> => {
    token = "t2";
    return Promise.resolve({ token, claims: { sub: "", iss: "", aud: "", vid: "", sid: "", iat: 0, exp: 0 } });
  });
  const http = createAuthorisedHttpClient(
    {
      baseUrl: "http://localhost:3000/api",
      fetch: (_input, init) => {
        sentTokens.push(new Headers(init?.headers).get("authorization"));
        return Promise.resolve(queue.shift()?.() ?? Response.json({ ok: true }));
      },
    },
    { getToken: () => Promise.resolve(token), renew },
  );
  return { http, sent: sentTokens, renew };
}

const createProblem = (status: number, code: string) => () =>
  Response.json({ title: "Unauthorized", status, code }, { status });

describe("createAuthorisedHttp", () => {
  it("sends the session token", async () => {
    const { http, sent, renew } = setUp([]);
    await http.request("GET", "/user/me", Answer);
    expect(sent).toEqual(["Bearer t1"]);
    expect(renew).not.toHaveBeenCalled();
  });

  it("renews once and repeats once when the token is called expired", async () => {
    const { http, sent } = setUp([createProblem(401, "token_expired")]);
    await expect(http.request("POST", "/secrets/store", Answer, { body: {} })).resolves.toEqual({ ok: true });
    expect(sent).toEqual(["Bearer t1", "Bearer t2"]);
  });

  it("makes no loop of it", async () => {
    const { http, sent, renew } = setUp([createProblem(401, "token_expired"), createProblem(401, "token_expired")]);
    await expect(http.request("POST", "/secrets/store", Answer, { body: {} })).rejects.toMatchObject({
      code: "token_expired",
    });
    expect(sent).toHaveLength(2);
    expect(renew).toHaveBeenCalledTimes(1);
  });

  it("says that the token expired when it cannot be renewed", async () => {
    const { http, renew } = setUp([createProblem(401, "token_expired")]);
    renew.mockRejectedValueOnce(new PortalError("login_required"));
    await expect(http.request("GET", "/user/me", Answer)).rejects.toMatchObject({ code: "token_expired" });
  });

  it("says that the device is offline when that is why", async () => {
    const { http, renew } = setUp([createProblem(401, "token_expired")]);
    renew.mockRejectedValueOnce(new PortalError("offline"));
    await expect(http.request("GET", "/user/me", Answer)).rejects.toMatchObject({ code: "offline" });
  });

  it("asks for a token once where there is none, however often the call itself would be tried", async () => {
    const token = jest.fn(() =>
      Promise.reject(new PortalError("service_unavailable", { cause: new TypeError("Failed to fetch") })),
    );
    const fetch = jest.fn();
    const http = createAuthorisedHttpClient(
      { baseUrl: "http://localhost:3000/api", fetch },
      { getToken: token, renew: jest.fn() },
    );
    const error: unknown = await http.request("GET", "/user/me", Answer).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "service_unavailable" });
    expect(isRetryableRead(error)).toBe(false); // nor is a query repeated for it
    expect(token).toHaveBeenCalledTimes(1);
    expect(fetch).not.toHaveBeenCalled();
  });

  it("leaves other refusals alone", async () => {
    const { http, renew } = setUp([createProblem(403, "forbidden")]);
    await expect(http.request("GET", "/user/me", Answer)).rejects.toMatchObject({ code: "forbidden" });
    expect(renew).not.toHaveBeenCalled();
  });
});

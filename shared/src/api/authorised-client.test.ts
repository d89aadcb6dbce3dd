import { z } from "zod";

import { PortalError } from "../errors/index.ts";
import { createAuthorisedHttpClient } from "./authorised-client.ts";
import { isRetryableRead } from "./client.ts";

const ResponseBody = z.object({ ok: z.boolean() });

function setUp(responses: readonly (() => Response)[]) {
  const sentTokens: (string | null)[] = [];
  const queue = [...responses];
  let token = "t1";
  const renew = jest.fn((): Promise<string> => {
    token = "t2";
    return Promise.resolve(token);
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
  return { http, sentTokens, renew };
}

const createProblem = (status: number, code: string) => () =>
  Response.json({ title: "Unauthorized", status, code }, { status });

describe("createAuthorisedHttpClient", () => {
  it("sends the session token", async () => {
    const { http, sentTokens, renew } = setUp([]);
    await http.request("GET", "/user/me", ResponseBody);
    expect(sentTokens).toEqual(["Bearer t1"]);
    expect(renew).not.toHaveBeenCalled();
  });

  it("renews the token and repeats the call once when the service says that the token has expired", async () => {
    const { http, sentTokens } = setUp([createProblem(401, "token_expired")]);
    await expect(http.request("POST", "/secrets/store", ResponseBody, { body: {} })).resolves.toEqual({ ok: true });
    expect(sentTokens).toEqual(["Bearer t1", "Bearer t2"]);
  });

  it("does not renew the token a second time", async () => {
    const { http, sentTokens, renew } = setUp([
      createProblem(401, "token_expired"),
      createProblem(401, "token_expired"),
    ]);
    await expect(http.request("POST", "/secrets/store", ResponseBody, { body: {} })).rejects.toMatchObject({
      code: "token_expired",
    });
    expect(sentTokens).toHaveLength(2);
    expect(renew).toHaveBeenCalledTimes(1);
  });

  it("rejects with token_expired when the renewal fails", async () => {
    const { http, renew } = setUp([createProblem(401, "token_expired")]);
    renew.mockRejectedValueOnce(new PortalError("login_required"));
    await expect(http.request("GET", "/user/me", ResponseBody)).rejects.toMatchObject({ code: "token_expired" });
  });

  it("rejects with offline when the renewal fails for that reason", async () => {
    const { http, renew } = setUp([createProblem(401, "token_expired")]);
    renew.mockRejectedValueOnce(new PortalError("offline"));
    await expect(http.request("GET", "/user/me", ResponseBody)).rejects.toMatchObject({ code: "offline" });
  });

  it("requests a token once when none can be obtained, even if the call is retried", async () => {
    const getToken = jest.fn(() =>
      Promise.reject(new PortalError("service_unavailable", { cause: new TypeError("Failed to fetch") })),
    );
    const fetch = jest.fn();
    const http = createAuthorisedHttpClient(
      { baseUrl: "http://localhost:3000/api", fetch },
      { getToken, renew: jest.fn() },
    );
    const error: unknown = await http.request("GET", "/user/me", ResponseBody).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "service_unavailable" });
    expect(isRetryableRead(error)).toBe(false); // queries are not retried for it either
    expect(getToken).toHaveBeenCalledTimes(1);
    expect(fetch).not.toHaveBeenCalled();
  });

  it("passes other errors of the service to the caller", async () => {
    const { http, renew } = setUp([createProblem(403, "forbidden")]);
    await expect(http.request("GET", "/user/me", ResponseBody)).rejects.toMatchObject({ code: "forbidden" });
    expect(renew).not.toHaveBeenCalled();
  });
});

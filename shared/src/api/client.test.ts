import { z } from "zod";

import { HttpError, isPortalError, PortalError } from "../errors/index.ts";
import { createHttpClient, isRetryableRead, type HttpClientSettings } from "./client.ts";

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask", "setImmediate"] });
});
afterEach(() => {
  jest.useRealTimers();
});

type FakeResponse = () => Response | Promise<Response>;

function setup(responses: readonly FakeResponse[], overrides: Partial<HttpClientSettings> = {}) {
  const requests: { url: string; init: RequestInit }[] = [];
  /** Time of each call, in milliseconds after the first. */
  const callTimes: number[] = [];
  const start = Date.now();
  const http = createHttpClient({
    baseUrl: "https://portal.example/api",
    getToken: () => Promise.resolve("the-token"),
    fetch: (url, init) => {
      callTimes.push(Date.now() - start);
      requests.push({ url: url instanceof Request ? url.url : url.toString(), init: init ?? {} });
      const response = responses[Math.min(requests.length, responses.length) - 1];
      if (response === undefined) throw new Error("no response left");
      return Promise.resolve().then(response);
    },
    ...overrides,
  });
  return { http, requests, callTimes };
}

const respondJson =
  (value: unknown, status = 200, headers: Record<string, string> = {}): FakeResponse =>
  () =>
    new Response(JSON.stringify(value), { status, headers });
const failNetwork: FakeResponse = () => {
  throw new TypeError("fetch failed");
};
const NamedThing = z.strictObject({ name: z.string() });

const catchPortalError = async (call: Promise<unknown>): Promise<PortalError> => {
  const error: unknown = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!isPortalError(error)) throw new Error("expected a PortalError", { cause: error });
  return error;
};

describe("createHttpClient", () => {
  it("reports how many password attempts are left", async () => {
    const { http } = setup([
      respondJson({ title: "Forbidden", status: 403, code: "wrong_password", tries_left: 9 }, 403),
    ]);
    const error = await catchPortalError(http.request("POST", "/share/get-secret", NamedThing));
    expect([error.code, error.details]).toEqual(["wrong_password", { tries_left: 9 }]);
  });

  it("sends the token, the query and the body, and parses the response", async () => {
    const { http, requests } = setup([respondJson({ name: "a" })]);
    const response = await http.request("POST", "/things", NamedThing, {
      body: { b: 1 },
      query: { page: 2, none: undefined },
    });
    expect(response).toEqual({ name: "a" });
    expect(requests[0]?.url).toBe("https://portal.example/api/things?page=2");
    expect(requests[0]?.init.body).toBe('{"b":1}');
    expect(new Headers(requests[0]?.init.headers).get("authorization")).toBe("Bearer the-token");
    expect(requests[0]?.init.credentials).toBe("omit");
  });

  it("sends JSON and accepts JSON", async () => {
    const { http, requests } = setup([respondJson({ name: "a" })]);
    await http.request("POST", "/things", NamedThing, { body: { b: [1, "ü"] } });
    await http.request("GET", "/things", NamedThing);
    const [post, get] = requests.map(({ init }) => new Headers(init.headers));
    expect([post?.get("content-type"), post?.get("accept")]).toEqual(["application/json", "application/json"]);
    expect([get?.get("content-type"), get?.get("accept")]).toEqual([null, "application/json"]);
    expect(requests.map(({ init }) => init.body)).toEqual(['{"b":[1,"ü"]}', undefined]);
  });

  it.each([
    [true, "include"],
    [false, "omit"],
  ] as const)("sends cookies only with the setting credentials: %s", async (credentials, expected) => {
    const { http, requests } = setup([respondJson({ name: "a" })], { credentials });
    await http.request("GET", "/things", NamedThing);
    expect(requests[0]?.init.credentials).toBe(expected);
  });

  it("sends the portal's current language with each call", async () => {
    let language = "en";
    const { http, requests } = setup([respondJson({ name: "a" })], { getLanguage: () => language });
    await http.request("GET", "/things", NamedThing);
    language = "es";
    await http.request("GET", "/things", NamedThing);
    expect(requests.map(({ init }) => new Headers(init.headers).get("accept-language"))).toEqual(["en", "es"]);
  });

  it("sends no authorization header without a token", async () => {
    const { http, requests } = setup([respondJson({ name: "a" })], { getToken: () => Promise.resolve(null) });
    await http.request("GET", "/things", NamedThing);
    expect(new Headers(requests[0]?.init.headers).has("authorization")).toBe(false);
  });

  it("retries a GET three times after network errors and 5xx, doubling the delay", async () => {
    const { http, requests, callTimes } = setup([
      failNetwork,
      respondJson({}, 503),
      respondJson({}, 500),
      respondJson({ name: "late" }),
    ]);
    const response = http.request("GET", "/things", NamedThing);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(await response).toEqual({ name: "late" });
    expect(requests).toHaveLength(4);
    expect(callTimes).toEqual([0, 350, 350 + 700, 350 + 700 + 1400]);
  });

  it("rejects with service_unavailable after the fourth attempt", async () => {
    const { http, requests } = setup([failNetwork]);
    const failure = catchPortalError(http.request("GET", "/things", NamedThing));
    await jest.advanceTimersByTimeAsync(60_000);
    expect((await failure).code).toBe("service_unavailable");
    expect(requests).toHaveLength(4);
  });

  it("rejects with cancelled when its signal aborts during a retry delay", async () => {
    const controller = new AbortController();
    const { http, requests } = setup([failNetwork]);
    const failure = catchPortalError(http.request("GET", "/things", NamedThing, { signal: controller.signal }));
    await jest.advanceTimersByTimeAsync(100);
    controller.abort();
    expect((await failure).code).toBe("cancelled");
    expect(requests).toHaveLength(1);
  });

  it("makes each call once with retries: 0", async () => {
    const { http, requests } = setup([respondJson({}, 503)], { retries: 0 });
    await catchPortalError(http.request("GET", "/things", NamedThing));
    expect(requests).toHaveLength(1);
  });

  it.each(["POST", "PUT", "PATCH", "DELETE"] as const)("never retries a %s", async (method) => {
    const { http, requests } = setup([failNetwork]);
    await catchPortalError(http.request(method, "/things", NamedThing));
    expect(requests).toHaveLength(1);
  });

  it.each([400, 401, 403, 404, 409, 413, 415, 422, 429])("never retries a GET after status %d", async (status) => {
    const { http, requests } = setup([respondJson({}, status)]);
    await catchPortalError(http.request("GET", "/things", NamedThing));
    expect(requests).toHaveLength(1);
  });

  it.each([
    [400, "bad_request", "Bad Request"],
    [401, "unauthorized", "Unauthorized"],
    [403, "forbidden", "Forbidden"],
    [404, "not_found", "Not found"],
    [409, "conflict", "Conflict"],
    [422, "validation_error", "Validation Error"],
    [429, "too_many_requests", "Too Many Requests"],
    [402, "forbidden", "Payment Required"],
    [410, "not_found", "Gone"],
    [500, "internal_error", "Internal Server Error"],
    [503, "service_unavailable", "Service Unavailable"],
  ])("maps %d to %s, named %s", async (status, code, title) => {
    const { http } = setup([respondJson({}, status)]);
    const error = await catchPortalError(http.request("POST", "/things", NamedThing));
    expect(error.code).toBe(code);
    expect(error.cause).toBeInstanceOf(HttpError);
    expect((error.cause as HttpError).statusText).toBe(title);
  });

  it.each([
    [418, "I'm a teapot", "unknown"],
    [599, "Network Connect Timeout", "service_unavailable"],
  ])("rejects with a generic error with status, status text and body for %d", async (status, statusText, code) => {
    const { http } = setup([() => new Response("<h1>no</h1>", { status, statusText })]);
    const error = await catchPortalError(http.request("POST", "/things", NamedThing));
    expect(error).toMatchObject({ code, cause: { status, statusText, body: "<h1>no</h1>", problem: null } });
  });

  it("takes a known code from the problem document, else the code of the status", async () => {
    const known = setup([
      respondJson({ title: "x", status: 409, code: "state_conflict", keyring: { state_rev: 3 } }, 409),
    ]);
    const error = await catchPortalError(known.http.request("PUT", "/user/keyring", NamedThing));
    expect(error.code).toBe("state_conflict");
    expect((error.cause as HttpError).problem?.["keyring"]).toEqual({ state_rev: 3 });
    const unknown = setup([respondJson({ title: "x", status: 409, code: "made_up" }, 409)]);
    expect((await catchPortalError(unknown.http.request("PUT", "/user/keyring", NamedThing))).code).toBe("conflict");
  });

  it("passes the value of Retry-After in the error's details", async () => {
    const { http } = setup([respondJson({}, 429, { "retry-after": "17" })]);
    expect((await catchPortalError(http.request("POST", "/things", NamedThing))).details).toEqual({
      retry_after: "17",
    });
  });

  it.each([
    ["broken JSON", () => new Response("{")],
    ["a body of another shape", respondJson({ name: 1 })],
    ["an unknown member", respondJson({ name: "a", more: 1 })],
  ])("rejects with bad_answer for %s", async (_, answer) => {
    const { http } = setup([answer]);
    expect((await catchPortalError(http.request("POST", "/things", NamedThing))).code).toBe("bad_answer");
  });

  it("rejects with cancelled when its signal aborts", async () => {
    const controller = new AbortController();
    const { http } = setup([
      () => {
        controller.abort();
        throw new DOMException("aborted", "AbortError");
      },
    ]);
    expect(
      (await catchPortalError(http.request("GET", "/things", NamedThing, { signal: controller.signal }))).code,
    ).toBe("cancelled");
  });

  it("creates errors that show neither query nor body when logged", async () => {
    const { http } = setup([respondJson({ title: "t", status: 400, code: "bad_request", secret: "SENTINEL" }, 400)]);
    const error = await catchPortalError(
      http.request("POST", "/things?token=SENTINEL", NamedThing, { body: { a: "SENTINEL" } }),
    );
    const cause = error.cause as HttpError;
    expect(JSON.stringify([error, error.message, cause, cause.message, Object.entries(cause)])).not.toContain(
      "SENTINEL",
    );
  });
});

describe("isRetryableRead", () => {
  it.each<[string, FakeResponse, boolean]>([
    ["no network", failNetwork, true],
    ["503", respondJson({}, 503), true],
    ["500", respondJson({}, 500), true],
    ["404", respondJson({}, 404), false],
    ["429", respondJson({}, 429), false],
    ["408", respondJson({}, 408), false],
    ["an invalid response", respondJson({}), false],
  ])("%s: %s", async (_name, answer, expected) => {
    const { http } = setup([answer], { retries: 0 });
    expect(isRetryableRead(await catchPortalError(http.request("GET", "/things", NamedThing)))).toBe(expected);
  });

  it.each<[string, unknown]>([
    ["a device without a network", new PortalError("offline", { cause: new TypeError("fetch failed") })],
    ["an error of a worker, which has no cause", new PortalError("service_unavailable")],
    [
      "an error of another call, whose cause is a PortalError",
      new PortalError("service_unavailable", {
        cause: new PortalError("service_unavailable", { cause: new TypeError("fetch failed") }),
      }),
    ],
    ["a programming error", new TypeError("x is not a function")],
  ])("returns false for %s", (_name, error) => {
    expect(isRetryableRead(error)).toBe(false);
  });
});

describe("createHttpClient with forms and streams", () => {
  const bytes = Uint8Array.from({ length: 10 }, (_, index) => index);

  it("sends a FormData unchanged, without setting a content type", async () => {
    const { http, requests } = setup([respondJson({ name: "a" })]);
    const form = new FormData();
    form.set("part", "1");
    await http.request("POST", "/parts", NamedThing, { body: form });
    expect(requests[0]?.init.body).toBe(form);
    expect(new Headers(requests[0]?.init.headers).has("content-type")).toBe(false);
  });

  it("streams a range with its offset and the total size", async () => {
    const { http } = setup([
      () => new Response(bytes.slice(4, 8), { status: 206, headers: { "content-range": "bytes 4-7/10" } }),
    ]);
    const { totalSize, offset, body } = await http.stream("POST", "/content", { headers: { range: "bytes=4-7" } });
    expect({ totalSize, offset }).toEqual({ totalSize: 10, offset: 4 });
    expect(new Uint8Array(await new Response(body).arrayBuffer())).toEqual(bytes.slice(4, 8));
  });

  it("streams a whole response with its size", async () => {
    const { http } = setup([() => new Response(bytes, { headers: { "content-length": "10" } })]);
    expect(await http.stream("POST", "/content")).toMatchObject({ totalSize: 10, offset: 0 });
  });

  it.each([
    ["no size", 200, {}],
    ["a range without content-range", 206, { "content-length": "10" }],
  ])("refuses to stream a response with %s", async (_, status, headers) => {
    const { http } = setup([() => new Response(bytes, { status, headers })]);
    expect((await catchPortalError(http.stream("POST", "/content"))).code).toBe("bad_answer");
  });

  it("reports a broken stream as service_unavailable", async () => {
    const broken = new ReadableStream<Uint8Array>({
      pull: () => {
        throw new TypeError("network error");
      },
    });
    const { http } = setup([() => new Response(broken, { headers: { "content-length": "10" } })]);
    const { body } = await http.stream("POST", "/content");
    expect((await catchPortalError(body.getReader().read())).code).toBe("service_unavailable");
  });
});

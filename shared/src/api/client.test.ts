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
  /** When each call was made, in milliseconds after the first. */
  const callTimes: number[] = [];
  const start = Date.now();
  const http = createHttpClient({
    baseUrl: "https://portal.example/api",
    getToken: () => Promise.resolve("the-token"),
    fetch: (url, init) => {
      callTimes.push(Date.now() - start);
      requests.push({ url: url instanceof Request ? url.url : url.toString(), init: init ?? {} });
      const response = responses[Math.min(requests.length, responses.length) - 1];
      if (response === undefined) throw new Error("no answer left");
      return Promise.resolve().then(response);
    },
    ...overrides,
  });
  return { http, sent: requests, times: callTimes };
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

describe("createHttp", () => {
  it("says how many tries a wrong password leaves", async () => {
    const { http } = setup([
      respondJson({ title: "Forbidden", status: 403, code: "wrong_password", tries_left: 9 }, 403),
    ]);
    const error = await catchPortalError(http.request("POST", "/share/get-secret", NamedThing));
    expect([error.code, error.details]).toEqual(["wrong_password", { tries_left: 9 }]);
  });

  it("sends the token, the query and the body, and parses the answer", async () => {
    const { http, sent } = setup([respondJson({ name: "a" })]);
    const answer = await http.request("POST", "/things", NamedThing, {
      body: { b: 1 },
      query: { page: 2, none: undefined },
    });
    expect(answer).toEqual({ name: "a" });
    expect(sent[0]?.url).toBe("https://portal.example/api/things?page=2");
    expect(sent[0]?.init.body).toBe('{"b":1}');
    expect(new Headers(sent[0]?.init.headers).get("authorization")).toBe("Bearer the-token");
    expect(sent[0]?.init.credentials).toBe("omit");
  });

  it("carries JSON, and asks for it", async () => {
    const { http, sent } = setup([respondJson({ name: "a" })]);
    await http.request("POST", "/things", NamedThing, { body: { b: [1, "ü"] } });
    await http.request("GET", "/things", NamedThing);
    const [post, get] = sent.map(({ init }) => new Headers(init.headers));
    expect([post?.get("content-type"), post?.get("accept")]).toEqual(["application/json", "application/json"]);
    expect([get?.get("content-type"), get?.get("accept")]).toEqual([null, "application/json"]);
    expect(sent.map(({ init }) => init.body)).toEqual(['{"b":[1,"ü"]}', undefined]);
  });

  it.each([
    [true, "include"],
    [false, "omit"],
  ] as const)("sends cookies along when told to: %s", async (credentials, expected) => {
    const { http, sent } = setup([respondJson({ name: "a" })], { credentials });
    await http.request("GET", "/things", NamedThing);
    expect(sent[0]?.init.credentials).toBe(expected);
  });

  it("says in which language the person reads, as it is at each call", async () => {
    let language = "en";
    const { http, sent } = setup([respondJson({ name: "a" })], { getLanguage: () => language });
    await http.request("GET", "/things", NamedThing);
    language = "es";
    await http.request("GET", "/things", NamedThing);
    expect(sent.map(({ init }) => new Headers(init.headers).get("accept-language"))).toEqual(["en", "es"]);
  });

  it("sends no authorization when there is no token", async () => {
    const { http, sent } = setup([respondJson({ name: "a" })], { getToken: () => Promise.resolve(null) });
    await http.request("GET", "/things", NamedThing);
    expect(new Headers(sent[0]?.init.headers).has("authorization")).toBe(false);
  });

  it("tries a GET three times more on network errors and 5xx, waiting twice as long each time", async () => {
    const { http, sent, times } = setup([
      failNetwork,
      respondJson({}, 503),
      respondJson({}, 500),
      respondJson({ name: "late" }),
    ]);
    const answer = http.request("GET", "/things", NamedThing);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(await answer).toEqual({ name: "late" });
    expect(sent).toHaveLength(4);
    expect(times).toEqual([0, 350, 350 + 700, 350 + 700 + 1400]);
  });

  it("gives up after the fourth failure and says that the service does not answer", async () => {
    const { http, sent } = setup([failNetwork]);
    const failure = catchPortalError(http.request("GET", "/things", NamedThing));
    await jest.advanceTimersByTimeAsync(60_000);
    expect((await failure).code).toBe("service_unavailable");
    expect(sent).toHaveLength(4);
  });

  it("is cancelled by its signal while it waits to try again", async () => {
    const controller = new AbortController();
    const { http, sent } = setup([failNetwork]);
    const failure = catchPortalError(http.request("GET", "/things", NamedThing, { signal: controller.signal }));
    await jest.advanceTimersByTimeAsync(100);
    controller.abort();
    expect((await failure).code).toBe("cancelled");
    expect(sent).toHaveLength(1);
  });

  it("makes each call once for who tries again by themselves", async () => {
    const { http, sent } = setup([respondJson({}, 503)], { retries: 0 });
    await catchPortalError(http.request("GET", "/things", NamedThing));
    expect(sent).toHaveLength(1);
  });

  it.each(["POST", "PUT", "PATCH", "DELETE"] as const)("never repeats a %s", async (method) => {
    const { http, sent } = setup([failNetwork]);
    await catchPortalError(http.request(method, "/things", NamedThing));
    expect(sent).toHaveLength(1);
  });

  it.each([400, 401, 403, 404, 409, 413, 415, 422, 429])("never repeats a GET that was answered %d", async (status) => {
    const { http, sent } = setup([respondJson({}, status)]);
    await catchPortalError(http.request("GET", "/things", NamedThing));
    expect(sent).toHaveLength(1);
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
  ])("gives a generic error with status, status text and body for %d", async (status, statusText, code) => {
    const { http } = setup([() => new Response("<h1>no</h1>", { status, statusText })]);
    const error = await catchPortalError(http.request("POST", "/things", NamedThing));
    expect(error).toMatchObject({ code, cause: { status, statusText, body: "<h1>no</h1>", problem: null } });
  });

  it("takes the code of the problem document when it is one of ours, else the status'", async () => {
    const ours = setup([
      respondJson({ title: "x", status: 409, code: "state_conflict", keyring: { state_rev: 3 } }, 409),
    ]);
    const error = await catchPortalError(ours.http.request("PUT", "/user/keyring", NamedThing));
    expect(error.code).toBe("state_conflict");
    expect((error.cause as HttpError).problem?.["keyring"]).toEqual({ state_rev: 3 });
    const foreign = setup([respondJson({ title: "x", status: 409, code: "made_up" }, 409)]);
    expect((await catchPortalError(foreign.http.request("PUT", "/user/keyring", NamedThing))).code).toBe("conflict");
  });

  it("keeps what Retry-After said", async () => {
    const { http } = setup([respondJson({}, 429, { "retry-after": "17" })]);
    expect((await catchPortalError(http.request("POST", "/things", NamedThing))).details).toEqual({
      retry_after: "17",
    });
  });

  it.each([
    ["broken JSON", () => new Response("{")],
    ["another shape", respondJson({ name: 1 })],
    ["an unknown member", respondJson({ name: "a", more: 1 })],
  ])("calls %s a bad answer", async (_, answer) => {
    const { http } = setup([answer]);
    expect((await catchPortalError(http.request("POST", "/things", NamedThing))).code).toBe("bad_answer");
  });

  it("is cancelled by its signal", async () => {
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

  it("shows neither query nor body when the error is logged", async () => {
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

describe("readMayPass", () => {
  it.each<[string, FakeResponse, boolean]>([
    ["a service that is not there", failNetwork, true],
    ["a service that is busy", respondJson({}, 503), true],
    ["a service with a fault", respondJson({}, 500), true],
    ["what is not there", respondJson({}, 404), false],
    ["too many calls", respondJson({}, 429), false],
    ["an answer that came too late", respondJson({}, 408), false],
    ["an answer that nobody knows", respondJson({}), false],
  ])("%s: %s", async (_name, answer, expected) => {
    const { http } = setup([answer], { retries: 0 });
    expect(isRetryableRead(await catchPortalError(http.request("GET", "/things", NamedThing)))).toBe(expected);
  });

  it.each<[string, unknown]>([
    ["a device without a network", new PortalError("offline", { cause: new TypeError("fetch failed") })],
    ["what came from a worker, without a cause", new PortalError("service_unavailable")],
    [
      "what another call met",
      new PortalError("service_unavailable", {
        cause: new PortalError("service_unavailable", { cause: new TypeError("fetch failed") }),
      }),
    ],
    ["a fault of our own", new TypeError("x is not a function")],
  ])("is not for %s", (_name, error) => {
    expect(isRetryableRead(error)).toBe(false);
  });
});

describe("createHttp, forms and streams", () => {
  const bytes = Uint8Array.from({ length: 10 }, (_, index) => index);

  it("sends a FormData as it is, without a content type of ours", async () => {
    const { http, sent } = setup([respondJson({ name: "a" })]);
    const form = new FormData();
    form.set("part", "1");
    await http.request("POST", "/parts", NamedThing, { body: form });
    expect(sent[0]?.init.body).toBe(form);
    expect(new Headers(sent[0]?.init.headers).has("content-type")).toBe(false);
  });

  it("gives a range with its place in the whole", async () => {
    const { http } = setup([
      () => new Response(bytes.slice(4, 8), { status: 206, headers: { "content-range": "bytes 4-7/10" } }),
    ]);
    const { totalSize, offset, body } = await http.stream("POST", "/content", { headers: { range: "bytes=4-7" } });
    expect({ totalSize, offset }).toEqual({ totalSize: 10, offset: 4 });
    expect(new Uint8Array(await new Response(body).arrayBuffer())).toEqual(bytes.slice(4, 8));
  });

  it("gives a whole answer with its size", async () => {
    const { http } = setup([() => new Response(bytes, { headers: { "content-length": "10" } })]);
    expect(await http.stream("POST", "/content")).toMatchObject({ totalSize: 10, offset: 0 });
  });

  it.each([
    ["no size", 200, {}],
    ["a range that it does not name", 206, { "content-length": "10" }],
  ])("refuses an answer with %s", async (_, status, headers) => {
    const { http } = setup([() => new Response(bytes, { status, headers })]);
    expect((await catchPortalError(http.stream("POST", "/content"))).code).toBe("bad_answer");
  });

  it("says why a stream broke off", async () => {
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

import { createHttpClient, type HttpClientSettings } from "@relicario/shared/api";
import type { RemoteName } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import { MutationObserver, QueryObserver } from "@tanstack/react-query";
import { z } from "zod";

import type { VerifiedRemote } from "../deployment/verify.ts";
import { createFakeHost } from "../testing/fake-host.tsx";
import { createQueryClient, clearOpenedData } from "./query-client.ts";
import { createTextFetcher } from "./texts.ts";
import { createThemeStore, themeKey } from "./theme.ts";

function mockDeviceTheme(dark: boolean): void {
  window.matchMedia = (query: string) => ({ matches: dark && query.includes("dark") }) as MediaQueryList;
}

describe("createThemeStore", () => {
  beforeEach(() => {
    localStorage.clear();
  });

  it.each([
    ["the device's theme: dark", null, true, "dark"],
    ["the device's theme: light", null, false, "light"],
    ["the chosen theme: dark", "true", false, "dark"],
    ["the chosen theme: light", "false", true, "light"],
  ] as const)("is initially %s", (_name, stored, device, expected) => {
    if (stored !== null) localStorage.setItem(themeKey, stored);
    mockDeviceTheme(device);
    expect(createThemeStore(window).getState()).toBe(expected);
    expect(document.documentElement).toHaveAttribute("data-theme", expected);
  });

  it("applies, stores and announces a switch", () => {
    mockDeviceTheme(false);
    const theme = createThemeStore(window);
    const listener = jest.fn();
    const unsubscribe = theme.subscribe(listener);
    theme.toggle();
    expect(document.documentElement).toHaveAttribute("data-theme", "dark");
    expect(localStorage.getItem("isDarkMode")).toBe("true");
    unsubscribe();
    theme.toggle();
    expect(localStorage.getItem("isDarkMode")).toBe("false");
    expect(listener).toHaveBeenCalledTimes(1);
  });
});

describe("createQueryClient", () => {
  const { queries } = createQueryClient().getDefaultOptions();

  it("has the numbers of the specification", () => {
    expect(queries).toMatchObject({ staleTime: 300_000, refetchOnWindowFocus: false, refetchOnReconnect: false });
  });

  describe("given a service with the same response to every read", () => {
    beforeEach(() => {
      jest.useFakeTimers();
    });
    afterEach(() => {
      jest.useRealTimers();
    });

    function setUp(answer: () => Response) {
      const startedAt = Date.now();
      const requestTimes: number[] = [];
      const fetch = () => {
        requestTimes.push(Date.now() - startedAt);
        return Promise.resolve().then(answer);
      };
      const createReader = (overrides: Partial<HttpClientSettings>) => () =>
        createHttpClient({
          baseUrl: "http://localhost:3000/api",
          getToken: () => Promise.resolve(null),
          fetch,
          ...overrides,
        }).request("GET", "/user/me", z.unknown());
      return { askedAt: requestTimes, read: createReader };
    }

    const runFailingQuery = async (queryFn: () => Promise<unknown>): Promise<unknown> => {
      const query = new QueryObserver(createQueryClient(), { queryKey: ["x"], queryFn });
      query.subscribe(() => undefined);
      await jest.advanceTimersByTimeAsync(60_000);
      return query.getCurrentResult().error;
    };

    it.each<[string, () => Response, number]>([
      ["the service is down", () => new Response(null, { status: 503 }), 4],
      ["the service has a fault", () => new Response(null, { status: 500 }), 4],
      [
        "nothing answers",
        () => {
          throw new TypeError("Failed to fetch");
        },
        4,
      ],
      ["the resource does not exist", () => new Response(null, { status: 404 }), 1],
      ["no one is signed in", () => new Response(null, { status: 401 }), 1],
      ["the response is not from the service", () => new Response("<h1>", { status: 200 }), 1],
    ])("retries a query three times, only after errors that may be temporary: %s", async (_name, answer, attempts) => {
      const { askedAt, read } = setUp(answer);
      expect(await runFailingQuery(read({ retries: 0 }))).toBeInstanceOf(PortalError);
      expect(askedAt).toEqual([0, 350, 1050, 2450].slice(0, attempts));
    });

    it("makes four calls in total to a service that is down, even through the vault, which retries too", async () => {
      const { askedAt, read } = setUp(() => new Response(null, { status: 503 }));
      const fetchFromVault = () =>
        read({})().catch((error: unknown) => {
          const { code, details } = toPortalError(error);
          throw new PortalError(code, { details }); // the vault's worker passes no cause
        });
      expect(await runFailingQuery(fetchFromVault)).toMatchObject({ code: "service_unavailable" });
      expect(askedAt).toHaveLength(4);
    });
  });
});

describe("clearOpenedData", () => {
  it("drops all results, refetches active queries, and keeps pending mutations", async () => {
    const queryClient = createQueryClient();
    queryClient.setQueryData(["left"], "an opened title");
    let locked = false;
    const activeQuery = new QueryObserver(queryClient, {
      queryKey: ["shown"],
      queryFn: () => Promise.resolve(locked ? "locked" : "opened"),
    });
    const results: unknown[] = [];
    activeQuery.subscribe(({ data }) => results.push(data));
    const finishedMutation = new MutationObserver(queryClient, { mutationFn: (_text: string) => Promise.resolve() });
    await finishedMutation.mutate("a secret that was protected");
    let finish: (value: string) => void = () => undefined;
    const pendingMutation = new MutationObserver(queryClient, {
      mutationFn: () => new Promise<string>((resolve) => (finish = resolve)),
    });
    const pendingResult = pendingMutation.mutate();
    await Promise.resolve();

    locked = true;
    clearOpenedData(queryClient);
    expect(queryClient.getQueryData(["left"])).toBeUndefined();
    expect(queryClient.getQueryData(["shown"])).toBeUndefined();
    expect(
      queryClient
        .getMutationCache()
        .getAll()
        .map(({ state }) => state.status),
    ).toEqual(["pending"]);
    finish("done");
    await expect(pendingResult).resolves.toBe("done");
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(results.at(-1)).toBe("locked");
    queryClient.clear();
  });
});

describe("createTextFetcher", () => {
  const file = "locales/es/beta-home.json";
  const integrity = `sha384-${"t".repeat(64)}`;

  function setUp(answer: () => Response = () => Response.json({ title: "Hola" })) {
    const { verifiedDeployment } = createFakeHost().host;
    const secrets = verifiedDeployment.remotes.get("secrets");
    if (secrets?.status !== "verified") throw new Error("the fake host has it");
    const remotes = new Map(verifiedDeployment.remotes).set("secrets", {
      status: "verified",
      record: { ...secrets.record, files: { [file]: integrity } },
    });
    const fetch = jest.fn((_address: URL | RequestInfo, _init?: RequestInit) => Promise.resolve().then(answer));
    return {
      fetchTexts: createTextFetcher({ ...verifiedDeployment, remotes }, "https://portal.example", fetch),
      fetch,
    };
  }

  it("reads a remote's texts from its deployed release, with the signed hash", async () => {
    const { fetchTexts, fetch } = setUp();
    await expect(fetchTexts("es", "beta-home")).resolves.toEqual({ title: "Hola" });
    expect(fetch.mock.calls).toEqual([
      [
        `https://portal.example/r/secrets/secrets-0.3.1-0123456789ab/${file}`,
        { integrity, credentials: "omit", signal: expect.any(AbortSignal) },
      ],
    ]);
  });

  it.each([
    ["that the release does not have", "en", "beta-home"],
    ["of no remote", "es", "nothing"],
  ] as const)("fetches nothing for texts %s", async (_name, language, namespace) => {
    const { fetchTexts, fetch } = setUp();
    await expect(fetchTexts(language, namespace)).rejects.toMatchObject({ code: "remote_refused" });
    expect(fetch).not.toHaveBeenCalled();
  });

  it("takes the host's own texts from its bundle", async () => {
    const { fetchTexts, fetch } = setUp();
    await expect(fetchTexts("es", "header")).resolves.toHaveProperty("skip_action", "Saltar al contenido");
    expect(fetch).not.toHaveBeenCalled();
  });

  it("bypasses the browser's cache for texts that failed their hash or timed out", async () => {
    const { fetchTexts, fetch } = setUp();
    fetch.mockRejectedValueOnce(new TypeError("Failed to fetch"));
    await expect(fetchTexts("es", "beta-home")).rejects.toMatchObject({ code: "remote_unreachable" });
    await fetchTexts("es", "beta-home");
    expect(fetch.mock.calls.map(([, init]) => init?.cache)).toEqual([undefined, "reload"]);
  });

  it("leaves connections for other remotes when one remote does not respond", async () => {
    const { verifiedDeployment } = createFakeHost().host;
    const createRemote = (name: RemoteName, namespaces: readonly string[]): VerifiedRemote => {
      const remote = verifiedDeployment.remotes.get(name);
      if (remote?.status !== "verified") throw new Error("the fake host has it");
      const files = Object.fromEntries(namespaces.map((namespace) => [`locales/en/${namespace}.json`, integrity]));
      return {
        ...remote,
        record: { ...remote.record, manifest: { ...remote.record.manifest, namespaces: [...namespaces] }, files },
      };
    };
    const slow = ["slow-a", "slow-b", "slow-c", "slow-d", "slow-e", "slow-f", "slow-g"];
    const remotes = new Map(verifiedDeployment.remotes)
      .set("settings", createRemote("settings", slow))
      .set("sharing", createRemote("sharing", ["shared"]));
    const fetch = jest.fn((address: URL | RequestInfo) =>
      (address as string).includes("slow-")
        ? new Promise<Response>(() => undefined)
        : Promise.resolve(Response.json({ title: "Hello" })),
    );
    const fetchTexts = createTextFetcher({ ...verifiedDeployment, remotes }, "https://portal.example", fetch);
    for (const namespace of slow) void fetchTexts("en", namespace);
    await expect(fetchTexts("en", "shared")).resolves.toEqual({ title: "Hello" });
    expect(fetch).toHaveBeenCalledTimes(4);
  });

  it("rejects with remote_unreachable when the release cannot be fetched", async () => {
    await expect(setUp(() => new Response(null, { status: 502 })).fetchTexts("es", "beta-home")).rejects.toMatchObject({
      code: "remote_unreachable",
    });
  });
});

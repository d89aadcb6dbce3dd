import { createFakeHttpClient, createFakePortal, createFakeVault } from "@relicario/shared/testing";
import { z } from "zod";

import { createScopedHttpClient } from "./scoped-http-client.ts";
import { createScopedPortal } from "./scoped-portal.ts";

const all = [
  "http",
  "vault",
  "user",
  "notify",
  "confirm",
  "navigate",
  "visitor",
  "drives",
  "preferences",
  "sign_in",
] as const;

describe("createScopedPortal", () => {
  it("provides the capabilities that the release declares, in a frozen object", async () => {
    const drives = { google: { client_id: "c", authorize_url: "https://a.example", api_origin: "https://b.example" } };
    const { portal, record } = createFakePortal({ drives });
    const scoped = createScopedPortal(portal, { name: "secrets", capabilities: [...all], api_paths: ["/secrets"] });
    expect(Object.isFrozen(scoped)).toBe(true);
    expect(scoped.user).toBe(portal.user);
    expect(scoped.drives).toBe(drives);
    await expect(scoped.vault).resolves.toBeDefined();
    await expect(scoped.visitor).resolves.toBeDefined();
    scoped.navigate("/home");
    scoped.notify({ tone: "info", text: "x" });
    expect(record.paths).toEqual(["/home"]);
    expect(record.notices).toHaveLength(1);
    await expect(scoped.signInAgain()).resolves.toBeUndefined();
    await expect(scoped.confirm({ title: "t", description: "d" })).resolves.toBe(true);
    scoped.setLanguage("es");
    scoped.setTheme("dark");
    expect(record.preferences).toEqual(["es", "dark"]);
  });

  it("rejects every other capability as forbidden", async () => {
    const { portal } = createFakePortal({
      drives: { google: { client_id: "c", authorize_url: "https://a.example", api_origin: "https://b.example" } },
    });
    const scoped = createScopedPortal(portal, { name: "secrets", capabilities: [], api_paths: ["/secrets"] });
    expect(() => scoped.user).toThrow("forbidden");
    expect(() => {
      scoped.navigate("/home");
    }).toThrow("forbidden");
    expect(() => {
      scoped.notify({ tone: "info", text: "x" });
    }).toThrow("forbidden");
    expect(() => {
      scoped.setLanguage("es");
    }).toThrow("forbidden");
    expect(() => {
      scoped.setTheme("dark");
    }).toThrow("forbidden");
    await expect(scoped.vault).rejects.toMatchObject({ code: "forbidden" });
    await expect(scoped.visitor).rejects.toMatchObject({ code: "forbidden" });
    await expect(scoped.http.request("GET", "/secrets/store", z.unknown())).rejects.toMatchObject({
      code: "forbidden",
    });
    await expect(scoped.signInAgain()).rejects.toMatchObject({ code: "forbidden" });
    expect(scoped.language).toBe("en");
    expect(scoped.drives).toEqual({});
  });

  it("reports failures under the remote's own name", () => {
    const { portal, record } = createFakePortal();
    createScopedPortal(portal, { name: "secrets", capabilities: [], api_paths: [] }).report({
      remote: "settings",
      phase: "call",
      code: "unknown",
    });
    expect(record.reports).toEqual([{ remote: "secrets", phase: "call", code: "unknown" }]);
  });

  it("loads the vault only when the remote reads it", () => {
    const getVault = jest.fn(() => Promise.resolve(createFakeVault()));
    const portal = Object.defineProperty({ ...createFakePortal().portal }, "vault", { get: getVault });
    const scoped = createScopedPortal(portal, { name: "secrets", capabilities: [...all], api_paths: [] });
    expect(getVault).not.toHaveBeenCalled();
    void scoped.vault;
    expect(getVault).toHaveBeenCalledTimes(1);
  });
});

describe("createScopedHttpClient", () => {
  const http = createScopedHttpClient(createFakeHttpClient({ "GET /user/me": () => 1, "GET /user": () => 2 }), [
    "/user",
    "/secrets/store",
  ]);
  const call = (path: string) => http.request("GET", path, z.number());

  it("allows declared paths, by whole segments", async () => {
    await expect(call("/user/me")).resolves.toBe(1);
    await expect(call("/user")).resolves.toBe(2);
  });

  it.each([
    "/users/alba/key",
    "/secrets",
    "/auth/token",
    "/user/../auth/token",
    "/user/..",
    "/user//me",
    "/user/%2e%2e/auth",
    "/user/me?x=1",
    "/user/me#x",
    "/user\\..\\auth",
    "/user/.\t./auth/token",
    "/user/\t../auth/token",
    "/user/.\n./users/alba/key",
    "/user/.\r./auth",
    "/user/me\n",
    " /user/me",
  ])("refuses %s", async (path) => {
    await expect(call(path)).rejects.toMatchObject({ code: "forbidden" });
  });

  it("rejects a path, method or option that changes with each read", async () => {
    const sentCalls: unknown[] = [];
    const recordCall = (...call: unknown[]) => {
      sentCalls.push(call);
      return Promise.reject(new Error("sent"));
    };
    const scoped = createScopedHttpClient({ request: recordCall, stream: recordCall }, ["/user"]);
    const createChangingString = (first: string, second: string) => {
      let readCount = 0;
      return {
        toString: () => (readCount++ === 0 ? first : second),
        startsWith: () => true,
        length: first.length,
      } as unknown as "GET";
    };
    await expect(scoped.request("GET", createChangingString("/user", "/auth/token"), z.number())).rejects.toMatchObject(
      {
        code: "forbidden",
      },
    );
    await expect(scoped.stream("GET", createChangingString("/user", "/auth/token"))).rejects.toMatchObject({
      code: "forbidden",
    });
    await expect(scoped.request(createChangingString("GET", "TRACE"), "/user", z.number())).rejects.toMatchObject({
      code: "forbidden",
    });
    expect(sentCalls).toEqual([]);

    let readCount = 0;
    const options = {
      get headers() {
        return { range: String(++readCount) };
      },
    };
    await expect(scoped.stream("GET", "/user", options)).rejects.toThrow("sent");
    expect(sentCalls).toEqual([["GET", "/user", { headers: { range: "1" } }]]);
    expect(readCount).toBe(1);
  });

  it("limits streams to the same paths", async () => {
    await expect(http.stream("GET", "/users/alba/key")).rejects.toMatchObject({ code: "forbidden" });
  });
});

import type { PortalForVisitors, VisitorFactory } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { createFakeHttpClient, createFakeVisitor } from "@relicario/shared/testing";
import { z } from "zod";

import { createVisitorSource } from "./visitor-source.ts";

const http = createFakeHttpClient();
const visitorPortal: PortalForVisitors = { http, vendorId: "relicario", takeLinkSecret: () => Promise.resolve(null) };

function setUp() {
  const visitors = [createFakeVisitor({ share: { title: "a", content: "b" } }), createFakeVisitor()];
  let createdCount = 0;
  const factory = jest.fn<ReturnType<VisitorFactory>, Parameters<VisitorFactory>>(() =>
    Promise.resolve(visitors[createdCount++] ?? createFakeVisitor()),
  );
  const loadRecovery = jest.fn(() => Promise.resolve({ provides: { visitor: factory } }));
  const portal = jest.fn((_pathname: string) => Promise.resolve(visitorPortal));
  return { visitors, factory, loadRecovery, portal, source: createVisitorSource({ loadRecovery, portal }) };
}

const page = "/shared/abcdefghijklmnopqrstuv";

describe("createVisitorSource", () => {
  it("loads recovery when a page asks for the visitor, and makes one for a page", async () => {
    const { source, factory, loadRecovery, portal, visitors } = setUp();
    source.setActivePath(page);
    expect(loadRecovery).not.toHaveBeenCalled();
    await expect(Promise.all([source.get(page), source.get(page)])).resolves.toEqual([visitors[0], visitors[0]]);
    expect(factory).toHaveBeenCalledTimes(1);
    expect(factory).toHaveBeenCalledWith({ ...visitorPortal, http: expect.anything() as unknown });
    expect(portal).toHaveBeenCalledWith(page);
  });

  it("lets the visitor call what opens a share and answers a request, and nothing else of the account", async () => {
    const { source, factory } = setUp();
    await source.get("/p-shared/abcdefghijklmnopqrstuv");
    const visitors = factory.mock.calls[0]?.[0].http;
    const callsBefore = http.calls.length;
    const call = (method: "GET" | "POST" | "PUT", path: string) => visitors?.request(method, path, z.unknown());
    for (const path of [
      "/user/keyring",
      "/user/me",
      "/users/directory",
      "/secrets/store",
      "/v2/secrets/get-secret",
      "/share",
      "/sharelist/x",
      "/requests",
      "/requests/collect",
    ]) {
      await expect(call("POST", path)).rejects.toMatchObject({ code: "forbidden" });
    }
    await expect(visitors?.stream("POST", "/v2/secrets/get-secret")).rejects.toMatchObject({ code: "forbidden" });
    expect(http.calls).toHaveLength(callsBefore);
    const allowedPaths = [
      "/share/get-public-secret",
      "/share/get-public-secret/x",
      "/share/get-secret",
      "/share/get-secret/x",
      "/requests/get",
      "/requests/answer",
      "/requests/answer/x",
    ];
    // the fake service's own answer
    for (const path of allowedPaths) await expect(call("POST", path)).rejects.toMatchObject({ code: "not_found" });
    await expect(visitors?.stream("POST", "/share/content")).rejects.toMatchObject({ code: "not_found" });
    expect(http.calls.slice(callsBefore).map(({ path }) => path)).toEqual([...allowedPaths, "/share/content"]);
  });

  it("closes it when the page is left, and keeps it while the page stays", async () => {
    const { source, visitors } = setUp();
    await source.get(page);
    source.setActivePath(page);
    expect(visitors[0]?.calls).toEqual([]);
    source.setActivePath(null);
    await Promise.resolve();
    expect(visitors[0]?.calls).toEqual(["close"]);
  });

  it("makes another one for another link, and closes the first", async () => {
    const { source, visitors } = setUp();
    await source.get(page);
    await expect(source.get("/p-shared/abcdefghijklmnopqrstuv")).resolves.toBe(visitors[1]);
    expect(visitors[0]?.calls).toEqual(["close"]);
  });

  it("closes one that was still loading when the portal locked", async () => {
    const { source, visitors } = setUp();
    const loading = source.get(page);
    source.close();
    await loading;
    await Promise.resolve();
    expect(visitors[0]?.calls).toEqual(["close"]);
    await expect(source.get(page)).resolves.toBe(visitors[1]);
  });

  it("is vault_unavailable when recovery does not load or has none, and can be asked for again", async () => {
    const { source, loadRecovery } = setUp();
    loadRecovery.mockRejectedValueOnce(new PortalError("remote_unreachable"));
    await expect(source.get(page)).rejects.toMatchObject({
      code: "vault_unavailable",
      details: { reason: "remote_unreachable" },
    });
    loadRecovery.mockResolvedValueOnce({ provides: {} } as never);
    await expect(source.get(page)).rejects.toMatchObject({
      code: "vault_unavailable",
      details: { reason: "remote_refused" },
    });
    await expect(source.get(page)).resolves.toBeDefined();
  });
});

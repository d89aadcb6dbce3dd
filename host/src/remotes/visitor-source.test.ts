import type { PortalForVisitors, VisitorFactory } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { createFakeVisitor } from "@relicario/shared/testing";

import { createVisitorSource } from "./visitor-source.ts";

const visitorPortal: PortalForVisitors = {
  signedIn: false,
  frame: () => Promise.reject(new PortalError("unknown")),
  vaultOrigin: "https://vault.example",
};

function setUp() {
  const visitors = [createFakeVisitor({ share: { title: "a", content: "b" } }), createFakeVisitor()];
  let createdCount = 0;
  const factory = jest.fn<ReturnType<VisitorFactory>, Parameters<VisitorFactory>>(() =>
    Promise.resolve(visitors[createdCount++] ?? createFakeVisitor()),
  );
  const loadRecovery = jest.fn(() => Promise.resolve({ provides: { visitor: factory } }));
  const createVisitorPortal = jest.fn((_pathname: string) => Promise.resolve(visitorPortal));
  return {
    visitors,
    factory,
    loadRecovery,
    portal: createVisitorPortal,
    source: createVisitorSource({ loadRecovery, createVisitorPortal }),
  };
}

const pagePath = "/shared/abcdefghijklmnopqrstuv";

describe("createVisitorSource", () => {
  it("loads recovery at the first call, and creates one visitor per page", async () => {
    const { source, factory, loadRecovery, portal, visitors } = setUp();
    source.setActivePath(pagePath);
    expect(loadRecovery).not.toHaveBeenCalled();
    await expect(Promise.all([source.get(pagePath), source.get(pagePath)])).resolves.toEqual([
      visitors[0],
      visitors[0],
    ]);
    expect(factory).toHaveBeenCalledTimes(1);
    expect(factory).toHaveBeenCalledWith(visitorPortal);
    expect(portal).toHaveBeenCalledWith(pagePath);
  });

  it("closes the visitor when the page is left, not before", async () => {
    const { source, visitors } = setUp();
    await source.get(pagePath);
    source.setActivePath(pagePath);
    expect(visitors[0]?.calls).toEqual([]);
    source.setActivePath(null);
    await Promise.resolve();
    expect(visitors[0]?.calls).toEqual(["close"]);
  });

  it("creates another visitor for another link, and closes the first", async () => {
    const { source, visitors } = setUp();
    await source.get(pagePath);
    await expect(source.get("/p-shared/abcdefghijklmnopqrstuv")).resolves.toBe(visitors[1]);
    expect(visitors[0]?.calls).toEqual(["close"]);
  });

  it("closes a visitor that was still loading when the portal locked", async () => {
    const { source, visitors } = setUp();
    const loading = source.get(pagePath);
    source.close();
    await loading;
    await Promise.resolve();
    expect(visitors[0]?.calls).toEqual(["close"]);
    await expect(source.get(pagePath)).resolves.toBe(visitors[1]);
  });

  it("rejects with vault_unavailable when recovery does not load or provides none, and tries again at the next call", async () => {
    const { source, loadRecovery } = setUp();
    loadRecovery.mockRejectedValueOnce(new PortalError("remote_unreachable"));
    await expect(source.get(pagePath)).rejects.toMatchObject({
      code: "vault_unavailable",
      details: { reason: "remote_unreachable" },
    });
    loadRecovery.mockResolvedValueOnce({ provides: {} } as never);
    await expect(source.get(pagePath)).rejects.toMatchObject({
      code: "vault_unavailable",
      details: { reason: "remote_refused" },
    });
    await expect(source.get(pagePath)).resolves.toBeDefined();
  });
});

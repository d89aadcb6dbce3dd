import "fake-indexeddb/auto";

import type { LinkSecret, PortalForServices } from "@relicario/shared/contract";

import { equalBytes } from "../seal/bytes.ts";
import { aFile, aRequest } from "../testing/answering.ts";
import { channelWorkers, leavePortsUnwaited } from "../testing/channel-workers.ts";
import { createFakeService, type FakeService } from "../testing/fake-service.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import { createFakeMachine } from "../testing/surroundings.ts";
import { randomFile } from "../testing/uploading.ts";
import { shownHandle as shown, textSecret, userId } from "../testing/world.ts";
import { createVaultClient, type VaultClient } from "./vault-client.ts";
import { createVisitorClient, type VisitorClient } from "./visitor-client.ts";

leavePortsUnwaited();

const { plain, file } = randomFile(6 * fakePartBytes + 77);
let subjects = 0;
let service: FakeService;
let vault: VaultClient;

beforeEach(async () => {
  service = createFakeService(userId);
  const account = { userId, issuer: "https://id.example", subject: `asking ${String(subjects++)}` };
  const portal: PortalForServices = {
    http: service.http,
    vendorId: "relicario",
    account,
    signInAgain: () => Promise.resolve({ authTime: 0 }),
    takeLinkSecret: () => Promise.resolve(null),
  };
  const machine = createFakeMachine();
  machine.now = Date.now();
  vault = createVaultClient(portal, channelWorkers(), { surroundings: machine.tab() });
  await vault.protect(textSecret("First", shown("market")));
});

/** A page opened by a link, with nobody signed in. */
function visitorOf(link: string): VisitorClient {
  const { pathname: path, hash } = new URL(link);
  const secrets: LinkSecret[] = [{ path, s: hash.slice("#s=".length), n: null }];
  return createVisitorClient(
    { http: service.http, takeLinkSecret: () => Promise.resolve(secrets.pop() ?? null) },
    channelWorkers(),
  );
}

const ask = () => vault.requests.create(aRequest({ now: Date.now }), shown("market"));

describe("requests over the workers", () => {
  it("asks with a link of the portal, goes on with a file that was aborted, and saves what came", async () => {
    const { requestId, link } = await ask();
    expect(link).toMatch(new RegExp(`^https://portal\\.example/request/${requestId}#s=[\\w-]{43}$`));
    await expect(vault.requests.showLink(requestId, null)).resolves.toBe(link);

    const visitor = visitorOf(link);
    await expect(visitor.lookAtRequest(requestId)).resolves.toMatchObject({
      title: "The deed",
      askedBy: "José",
      begun: null,
    });
    const leaving = new AbortController();
    const half = visitor.answer(requestId, aFile(file), {
      signal: leaving.signal,
      onProgress: ({ done, total }) => {
        if (done > total / 2) leaving.abort();
      },
    });
    await expect(half).rejects.toMatchObject({ code: "cancelled" });
    visitor.close();

    const again = visitorOf(link);
    const { begun } = await again.lookAtRequest(requestId);
    expect(begun).toMatchObject({ name: "film.mp4", size: plain.length });
    expect(begun?.sent).toBeGreaterThan(plain.length / 2);
    const { words } = await again.answer(requestId, aFile(file));

    const answer = await vault.requests.open(requestId, null);
    expect(answer).toMatchObject({ words, content: null, size: plain.length });
    expect(answer).not.toHaveProperty("sealed");
    const saved = await answer.save(null);
    expect(saved !== null && equalBytes(new Uint8Array(await saved.arrayBuffer()), plain)).toBe(true);
    answer.putAway();
    await expect(answer.save(null)).rejects.toMatchObject({ code: "vault_locked" });
    await vault.requests.collect(requestId);
    await vault.requests.drop(requestId);
    expect(await vault.requests.list()).toEqual([]);
  });

  it("says that a link is not complete: without its key, of another request, or after the page was closed", async () => {
    const { requestId, link } = await ask();
    const other = await ask();
    await expect(visitorOf(link.split("#")[0] ?? "").lookAtRequest(requestId)).rejects.toMatchObject({
      code: "link_incomplete",
    });
    await expect(visitorOf(link).lookAtRequest(other.requestId)).rejects.toMatchObject({ code: "link_incomplete" });
    await expect(visitorOf(link).lookAtRequest("../share")).rejects.toMatchObject({ code: "request_unavailable" });
    const visitor = visitorOf(link);
    await visitor.lookAtRequest(requestId);
    visitor.close();
    await expect(visitor.lookAtRequest(requestId)).rejects.toMatchObject({ code: "link_incomplete" });
  });

  it("refuses a handle that stands for nothing before anything reaches the worker", async () => {
    const forgotten = shown("market");
    vault.forgetShown(forgotten);
    const before = service.calls.length;
    await expect(vault.requests.create(aRequest({ now: Date.now }), forgotten)).rejects.toMatchObject({
      code: "picture_needed",
    });
    expect(service.calls).toHaveLength(before);
  });
});

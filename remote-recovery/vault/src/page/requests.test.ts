import "fake-indexeddb/auto";

import type { LinkSecret, PortalForServices } from "@relicario/shared/contract";

import { equalBytes } from "../seal/bytes.ts";
import { makeFileAnswer, makeRequest } from "../testing/answer-provider.ts";
import { createChannelWorkers, unrefMessagePorts } from "../testing/channel-workers.ts";
import { createFakeService, type FakeService } from "../testing/fake-service.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import { createFakeMachine } from "../testing/fake-machine.ts";
import { randomFile } from "../testing/uploading-tab.ts";
import { makePictureHandle as makeHandle, textSecret, userId } from "../testing/world.ts";
import { createVaultClient, type VaultClient } from "./vault-client.ts";
import { createVisitorClient, type VisitorClient } from "./visitor-client.ts";

unrefMessagePorts();

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
  vault = createVaultClient(portal, createChannelWorkers(), { environment: machine.tab() });
  await vault.protect(textSecret("First", makeHandle("market")));
});

/** A page opened by a link, with nobody signed in. */
function createVisitorFor(link: string): VisitorClient {
  const { pathname: path, hash } = new URL(link);
  const secrets: LinkSecret[] = [{ path, s: hash.slice("#s=".length), n: null }];
  return createVisitorClient(
    { http: service.http, takeLinkSecret: () => Promise.resolve(secrets.pop() ?? null) },
    createChannelWorkers(),
  );
}

const ask = () => vault.requests.create(makeRequest({ now: Date.now }), makeHandle("market"));

describe("requests over the workers", () => {
  it("asks with a link of the portal, goes on with a file that was aborted, and saves what came", async () => {
    const { requestId, link } = await ask();
    expect(link).toMatch(new RegExp(`^https://portal\\.example/request/${requestId}#s=[\\w-]{43}$`));
    await expect(vault.requests.getLink(requestId, null)).resolves.toBe(link);

    const visitor = createVisitorFor(link);
    await expect(visitor.previewRequest(requestId)).resolves.toMatchObject({
      title: "The deed",
      requesterName: "José",
      unfinishedAnswer: null,
    });
    const controller = new AbortController();
    const firstAttempt = visitor.answer(requestId, makeFileAnswer(file), {
      signal: controller.signal,
      onProgress: ({ done, total }) => {
        if (done > total / 2) controller.abort();
      },
    });
    await expect(firstAttempt).rejects.toMatchObject({ code: "cancelled" });
    visitor.close();

    const secondVisitor = createVisitorFor(link);
    const { unfinishedAnswer } = await secondVisitor.previewRequest(requestId);
    expect(unfinishedAnswer).toMatchObject({ name: "film.mp4", size: plain.length });
    expect(unfinishedAnswer?.sent).toBeGreaterThan(plain.length / 2);
    const { receiptWords } = await secondVisitor.answer(requestId, makeFileAnswer(file));

    const answer = await vault.requests.open(requestId, null);
    expect(answer).toMatchObject({ receiptWords, content: null, size: plain.length });
    expect(answer).not.toHaveProperty("sealed");
    const saved = await answer.save(null);
    expect(saved !== null && equalBytes(new Uint8Array(await saved.arrayBuffer()), plain)).toBe(true);
    answer.dispose();
    await expect(answer.save(null)).rejects.toMatchObject({ code: "vault_locked" });
    await vault.requests.collect(requestId);
    await vault.requests.drop(requestId);
    expect(await vault.requests.list()).toEqual([]);
  });

  it("says that a link is not complete: without its key, of another request, or after the page was closed", async () => {
    const { requestId, link } = await ask();
    const otherRequest = await ask();
    await expect(createVisitorFor(link.split("#")[0] ?? "").previewRequest(requestId)).rejects.toMatchObject({
      code: "link_incomplete",
    });
    await expect(createVisitorFor(link).previewRequest(otherRequest.requestId)).rejects.toMatchObject({
      code: "link_incomplete",
    });
    await expect(createVisitorFor(link).previewRequest("../share")).rejects.toMatchObject({
      code: "request_unavailable",
    });
    const visitor = createVisitorFor(link);
    await visitor.previewRequest(requestId);
    visitor.close();
    await expect(visitor.previewRequest(requestId)).rejects.toMatchObject({ code: "link_incomplete" });
  });

  it("refuses a handle that stands for nothing before anything reaches the worker", async () => {
    const releasedHandle = makeHandle("market");
    vault.releaseOpener(releasedHandle);
    const before = service.calls.length;
    await expect(vault.requests.create(makeRequest({ now: Date.now }), releasedHandle)).rejects.toMatchObject({
      code: "picture_needed",
    });
    expect(service.calls).toHaveLength(before);
  });
});

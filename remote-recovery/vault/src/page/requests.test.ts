import "fake-indexeddb/auto";

import type { LinkSecret } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { equalBytes } from "../seal/bytes.ts";
import { makeFileAnswer, makeRequest } from "../testing/request-sender.ts";
import { createChannelWorkers, unrefMessagePorts } from "../testing/channel-workers.ts";
import { createFakeService, type FakeService } from "../testing/fake-service.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import { createFakeMachine } from "../testing/fake-machine.ts";
import { randomFile } from "../testing/uploading-tab.ts";
import { makePictureHandle as makeHandle, textSecret, userId } from "../testing/world.ts";
import { createVaultClient, type VaultClient } from "./vault-client.ts";
import type { VaultPortal } from "./vault-portal.ts";
import { createVisitorClient, type VisitorClient } from "./visitor-client.ts";

unrefMessagePorts();

const { plaintext, file } = randomFile(6 * fakePartBytes + 77);
let subjectCount = 0;
let service: FakeService;
let vault: VaultClient;

beforeEach(async () => {
  service = createFakeService(userId);
  const account = { userId, issuer: "https://id.example", subject: `asking ${String(subjectCount++)}` };
  const portal: VaultPortal = {
    http: service.http,
    vendorId: "relicario",
    account,
    signInAgain: () => Promise.resolve({ authTime: 0 }),
    signInToUnlock: () => Promise.resolve({ authTime: 0 }),
    signInSilently: () => Promise.reject(new PortalError("login_required")),
    confirmMark: () => Promise.resolve(true),
    takeLinkSecret: () => Promise.resolve(null),
  };
  const machine = createFakeMachine();
  machine.now = Date.now();
  vault = createVaultClient(portal, createChannelWorkers(), { environment: machine.openTab() });
  await vault.protect(textSecret("First", makeHandle("market")));
});

/** A page opened by a link, without a sign-in. */
function createVisitorFor(link: string): VisitorClient {
  const { pathname: path, hash } = new URL(link);
  const secrets: LinkSecret[] = [{ path, s: hash.slice("#s=".length), n: null }];
  return createVisitorClient(
    { http: service.http, takeLinkSecret: () => Promise.resolve(secrets.pop() ?? null) },
    createChannelWorkers(),
  );
}

const createRequest = () => vault.requests.create(makeRequest({ now: Date.now }), makeHandle("market"));

describe("requests through the workers", () => {
  it("are created, continue an aborted answer, and save its content", async () => {
    const { requestId, link } = await createRequest();
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
    expect(unfinishedAnswer).toMatchObject({ name: "film.mp4", size: plaintext.length });
    expect(unfinishedAnswer?.sentBytes).toBeGreaterThan(plaintext.length / 2);
    const { receiptWords } = await secondVisitor.answer(requestId, makeFileAnswer(file));

    const answer = await vault.requests.open(requestId, null);
    expect(answer).toMatchObject({ receiptWords, content: null, size: plaintext.length });
    expect(answer).not.toHaveProperty("sealed");
    const savedBlob = await answer.save();
    expect(equalBytes(new Uint8Array(await savedBlob.arrayBuffer()), plaintext)).toBe(true);
    answer.dispose();
    await expect(answer.save()).rejects.toMatchObject({ code: "vault_locked" });
    await vault.requests.collect(requestId);
    await vault.requests.drop(requestId);
    expect(await vault.requests.list()).toEqual([]);
  });

  it("throw link_incomplete without a key, for another request, and after close", async () => {
    const { requestId, link } = await createRequest();
    const otherRequest = await createRequest();
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

  it("refuse a released handle before the worker is called", async () => {
    const releasedHandle = makeHandle("market");
    vault.releaseOpener(releasedHandle);
    const callsBefore = service.calls.length;
    await expect(vault.requests.create(makeRequest({ now: Date.now }), releasedHandle)).rejects.toMatchObject({
      code: "picture_needed",
    });
    expect(service.calls).toHaveLength(callsBefore);
  });
});

import "fake-indexeddb/auto";

import type { LinkSecret } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { equalBytes } from "../seal/bytes.ts";
import { createChannelWorkers, unrefMessagePorts } from "../testing/channel-workers.ts";
import { createFakeService, type FakeService } from "../testing/fake-service.ts";
import { createFakeSharing, type FakeSharing } from "../testing/fake-shares.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import { createFakeMachine } from "../testing/fake-machine.ts";
import { fileSecret, randomFile } from "../testing/uploading-tab.ts";
import { makePictureHandle as makeHandle, textSecret, userId } from "../testing/world.ts";
import { createVaultClient, type VaultClient } from "./vault-client.ts";
import type { VaultPortal } from "./vault-portal.ts";
import { createVisitorClient, type VisitorClient } from "./visitor-client.ts";

unrefMessagePorts();

const { plaintext, file } = randomFile(6 * fakePartBytes + 77);
const bensId = "019a9e2c-7c1e-7abc-8def-ba9876543210";
let personCount = 0;

let sharing: FakeSharing;
let ada: { service: FakeService; vault: VaultClient; workers: ReturnType<typeof createChannelWorkers> };
let secretId: string;

function createPerson(id: string, userName: string): typeof ada {
  const service = createFakeService(id);
  const me = { userId: id, userName, account: () => service.account };
  service.sharing = { state: sharing, me };
  sharing.people.set(userName.toLowerCase(), me);
  const portal: VaultPortal = {
    http: service.http,
    vendorId: "relicario",
    account: { userId: id, issuer: "https://id.example", subject: `sharing ${String(personCount++)}` },
    signInAgain: () => Promise.resolve({ authTime: 0 }),
    signInToUnlock: () => Promise.resolve({ authTime: 0 }),
    signInSilently: () => Promise.reject(new PortalError("login_required")),
    confirmMark: () => Promise.resolve(true),
    takeLinkSecret: () => Promise.resolve(null),
  };
  const machine = createFakeMachine();
  machine.now = Date.now();
  const workers = createChannelWorkers();
  return { service, vault: createVaultClient(portal, workers, { environment: machine.openTab() }), workers };
}

/** A page opened by a link, without a sign-in. */
function createVisitorFor(link: string): {
  visitor: VisitorClient;
  workers: ReturnType<typeof createChannelWorkers>;
  countTaken: () => number;
} {
  const service = createFakeService("nobody");
  service.sharing = { state: sharing, me: null };
  const { pathname: path, hash } = new URL(link);
  const secrets: LinkSecret[] = [{ path, s: hash.slice("#s=".length), n: null }];
  const workers = createChannelWorkers();
  const takeLinkSecret = (): Promise<LinkSecret | null> => Promise.resolve(secrets.pop() ?? null);
  return {
    visitor: createVisitorClient({ http: service.http, takeLinkSecret }, workers),
    workers,
    countTaken: () => 1 - secrets.length,
  };
}

const shareInput = {
  to: { audience: "public" },
  expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
  maxViews: null,
  password: null,
  picture: null,
  notify: false,
} as const;
const createShare = async (
  id: string,
  opener: Parameters<VaultClient["shares"]["create"]>[1],
  overrides: object = {},
): Promise<{ shareId: string; link: string }> => {
  const { shareId, link } = await ada.vault.shares.create({ ...shareInput, secretId: id, ...overrides }, opener);
  return { shareId, link: link ?? "" };
};

const equalsFile = async (saved: Blob): Promise<boolean> =>
  equalBytes(new Uint8Array(await saved.arrayBuffer()), plaintext);

beforeEach(async () => {
  sharing = createFakeSharing();
  ada = createPerson(userId, "Ada");
  ({ secretId } = await ada.vault.protect(textSecret("First", makeHandle("market"))));
});

describe("sharing through the workers", () => {
  it("creates a link that a visitor opens", async () => {
    const { shareId, link } = await createShare(secretId, makeHandle("market"));
    expect(link).toMatch(new RegExp(`^https://portal\\.example/shared/${shareId}#s=`));
    const { visitor, workers, countTaken } = createVisitorFor(link);
    await expect(visitor.previewShare(shareId)).resolves.toMatchObject({ audience: "public", hasPassword: false });
    const opened = await visitor.openShare(shareId, { password: null, picture: null });
    expect(await (await opened.save()).text()).toBe("content of First");
    expect(opened).not.toHaveProperty("sealed");
    expect(countTaken()).toBe(1);
    expect(workers.startedWorkers).toEqual(["visitor"]);
    visitor.close();
    await expect(visitor.previewShare(shareId)).rejects.toMatchObject({ code: "link_incomplete" });
  });

  it("refuses a released handle before the worker is called", async () => {
    const releasedHandle = makeHandle("market");
    ada.vault.releaseOpener(releasedHandle);
    await expect(createShare(secretId, releasedHandle)).rejects.toMatchObject({ code: "picture_needed" });
  });

  it("opens a share with a picture in the visitor's engine", async () => {
    const { shareId, link } = await createShare(secretId, makeHandle("market"), { picture: makeHandle("boat") });
    const { visitor, workers } = createVisitorFor(link);
    await expect(visitor.openShare(shareId, { password: null, picture: makeHandle("harbour") })).rejects.toMatchObject({
      code: "not_this_picture",
    });
    const opened = await visitor.openShare(shareId, { password: null, picture: makeHandle("boat") });
    expect(new TextDecoder().decode(opened.content ?? undefined)).toBe("content of First");
    expect(workers.startedWorkers).toEqual(["visitor", "engine"]);
  });

  it("streams a large content to a visitor and to a person", async () => {
    const { secretId: filmSecretId } = await ada.vault.protect(fileSecret("Film", file, makeHandle("market")));
    const { shareId, link } = await createShare(filmSecretId, makeHandle("market"));
    const { visitor } = createVisitorFor(link);
    const opened = await visitor.openShare(shareId, { password: null, picture: null });
    expect(opened).toMatchObject({ content: null, name: "film.mp4", size: plaintext.length });
    expect(await equalsFile(await opened.save())).toBe(true);
    opened.dispose();
    await expect(opened.save()).rejects.toMatchObject({ code: "vault_locked" });

    const ben = createPerson(bensId, "Ben");
    await ben.vault.protect(textSecret("Ben's own", makeHandle("harbour")));
    const { shareId: personShareId } = await ada.vault.shares.create(
      { ...shareInput, secretId: filmSecretId, to: { audience: "person", person: await ada.vault.people.find("Ben") } },
      makeHandle("market"),
    );
    const received = await ben.vault.received.open(personShareId, makeHandle("harbour"), {
      acceptedWords: (await ada.vault.people.getOwnSafetyWords()).safetyWords,
    });
    expect(await equalsFile(await received.save())).toBe(true);
    await ben.vault.lock();
    await expect(received.save()).rejects.toMatchObject({ code: "vault_locked" });
  });

  it("gives pages no sealed documents, keys or internal ids of opened contents", async () => {
    const { shareId } = await createShare(secretId, makeHandle("market"));
    const output = JSON.stringify([
      await ada.vault.shares.list(),
      await ada.vault.shares.listForSecret(secretId),
      await ada.vault.people.getOwnSafetyWords(),
    ]);
    expect(output).toContain(shareId);
    for (const word of ["link_key", "age1pq", "AGE-SECRET", "openedId"]) expect(output).not.toContain(word);
  });
});

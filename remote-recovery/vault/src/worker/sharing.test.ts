import "fake-indexeddb/auto";

import type { LinkSecret, PortalForServices } from "@relicario/shared/contract";

import { equalBytes } from "../seal/bytes.ts";
import { channelWorkers, leavePortsUnwaited } from "../testing/channel-workers.ts";
import { createFakeService, type FakeService } from "../testing/fake-service.ts";
import { createFakeSharing, type FakeSharing } from "../testing/fake-shares.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import { createFakeMachine } from "../testing/surroundings.ts";
import { fileSecret, randomFile } from "../testing/uploading.ts";
import { shownHandle as shown, textSecret, userId } from "../testing/world.ts";
import { createVaultClient, type VaultClient } from "./vault-client.ts";
import { createVisitorClient, type VisitorClient } from "./visitor-client.ts";

leavePortsUnwaited();

const { plain, file } = randomFile(6 * fakePartBytes + 77);
const bensId = "019a9e2c-7c1e-7abc-8def-ba9876543210";
let people = 0;

let sharing: FakeSharing;
let ada: { service: FakeService; vault: VaultClient; workers: ReturnType<typeof channelWorkers> };
let secretId: string;

function person(id: string, userName: string): typeof ada {
  const service = createFakeService(id);
  const me = { userId: id, userName, account: () => service.account };
  service.sharing = { between: sharing, me };
  sharing.people.set(userName.toLowerCase(), me);
  const portal: PortalForServices = {
    http: service.http,
    vendorId: "relicario",
    account: { userId: id, issuer: "https://id.example", subject: `sharing ${String(people++)}` },
    signInAgain: () => Promise.resolve({ authTime: 0 }),
    takeLinkSecret: () => Promise.resolve(null),
  };
  const machine = createFakeMachine();
  machine.now = Date.now();
  const workers = channelWorkers();
  return { service, vault: createVaultClient(portal, workers, { surroundings: machine.tab() }), workers };
}

/** A page opened by a link, with nobody signed in. */
function visitorOf(link: string): {
  visitor: VisitorClient;
  workers: ReturnType<typeof channelWorkers>;
  taken: () => number;
} {
  const service = createFakeService("nobody");
  service.sharing = { between: sharing, me: null };
  const { pathname: path, hash } = new URL(link);
  const secrets: LinkSecret[] = [{ path, s: hash.slice("#s=".length), n: null }];
  const workers = channelWorkers();
  const takeLinkSecret = (): Promise<LinkSecret | null> => Promise.resolve(secrets.pop() ?? null);
  return {
    visitor: createVisitorClient({ http: service.http, takeLinkSecret }, workers),
    workers,
    taken: () => 1 - secrets.length,
  };
}

const request = {
  to: { audience: "public" },
  expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
  maxViews: null,
  password: null,
  picture: null,
  notify: false,
} as const;
const shareOf = async (
  id: string,
  by: Parameters<VaultClient["shares"]["create"]>[1],
  more: object = {},
): Promise<{ shareId: string; link: string }> => {
  const { shareId, link } = await ada.vault.shares.create({ ...request, secretId: id, ...more }, by);
  return { shareId, link: link ?? "" };
};

const isPlain = async (saved: Blob | null): Promise<boolean> =>
  saved !== null && equalBytes(new Uint8Array(await saved.arrayBuffer()), plain);

beforeEach(async () => {
  sharing = createFakeSharing();
  ada = person(userId, "Ada");
  ({ secretId } = await ada.vault.protect(textSecret("First", shown("market"))));
});

describe("sharing over the workers", () => {
  it("makes a link of a secret by a picture; a visitor opens it", async () => {
    const { shareId, link } = await shareOf(secretId, shown("market"));
    expect(link).toMatch(new RegExp(`^https://portal\\.example/shared/${shareId}#s=`));
    const { visitor, workers, taken } = visitorOf(link);
    await expect(visitor.lookAtShare(shareId)).resolves.toMatchObject({ audience: "public", password: false });
    const opened = await visitor.openShare(shareId, { password: null, picture: null });
    expect(await (await opened.save(null))?.text()).toBe("content of First");
    expect(opened).not.toHaveProperty("sealed");
    expect(taken()).toBe(1);
    expect(workers.started).toEqual(["visitor"]);
    visitor.close();
    await expect(visitor.lookAtShare(shareId)).rejects.toMatchObject({ code: "link_incomplete" });
  });

  it("refuses a handle that stands for nothing, before anything reaches the worker", async () => {
    const forgotten = shown("market");
    ada.vault.forgetShown(forgotten);
    await expect(shareOf(secretId, forgotten)).rejects.toMatchObject({ code: "picture_needed" });
  });

  it("opens a share with its own picture in the visitor's engine", async () => {
    const { shareId, link } = await shareOf(secretId, shown("market"), { picture: shown("boat") });
    const { visitor, workers } = visitorOf(link);
    await expect(visitor.openShare(shareId, { password: null, picture: shown("harbour") })).rejects.toMatchObject({
      code: "not_this_picture",
    });
    const opened = await visitor.openShare(shareId, { password: null, picture: shown("boat") });
    expect(new TextDecoder().decode(opened.content ?? undefined)).toBe("content of First");
    expect(workers.started).toEqual(["visitor", "engine"]);
  });

  it("streams a content that is too large to be held, to a visitor and to a person", async () => {
    const { secretId: film } = await ada.vault.protect(fileSecret("Film", file, shown("market")));
    const { shareId, link } = await shareOf(film, shown("market"));
    const { visitor } = visitorOf(link);
    const opened = await visitor.openShare(shareId, { password: null, picture: null });
    expect(opened).toMatchObject({ content: null, name: "film.mp4", size: plain.length });
    expect(await isPlain(await opened.save(null))).toBe(true);
    opened.putAway();
    await expect(opened.save(null)).rejects.toMatchObject({ code: "vault_locked" });

    const ben = person(bensId, "Ben");
    await ben.vault.protect(textSecret("Ben's own", shown("harbour")));
    const { shareId: forBen } = await ada.vault.shares.create(
      { ...request, secretId: film, to: { audience: "person", person: await ada.vault.people.find("Ben") } },
      shown("market"),
    );
    const received = await ben.vault.received.open(forBen, shown("harbour"), {
      accept: (await ada.vault.people.mine()).words,
    });
    expect(await isPlain(await received.save(null))).toBe(true);
    await ben.vault.lock();
    await expect(received.save(null)).rejects.toMatchObject({ code: "vault_locked" });
  });

  it("gives pages nothing of the sealed document, of keys or of names of opened contents", async () => {
    const { shareId } = await shareOf(secretId, shown("market"));
    const told = JSON.stringify([
      await ada.vault.shares.all(),
      await ada.vault.shares.ofSecret(secretId),
      await ada.vault.people.mine(),
    ]);
    expect(told).toContain(shareId);
    for (const word of ["link_key", "age1pq", "AGE-SECRET", "openedId"]) expect(told).not.toContain(word);
  });
});

import { ReceivedShares, RequestList, ShareList } from "@relicario/shared/api";
import { sql } from "drizzle-orm";

import { startService, type TestService } from "../testing/service.ts";
import { callOk, createRequest, createShare, createSharedSecret } from "../testing/sharing.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** Reads pages of two until the last one. */
async function readAll<Page extends { next_cursor: string | null; state_rev: number }>(
  path: string,
  token: string,
  parse: (body: unknown) => Page,
): Promise<Page[]> {
  const pages: Page[] = [];
  for (let cursor: string | null = ""; cursor !== null; cursor = pages.at(-1)?.next_cursor ?? null) {
    const query = `limit=2&get_expired=true${cursor === "" ? "" : `&cursor=${cursor}`}`;
    pages.push(parse((await callOk(service, "GET", `${path}?${query}`, token)).body));
  }
  return pages;
}

describe("the lists of shares and requests", () => {
  it("come in pages, newest first, each row once, with the state's revision", async () => {
    const recipient = await service.signIn();
    const { owner, secret, share } = await createSharedSecret(service, { recipient: recipient.userId });
    const shareIds = [share.shareId];
    const requestIds: string[] = [];
    for (let count = 0; count < 4; count++) {
      shareIds.push((await createShare(service, owner, secret.id, { recipient: recipient.userId })).shareId);
      requestIds.push((await createRequest(service, owner)).requestId);
    }
    // created at the same time: the ids decide the order
    const { db } = service.app.services;
    const [, second, third] = shareIds;
    await db.execute(sql`update shares set created_at = now() where share_id in (${second}, ${third})`);
    const shareList = await readAll(`/sharelist/${secret.id}`, owner.token, (body) => ShareList.parse(body));
    expect(shareList.map(({ shares }) => shares.length)).toEqual([2, 2, 1]);
    expect(new Set(shareList.flatMap(({ shares }) => shares.map(({ share_id }) => share_id)))).toEqual(
      new Set(shareIds),
    );
    const times = shareList.flatMap(({ shares }) => shares.map(({ created_at }) => created_at));
    expect(times).toEqual(times.toSorted().reverse());
    expect(new Set(shareList.map(({ state_rev }) => state_rev)).size).toBe(1);

    const requestList = await readAll("/requests", owner.token, (body) => RequestList.parse(body));
    expect(requestList.map(({ requests }) => requests.length)).toEqual([2, 2]);
    expect(requestList.flatMap(({ requests }) => requests.map(({ request_id }) => request_id))).toEqual(
      requestIds.toReversed(),
    );

    const received = await readAll("/user/share-with-me", recipient.token, (body) => ReceivedShares.parse(body));
    expect(received.map(({ shares }) => shares.length)).toEqual([2, 2, 1]);
    expect(received.flatMap(({ shares }) => shares.map(({ share_id }) => share_id))).toEqual(shareIds.toReversed());
  });

  it("have another revision once a share is made", async () => {
    const { owner, secret } = await createSharedSecret(service);
    const readRevision = async () =>
      ShareList.parse((await callOk(service, "GET", `/sharelist/${secret.id}`, owner.token)).body).state_rev;
    const revision = await readRevision();
    await createShare(service, owner, secret.id);
    expect(await readRevision()).toBe(revision + 1);
  });

  it.each(["limit=0", "limit=1001", "cursor=x", "cursor=9999999999999.'"])("refuse %s", async (query) => {
    const { token } = await service.signIn();
    expect((await service.call("GET", `/requests?${query}`, token)).status).toBe(422);
  });
});

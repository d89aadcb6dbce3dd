import type { HttpClient } from "@relicario/shared/contract";

import { createService } from "./service.ts";

/** Serves three states per response; the account gets one more state after the first response. */
function createChainHttp(
  stateRev: number,
  tamper: (revs: number[]) => number[] = (revs) => revs,
): { readonly http: HttpClient; readonly requestedSince: number[] } {
  const requestedSince: number[] = [];
  const request = (
    _method: string,
    _path: string,
    _schema: unknown,
    { query }: { query: { states_since: number } },
  ): Promise<unknown> => {
    requestedSince.push(query.states_since);
    const revs = Array.from({ length: stateRev }, (_, index) => index + 1).filter((rev) => rev > query.states_since);
    return Promise.resolve({
      state_rev: requestedSince.length === 1 ? stateRev : stateRev + 1,
      states: tamper(revs.slice(0, 3)).map((rev) => ({ state_rev: rev, state: String(rev) })),
    });
  };
  return { http: { request } as unknown as HttpClient, requestedSince };
}

/** Serves two versions a page; the state changes after `changesAfter` pages. */
function createVersionsHttp(changesAfter = Number.POSITIVE_INFINITY): {
  readonly http: HttpClient;
  readonly calls: string[];
} {
  const calls: string[] = [];
  const request = (
    method: string,
    path: string,
    _schema: unknown,
    { query = {} }: { query?: { cursor?: string } },
  ): Promise<unknown> => {
    const newest = calls.filter((call) => call.startsWith("GET")).length < changesAfter ? 5 : 6;
    calls.push(`${method} ${path}${query.cursor === undefined ? "" : `?${query.cursor}`}`);
    const start = Number(query.cursor ?? newest + 1) - 1;
    const versions = [start, start - 1].filter((version) => version > 0).map((version) => ({ version }));
    const nextCursor = start > 2 ? String(start - 1) : null;
    return Promise.resolve({ version: newest, versions, next_cursor: nextCursor, state_rev: newest });
  };
  return { http: { request } as unknown as HttpClient, calls };
}

describe("the versions of a secret", () => {
  const path = "/secrets/store/s/versions";
  const readNumbers = (versions: readonly { version: number }[]): number[] => versions.map(({ version }) => version);

  it("are read to the last page", async () => {
    const { http, calls } = createVersionsHttp();
    expect(readNumbers(await createService(http).getVersions("s"))).toEqual([5, 4, 3, 2, 1]);
    expect(calls).toEqual([`GET ${path}`, `GET ${path}?4`, `GET ${path}?2`]);
  });

  it("are read again when the state changed between two pages", async () => {
    const { http, calls } = createVersionsHttp(1);
    expect(readNumbers(await createService(http).getVersions("s"))).toEqual([6, 5, 4, 3, 2, 1]);
    expect(calls).toEqual([`GET ${path}`, `GET ${path}?4`, `GET ${path}`, `GET ${path}?5`, `GET ${path}?3`]);
  });

  it("come whole with a content that has their first page only", async () => {
    const { http, calls } = createVersionsHttp();
    const content = await createService(http).getSecret("s", null);
    expect(readNumbers(content.versions)).toEqual([5, 4, 3, 2, 1]);
    expect(content).not.toHaveProperty("next_cursor");
    expect(calls).toEqual(["POST /secrets/store/get-secret", `GET ${path}`, `GET ${path}?4`, `GET ${path}?2`]);
  });
});

describe("getKeyring", () => {
  const readRevs = async (http: HttpClient, since: number): Promise<number[] | undefined> =>
    (await createService(http).getKeyring(since))?.states?.map(({ state_rev: rev }) => rev);

  it("fetches the chain of states up to the state of the first response", async () => {
    const { http, requestedSince } = createChainHttp(8);
    expect(await readRevs(http, 1)).toEqual([2, 3, 4, 5, 6, 7, 8]);
    expect(requestedSince).toEqual([1, 4, 7]);
  });

  it("fetches once if there is no newer state", async () => {
    const { http, requestedSince } = createChainHttp(8);
    expect(await readRevs(http, 8)).toEqual([]);
    expect(requestedSince).toEqual([8]);
  });

  it("stops if the service sends no further state", async () => {
    const { http, requestedSince } = createChainHttp(8, () => [2, 3]);
    expect(await readRevs(http, 1)).toEqual([2, 3]);
    expect(requestedSince).toEqual([1, 3]);
  });
});

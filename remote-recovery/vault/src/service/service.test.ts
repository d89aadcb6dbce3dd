import type { HttpClient } from "@relicario/shared/contract";

import { createService } from "./service.ts";

/** Gives of so many states three at a time, and a further state after the first answer. */
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

describe("the chain of states", () => {
  const readRevs = async (http: HttpClient, since: number): Promise<number[] | undefined> =>
    (await createService(http).getKeyring(since))?.states?.map(({ state_rev: rev }) => rev);

  it("is asked for until it reaches the state that was given first", async () => {
    const { http, requestedSince } = createChainHttp(8);
    expect(await readRevs(http, 1)).toEqual([2, 3, 4, 5, 6, 7, 8]);
    expect(requestedSince).toEqual([1, 4, 7]);
  });

  it("is asked for once where nothing was missed", async () => {
    const { http, requestedSince } = createChainHttp(8);
    expect(await readRevs(http, 8)).toEqual([]);
    expect(requestedSince).toEqual([8]);
  });

  it("ends where the service gives what it gave before", async () => {
    const { http, requestedSince } = createChainHttp(8, () => [2, 3]);
    expect(await readRevs(http, 1)).toEqual([2, 3]);
    expect(requestedSince).toEqual([1, 3]);
  });
});

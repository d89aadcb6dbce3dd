import type { Http } from "@relicario/shared/contract";

import { serviceOn } from "./service.ts";

/** Gives of so many states three at a time, and a further state after the first answer. */
function stating(
  stateRev: number,
  tamper: (revs: number[]) => number[] = (revs) => revs,
): { readonly http: Http; readonly asked: number[] } {
  const asked: number[] = [];
  const request = (
    _method: string,
    _path: string,
    _schema: unknown,
    { query }: { query: { states_since: number } },
  ): Promise<unknown> => {
    asked.push(query.states_since);
    const revs = Array.from({ length: stateRev }, (_, index) => index + 1).filter((rev) => rev > query.states_since);
    return Promise.resolve({
      state_rev: asked.length === 1 ? stateRev : stateRev + 1,
      states: tamper(revs.slice(0, 3)).map((rev) => ({ state_rev: rev, state: String(rev) })),
    });
  };
  return { http: { request } as unknown as Http, asked };
}

describe("the chain of states", () => {
  const revsOf = async (http: Http, since: number): Promise<number[] | undefined> =>
    (await serviceOn(http).keyring(since))?.states?.map(({ state_rev: rev }) => rev);

  it("is asked for until it reaches the state that was given first", async () => {
    const { http, asked } = stating(8);
    expect(await revsOf(http, 1)).toEqual([2, 3, 4, 5, 6, 7, 8]);
    expect(asked).toEqual([1, 4, 7]);
  });

  it("is asked for once where nothing was missed", async () => {
    const { http, asked } = stating(8);
    expect(await revsOf(http, 8)).toEqual([]);
    expect(asked).toEqual([8]);
  });

  it("ends where the service gives what it gave before", async () => {
    const { http, asked } = stating(8, () => [2, 3]);
    expect(await revsOf(http, 1)).toEqual([2, 3]);
    expect(asked).toEqual([1, 3]);
  });
});

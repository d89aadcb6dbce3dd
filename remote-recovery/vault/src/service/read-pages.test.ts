import { readPages } from "./read-pages.ts";

/** Creates a list of pages whose state changes before the given reads. */
function createList(pages: readonly (readonly string[])[], changesBefore: readonly number[] = []) {
  const cursors: (string | undefined)[] = [];
  let stateRev = 7;
  const readPage = async (cursor: string | undefined) => {
    if (changesBefore.includes(cursors.length)) stateRev += 1;
    cursors.push(cursor);
    const index = Number(cursor ?? 0);
    return { rows: pages[index] ?? [], nextCursor: index + 1 < pages.length ? String(index + 1) : null, stateRev };
  };
  return { readPage, cursors };
}

describe("readPages", () => {
  it("returns the rows of all pages in order", async () => {
    const list = createList([["a", "b"], ["c"], []]);
    await expect(readPages(list.readPage)).resolves.toEqual(["a", "b", "c"]);
    expect(list.cursors).toEqual([undefined, "1", "2"]);
  });

  it("starts again if the state changes between two pages", async () => {
    const list = createList([["a"], ["b"], ["c"]], [2]);
    await expect(readPages(list.readPage)).resolves.toEqual(["a", "b", "c"]);
    expect(list.cursors).toEqual([undefined, "1", "2", undefined, "1", "2"]);
  });

  it.each([[[]], [["b"]]])("refuses pages that never end: %j", async (rows) => {
    let reads = 0;
    const readPage = () => Promise.resolve({ rows: reads++ === 0 ? ["a"] : rows, nextCursor: "1", stateRev: 7 });
    await expect(readPages<string>(readPage)).rejects.toMatchObject({ code: "list_mismatch" });
    expect(reads).toBe(2);
  });

  it("throws state_conflict if the state changes every time", async () => {
    const list = createList(
      [["a"], ["b"]],
      Array.from({ length: 100 }, (_, read) => read),
    );
    await expect(readPages(list.readPage)).rejects.toMatchObject({ code: "state_conflict" });
    expect(list.cursors).toHaveLength(10);
  });
});

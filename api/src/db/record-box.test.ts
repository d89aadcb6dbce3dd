import { randomBytes, randomUUID } from "node:crypto";

import { createRecordBox } from "./record-box.ts";

const [first, second, third] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const [account, record] = [randomUUID(), randomUUID()];
const helper = randomBytes(454);

describe("createRecordBox", () => {
  it("seals with the first of its keys, and opens with any", () => {
    const sealed = createRecordBox([first]).seal(account, record, helper);
    expect(createRecordBox([second, third, first]).open(account, record, sealed)).toEqual(helper);
    expect(() => createRecordBox([second, third]).open(account, record, sealed)).toThrow("no key opens");
    expect(() => createRecordBox([second, first]).open(account, randomUUID(), sealed)).toThrow("no key opens");
    const resealed = createRecordBox([second, first]).seal(account, record, helper);
    expect(createRecordBox([second]).open(account, record, resealed)).toEqual(helper);
  });

  it("reseals what an earlier key sealed, and nothing else", () => {
    const sealed = createRecordBox([first]).seal(account, record, helper);
    const rotatedBox = createRecordBox([second, third, first]);
    const resealed = rotatedBox.reseal(account, record, sealed);
    expect(resealed && createRecordBox([second]).open(account, record, resealed)).toEqual(helper);
    expect(rotatedBox.reseal(account, record, resealed ?? Buffer.of())).toBeNull();
    expect(() => createRecordBox([second]).reseal(account, record, sealed)).toThrow("no key opens");
  });
});

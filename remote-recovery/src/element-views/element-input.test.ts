import type { ElementState, HeldInput } from "@relicario/vault/element";
import { createHeldOpeners } from "@relicario/vault/held-openers";

import { createInputReporter, emptyInput, type ElementInput } from "./element-input.ts";

const typed = (passphrase: string): ElementInput => ({
  ...emptyInput,
  input: { opener: { kind: "new_passphrase", passphrase }, draft: passphrase },
  ready: true,
  kind: "new_passphrase",
  problem: null,
});
const incomplete: ElementInput = { ...emptyInput, input: { opener: null, draft: "begun" }, problem: "image_unsaved" };

function createReporter() {
  const held = createHeldOpeners(() => undefined);
  const told: ElementState[] = [];
  const released: string[] = [];
  let settledCount = 0;
  const reporter = createInputReporter({
    vault: {
      hold: (input: HeldInput, id?: string) => Promise.resolve(held.hold(input, id)),
      release: (id) => {
        released.push(id);
        held.release(id);
      },
    },
    onChange: (state) => told.push(state),
    onSettled: () => (settledCount += 1),
  });
  const report = async (input: ElementInput): Promise<string | null> => {
    reporter.report(input);
    await reporter.settle();
    return told.at(-1)?.heldId ?? null;
  };
  return { held, told, released, reporter, report, getSettledCount: () => settledCount };
}

describe("createInputReporter", () => {
  it("tells the page once while a passphrase is typed, and holds its last letters", async () => {
    const { held, told, report, getSettledCount } = createReporter();
    const id = await report(typed("f"));
    for (const passphrase of ["fo", "fou", "four"]) expect(await report(typed(passphrase))).toBe(id);
    expect(told).toHaveLength(1);
    expect(getSettledCount()).toBe(4);
    expect(held.getDraft(String(id))).toBe("four");
  });

  it("tells only the last of inputs that follow each other quickly", async () => {
    const { held, told, reporter } = createReporter();
    for (const passphrase of ["f", "fo", "fou"]) reporter.report(typed(passphrase));
    await reporter.settle();
    expect(told).toHaveLength(1);
    expect(held.getDraft(String(told[0]?.heldId))).toBe("fou");
  });

  it("tells each changed state, and gives the next input another id", async () => {
    const { told, released, report } = createReporter();
    const first = await report(typed("four"));
    expect(await report(emptyInput)).toBeNull();
    const second = await report(typed("five"));
    expect(told.map(({ ready }) => ready)).toEqual([true, false, true]);
    expect(second).not.toBe(first);
    expect(released).toEqual([]); // complete ones belong to the page
  });

  it("releases an incomplete input that ends, and one that ends before the page hears of it", async () => {
    const { held, released, reporter, report } = createReporter();
    const id = await report(incomplete);
    await report(emptyInput);
    reporter.report(typed("four"));
    await report(emptyInput);
    expect(released).toHaveLength(2);
    expect(released[0]).toBe(id);
    for (const releasedId of released) expect(held.getDraft(releasedId)).toBeNull();
  });

  it("keeps the id of an input that becomes complete", async () => {
    const { report } = createReporter();
    const id = await report(incomplete);
    expect(await report(typed("four"))).toBe(id);
  });

  it("tells that nothing is held after a release, and everything after it", async () => {
    const { held, told, reporter, report } = createReporter();
    const id = await report(typed("four"));
    expect(reporter.isHeldAs(String(id))).toBe(true);
    reporter.clear();
    expect(reporter.isHeldAs(String(id))).toBe(false);
    expect(held.getDraft(String(id))).toBeNull();
    expect(told.at(-1)).toMatchObject({ heldId: null, ready: false });
    expect(await report(typed("four"))).not.toBe(id);
    expect(told).toHaveLength(3);
  });
});

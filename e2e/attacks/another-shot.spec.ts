/**
 * Somebody was at the same place and took the same scene: the picture of a stranger, or of the
 * person on another day.
 */
import { readFile } from "node:fs/promises";

import { expect, test } from "@playwright/test";
import { loadEngineInNode } from "@relicario/engine/node";

import { anotherShot, held, type Moved } from "../support/another-shot.ts";
import { photographs } from "../support/photographs.ts";

const still: Moved = { aside: 0, yaw: 0, pitch: 0, roll: 0 };

for (const name of ["small", "friends", "sunset"] as const) {
  test(`wants in with another shot of the scene of “${name}”: is refused, where the same camera in the same place is not`, async () => {
    const engine = await loadEngineInNode();
    const file = photographs[name];
    const { sketch } = await engine.enrol(new Uint8Array(await readFile(file)), []);
    const outcomeOf = async (moved: Moved): Promise<string> =>
      (await engine.recover(new Uint8Array((await anotherShot(file, moved)).buffer), [sketch])).outcome;

    for (const moved of [held, { ...still, aside: held.aside }, { ...still, yaw: 2 * held.yaw }])
      expect(await outcomeOf(moved)).toMatch(/^(not_this_picture|too_many_errors)$/);
    // other light, other noise, another file: the movement alone is what refuses
    expect(await outcomeOf(still)).toBe("recovered");
  });
}
